#!/usr/bin/env python3
"""Tests of the program `shortcut`.

    run_cli_tests.py SHORTCUT_BINARY [--update]

--update rewrites the golden outputs under tests/golden/ instead of comparing with them.
"""
import argparse
import csv
import difflib
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TESTS = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = TESTS / "golden"
MODEL_GOLDEN = TESTS / "data" / "model-golden.json"

PLAN = ["plan", "--collective", "allreduce", "--nodes", "32", "--bytes", "1MB"]
TOPOLOGY = ["topology", "--nodes", "16", "--ocs", "parity", "--plan", "--collective",
            "reduce_scatter", "--bytes", "32kB"]
GOLDEN_OUTPUTS = {
    "plan-allreduce.txt": PLAN,
    "plan-allreduce.json": PLAN + ["--json"],
    "plan-switching.txt": ["plan", "--collective", "reduce_scatter", "--nodes", "32", "--bytes",
                           "32kB", "--alpha-s", "0ns", "--alpha-p", "2us", "--delta", "100ns",
                           "--algorithm", "recursive_doubling", "--restore", "eager"],
    "topology.txt": TOPOLOGY + ["--delta", "100ns"],
    "topology.json": TOPOLOGY + ["--delta", "100ns", "--json"],
    "topology-torus.txt": ["topology", "--dims", "16x8", "--ocs", "parity",
                           "--rings-per-switch", "2", "--plan", "--collective", "allreduce",
                           "--bytes", "1MiB", "--delta", "1us", "--ports", "all"],
    "topology-odd.txt": ["topology", "--dims", "7x3", "--rings-per-switch", "1"],
    "topology-odd.json": ["topology", "--nodes", "7", "--json"],
    "sweep.csv": ["sweep", "--x", "bytes=1kB:100MB", "--y", "delta=100ns:10us", "--points", "4",
                  "--nodes", "32", "--csv", "-"],
    "plan-circulant.txt": ["plan", "--fabric", "circulant", "--collective", "allgather", "--nodes",
                           "64", "--bytes", "4MiB", "--alpha-p", "50ns"],
    "plan-circulant.json": ["plan", "--fabric", "circulant", "--collective", "broadcast", "--nodes",
                            "12", "--bytes", "1MB", "--json"],
    "plan-torus.txt": ["plan", "--collective", "allreduce", "--dims", "16x8", "--bytes", "1MiB",
                       "--ports", "all"],
    "plan-torus-lanes.json": ["plan", "--collective", "reduce_scatter", "--dims", "4x4", "--bytes",
                              "4MiB", "--ports", "all", "--delta", "300ns", "--json"],
    "info-map.txt": ["info", "--map", "axes:1,0", "--dims", "4x2"],
    "info-variables.txt": ["info", "--variables"],
    "info-algorithms.txt": ["info", "--algorithms"],
    "plan-both-ports.txt": ["plan", "--collective", "allgather", "--nodes", "12", "--bytes", "64MB",
                            "--ports", "all"],
    "plan-two-by-two.txt": ["plan", "--collective", "reduce_scatter", "--nodes", "12", "--bytes",
                            "16MB"],
    "plan-exact.txt": ["plan", "--collective", "allreduce", "--nodes", "16", "--bytes", "1kB",
                       "--operands", "exact"],
    "plan-in-order.json": ["plan", "--collective", "allreduce", "--nodes", "16", "--bytes", "1kB",
                           "--operands", "in-order", "--json"],
    # A page of the documentation, not under tests/golden/.
    "../../docs/algorithms.md": ["info", "--algorithms", "--markdown"],
}

UNITS = "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"


def changed(**options):
    """A good command line of `plan` with some options changed or added; None leaves one out."""
    values = {"collective": "allreduce", "nodes": "32", "bytes": "1MB", **options}
    return ["plan"] + [f"--{name.replace('_', '-')}={value}" for name, value in values.items()
                       if value is not None]


def swept(**options):
    """A good command line of `sweep`, changed as in `changed`."""
    values = {"x": "bytes=1kB:1MB", "y": "delta=100ns:10us", "points": "4", "nodes": "16",
              "csv": "-", **options}
    return ["sweep"] + [f"--{name.replace('_', '-')}={value}" for name, value in values.items()
                        if value is not None]


# Command line -> parts of the one line on stderr.
WRONG = [
    (changed(nodes="0"), ["--nodes", "'0'", "from 1 to 65536"]),
    (changed(nodes="65537"), ["--nodes", "'65537'", "from 1 to 65536"]),
    (changed(nodes="many"), ["--nodes", "'many'", "from 1 to 65536"]),
    (changed(nodes=None), ["--nodes is required"]),
    (changed(bytes=None), ["--bytes is required", UNITS]),
    (changed(collective=None), ["--collective is required", "allreduce, reduce_scatter, allgather"]),
    (changed(bytes="12"), ["--bytes", "'12'", UNITS]),
    (changed(bytes="1kb"), ["--bytes", "'1kb'", UNITS]),
    (changed(bytes="1.5B"), ["--bytes", "'1.5B'", "whole bytes"]),
    (changed(delta="fast"), ["--delta", "'fast'", "a time of at least 0", "ns, us"]),
    (["plan", "--collective", "allreduce", "--nodes", "8", "--bytes", "1kB", "--delta", "-5us"],
     ["--delta", "'-5us'", "a time of at least 0"]),
    (changed(alpha_s="5"), ["--alpha-s", "'5'", "ns, us"]),
    (changed(alpha_p="5 m"), ["--alpha-p", "'5 m'", "ns, us"]),
    (changed(bandwidth="0Gb/s"), ["--bandwidth", "'0Gb/s'", "above 0", "Gb/s"]),
    (changed(rule="bset"), ["--rule", "'bset'", "best or first-feasible", "did you mean 'best'?"]),
    (changed(accounting="exakt"), ["--accounting", "'exakt'", "did you mean 'exact'?"]),
    (changed(antipodal="x"), ["--antipodal", "'x'", "same_path or balanced"]),
    (changed(restore="never"), ["--restore", "'never'", "none, eager or lazy"]),
    (changed(hop_factor="3"), ["--hop-factor", "'3'", "1 or 2"]),
    (changed(min_gain="0"), ["--min-gain", "'0'", "above 0"]),
    (changed(threshold="6"), ["--threshold", "'6'", "from 0 to 5"]),
    (changed(threshold="-1"), ["--threshold", "'-1'", "an integer from 0 to log2 of the nodes"]),
    (changed() + ["--nodes", "8"], ["--nodes is given 2 times"]),
    (changed(delta="1us") + ["--delta=2us"], ["--delta is given 2 times"]),
    (changed(algorithm="rign"), ["--algorithm", "'rign'", "auto, ring, recursive_doubling",
                                 "did you mean 'ring'?"]),
    (changed(ports="2"), ["--ports", "'2'", "1 or all"]),
    (changed(algorithm="ring_both"), ["--algorithm", "'ring_both'", "--ports all"]),
    (changed(algorithm="neighbor_exchange", nodes="7"), ["'neighbor_exchange'", "even", "7 nodes"]),
    (changed(operands="exakt"), ["--operands", "'exakt'", "in-order, commutative, exact",
                                 "did you mean 'exact'?"]),
    (changed(algorithm="swing_full", nodes="8"), ["'swing_full'", "never rounds", "8 nodes"]),
    (changed(algorithm="ring", operands="in-order"), ["'ring'", "commutative operation"]),
    (changed(ports="all", algorithm="ring_both", nodes="2"), ["'ring_both'", "3 ranks or more"]),
    (changed(ports="all", fabric="circulant"), ["--ports", "'all'", "--fabric circulant"]),
    (changed(operands="exact", fabric="circulant"), ["--operands", "--fabric circulant"]),
    (["info", "--markdown"], ["--markdown", "--algorithms"]),
    (changed(algorithm="swing", nodes="12"), ["--algorithm", "'swing'", "power of two",
                                              "12 nodes"]),
    (changed(algorithm="recursive_doubling_full", collective="allgather"),
     ["--algorithm", "'recursive_doubling_full'", "collective", "allgather"]),
    (changed(collective="allreduse"), ["--collective", "'allreduse'", "did you mean 'allreduce'?"]),
    (changed(fabric="circulent"), ["--fabric", "'circulent'", "did you mean 'circulant'?"]),
    (changed(fabric="circulant", collective=None), ["--collective is required", "alltoall"]),
    (changed(fabric="circulant", collective="alltoal"), ["did you mean 'alltoall'?"]),
    (changed(fabric="circulant", nodes="0"), ["--nodes", "'0'", "from 1 to 65536"]),
    (changed(fabric="circulant", threshold="1"), ["--threshold", "'1'", "no meaning"]),
    (changed(fabric="circulant", delta="fast"), ["--delta", "'fast'", "ns, us"]),
    (changed(fabric="circulant", algorithm="brook"), ["--algorithm", "did you mean 'bruck'?"]),
    (changed(fabric="circulant", collective="alltoall", algorithm="hypercube", nodes="12"),
     ["--algorithm", "'hypercube'", "power of two", "12 nodes"]),
    (changed(fabric="circulant", collective="broadcast", nodes="4096"), ["--nodes", "'4096'"]),
    (changed(byte="1kB"), ["'--byte'", "did you mean '--bytes'?"]),
    (["plan", "--nodes"], ["--nodes"]),
    (["plam"], ["'plam'", "did you mean 'plan'?"]),
    (["info", "--variable"], ["'--variable'", "did you mean '--variables'?"]),
    ([], ["plan, topology, sweep, figures or info"]),
    (["topology"], ["--nodes or --dims is required"]),
    (["topology", "--nodes", "8", "--dims", "4x4"], ["only one of them"]),
    (["topology", "--nodes", "1"], ["--nodes", "'1'", "from 2 to 65536"]),
    (["topology", "--dims", "4x"], ["--dims", "'4x'"]),
    (["topology", "--dims", "9999x9999"], ["--dims", "'9999x9999'", "65536"]),
    (["topology", "--nodes", "8", "--ocs", "parityy"], ["--ocs", "'parityy'", "did you mean"]),
    (["topology", "--nodes", "7", "--ocs", "parity"], ["--ocs", "7"]),
    (["topology", "--dims", "8x4", "--rings-per-switch", "3"], ["--rings-per-switch", "3"]),
    (["topology", "--nodes", "8", "--plan"], ["--collective is required"]),
    (["topology", "--nodes", "8", "--plan", "--collective", "allgather"], ["--bytes is required"]),
    (["topology", "--dims", "8x4", "--plan", "--collective", "allgather", "--bytes", "1kB",
      "--accounting", "paper"], ["--accounting", "'paper'", "--dims"]),
    (["plan", "--collective", "allreduce", "--nodes", "8", "--bytes", "1kB", "--algorithm", "ring",
      "--threshold", "1"], ["--threshold", "'1'", "'ring'", "changes no circuits"]),
    (["topology", "--nodes", "2048", "--svg", "x.svg"], ["--svg", "2048", "1024 at most"]),
    (["topology", "--nodes", "8", "--dot", "/nowhere/x.dot"], ["--dot", "'/nowhere/x.dot'"]),
    (["topology", "--node", "8"], ["'--node'", "did you mean '--nodes'?"]),
    (swept(x=None), ["--x is required"]),
    (swept(y=None), ["--y is required"]),
    (swept(x="byte=1kB:1MB"), ["--x", "'byte'", "did you mean 'bytes'?"]),
    (swept(x="bytes=1kB"), ["--x", "bytes=LOW:HIGH"]),
    (swept(x="bytes=1kB:2"), ["--x", "'2'", UNITS]),
    (swept(x="bytes=1MB:1kB"), ["--x", "does not rise"]),
    (swept(y="delta=0ns:1us"), ["--y", "above 0"]),
    (swept(y="bytes=1kB:1MB"), ["--y", "on the other axis"]),
    (swept(x="nodes=5:7", nodes=None, bytes="1kB"), ["--x", "powers of two"]),
    (swept(points="1"), ["--points", "'1'", "from 2 to 200"]),
    (swept(nodes=None), ["--nodes is required"]),
    (swept(bytes="1kB"), ["--bytes", "an axis has it already"]),
    (swept(delta="1us"), ["--delta", "an axis has it already"]),
    (swept(x="nodes=4:8", nodes=None), ["--bytes is required"]),
    (swept(csv=None), ["--csv, --json, --png, --svg and --html"]),
    (swept(csv="/nowhere/x.csv"), ["--csv", "'/nowhere/x.csv'"]),
    (swept(algorithm="swing", nodes="12"), ["--algorithm", "'swing'"]),
    (["plan", "--collective", "allreduce", "--bytes", "1kB", "--dims", "4x"], ["--dims", "'4x'"]),
    (["plan", "--collective", "allreduce", "--bytes", "1kB", "--dims", "4x4", "--nodes", "12"],
     ["--nodes", "'12'", "16", "4x4"]),
    (["plan", "--collective", "allreduce", "--bytes", "1kB", "--dims", "400x400"],
     ["--dims", "'400x400'", "65536"]),
    (["plan", "--collective", "allreduce", "--bytes", "1kB", "--dims", "4x4", "--accounting",
      "paper"], ["--accounting", "'paper'", "--dims"]),
    (["plan", "--collective", "allreduce", "--bytes", "1kB", "--dims", "6x3", "--algorithm",
      "swing"], ["--algorithm", "'swing'", "power of two"]),
    (["plan", "--collective", "allreduce", "--bytes", "1kB", "--dims", "4x4", "--fabric",
      "circulant"], ["--dims", "--fabric circulant"]),
    (["info", "--map", "axes:0,0", "--dims", "4x4"], ["--map", "axes:0,0", "4x4", "0 to 1"]),
    (["info", "--map", "file:/", "--dims", "4x4"], ["--map", "cannot read '/'"]),
    (["plan", "--collective", "allreduce", "--bytes", "1kB", "--dims", "auto"],
     ["--dims", "'auto'", "16x8"]),
    (["plan", "--collective", "allreduce", "--bytes", "1kB", "--dims", "99999999999x2"],
     ["--dims", "'99999999999x2'", "2147483647"]),
    (["topology", "--dims", "3x4", "--ocs", "parity"], ["dimension 0 of 3x4"]),
    (["info", "--map", "file:/nowhere", "--dims", "4x4"], ["--map", "/nowhere"]),
    (["info", "--map", "sideways", "--dims", "4x4"], ["--map", "'sideways'", "axes:"]),
    (["info", "--map", "rank"], ["--map", "--dims"]),
    (["info", "--dims", "4x4"], ["--dims", "--map"]),
    (changed(bandwidth="1e-300Gb/s"), ["--bandwidth", "1 b/s"]),
    (changed(alpha_s="1e299s"), ["--alpha-s", "1e9 s"]),
    (changed(delta="1e299s"), ["--delta", "1e9 s"]),
    (["figures"], ["DIR is required"]),
    (["figures", "/dev/null/x"], ["DIR", "'/dev/null/x'"]),
]

failures = []
checks = 0


def check(good, message):
    global checks
    checks += 1
    if not good:
        failures.append(message)


def close(left, right):
    return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


def run(binary, arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SHORTCUT_")}
    return subprocess.run([binary, *arguments], capture_output=True, encoding="utf-8",
                          env={**environment, **variables}, timeout=60, check=False)


def plan(binary, **options):
    result = run(binary, changed(**options) + ["--json"])
    if result.returncode != 0 or result.stderr:
        raise RuntimeError(f"plan {options}: exit code {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def golden_outputs(binary, update):
    for name, arguments in GOLDEN_OUTPUTS.items():
        result = run(binary, arguments)
        check(result.returncode == 0 and not result.stderr, f"{name}: {result.stderr}")
        path = GOLDEN / name
        if update:
            GOLDEN.mkdir(exist_ok=True)
            path.write_text(result.stdout, encoding="utf-8")
            continue
        wanted = path.read_text(encoding="utf-8") if path.exists() else ""
        difference = difflib.unified_diff(wanted.splitlines(), result.stdout.splitlines(),
                                          f"golden/{name}", "output", lineterm="")
        check(wanted == result.stdout, f"{name} (--update rewrites it):\n" + "\n".join(difference))


def model_golden(binary):
    if not MODEL_GOLDEN.exists():
        check(False, f"{MODEL_GOLDEN.relative_to(TESTS)} is missing")
        return
    rows = json.loads(MODEL_GOLDEN.read_text(encoding="utf-8"))["threshold"]
    check(len(rows) > 0, "no rows in model-golden.json")
    for number, row in enumerate(rows):
        options = {
            "collective": "reduce_scatter", "nodes": row["nodes"], "bytes": f"{row['bytes']}B",
            "alpha_s": f"{row['alpha_s_ns']}ns", "alpha_p": f"{row['alpha_p_ns']}ns",
            "delta": f"{row['delta_ns']}ns", "hop_factor": row["hop_factor"],
            "bandwidth": "800Gb/s", "accounting": "paper", "algorithm": "recursive_doubling"}
        best = plan(binary, **options, rule="best")
        where = f"model-golden threshold[{number}]"
        check(close(best["ring_ns"], row["ring_ns"]), f"{where}: ring_ns {best['ring_ns']}")
        prices = {c["threshold"]: c["predicted_ns"] for c in best["candidates"]
                  if c["algorithm"] == "recursive_doubling"}
        check(sorted(prices) == list(range(len(row["threshold_ns"]))), f"{where}: {prices}")
        for threshold, wanted in enumerate(row["threshold_ns"]):
            check(close(prices.get(threshold, math.nan), wanted),
                  f"{where}: T={threshold} is {prices.get(threshold)}, not {wanted}")
        check(best["threshold"] == row["argmin_T"],
              f"{where}: best T={best['threshold']}, not {row['argmin_T']}")
        check(math.isclose(best["speedup_vs_ring"], row["speedup_argmin"], rel_tol=1e-4),
              f"{where}: speedup {best['speedup_vs_ring']}")
        first = plan(binary, **options, rule="first-feasible")
        check(first["threshold"] == row["first_feasible_T"],
              f"{where}: first feasible T={first['threshold']}, not {row['first_feasible_T']}")


def plans_add_up(binary):
    """The steps of a plan cost what the plan is predicted to, and no candidate beats it."""
    for collective in ["allreduce", "reduce_scatter", "allgather"]:
        for nodes in [2, 3, 12, 32, 64]:
            for size in ["0B", "32kB", "64MiB"]:
                for extra in [{}, {"restore": "eager", "delta": "100ns"},
                              {"accounting": "paper", "delta": "1us"},
                              {"antipodal": "balanced", "hop_factor": 2, "delta": "0ns"},
                              {"algorithm": "recursive_doubling", "threshold": 0},
                              {"ports": "all"}]:
                    options = {"collective": collective, "nodes": nodes, "bytes": size, **extra}
                    got = plan(binary, **options)
                    total = sum(s["cost_ns"] for s in got["steps"]) + got["restore_ns"]
                    check(close(total, got["predicted_ns"]), f"{options}: steps cost {total}, "
                          f"predicted {got['predicted_ns']}")
                    switched = sum(s["reconfigured"] for s in got["steps"])
                    switched += got["restore_ns"] > 0 or (extra.get("delta") == "0ns" and
                                                          extra.get("restore") == "eager")
                    check(switched == got["reconfigurations"],
                          f"{options}: {switched} switched of {got['reconfigurations']}")
                    check(("threshold_gather" in got) == (collective == "allreduce"),
                          f"{options}: threshold_gather")
                    check([s["index"] for s in got["steps"]] == list(range(len(got["steps"]))),
                          f"{options}: indices of steps")
                    if "algorithm" not in extra:
                        least = min(c["predicted_ns"] for c in got["candidates"])
                        check(close(least, got["predicted_ns"]), f"{options}: not the cheapest")


def torus_plans_add_up(binary):
    """A phase lasts as long as its slowest lane; no other way is cheaper."""
    for collective in ["allreduce", "reduce_scatter", "allgather"]:
        for dims in ["4x4", "6x4", "3x3x3", "2x2x2x2", "16x8"]:
            for size in ["1kB", "4MiB"]:
                for extra in [{}, {"ports": "all"}, {"ports": "all", "delta": "300ns"},
                              {"delta": "100ns", "restore": "eager"}]:
                    options = {"collective": collective, "bytes": size, "dims": dims,
                               "nodes": math.prod(int(d) for d in dims.split("x")), **extra}
                    got = plan(binary, **options)
                    lanes = {}
                    for step in got["steps"]:
                        key = (step["phase"], step["lane"])
                        lanes[key] = lanes.get(key, 0) + step["cost_ns"]
                    phases = {}
                    for (phase, _), cost in lanes.items():
                        phases[phase] = max(phases.get(phase, 0), cost)
                    total = sum(phases.values()) + got["restore_ns"]
                    check(close(total, got["predicted_ns"]), f"{options}: phases cost {total}, "
                          f"predicted {got['predicted_ns']}")
                    own = [c["predicted_ns"] for c in got["candidates"]
                           if c["plan"].startswith("torus")]
                    check(close(min(own), got["predicted_ns"]), f"{options}: not the cheapest")
    got = plan(binary, collective="allreduce", bytes="1MiB", dims="16x8", nodes=128, ports="all")
    ring = next(c for c in got["candidates"] if c["plan"].startswith("one ring of 128"))
    alone = plan(binary, collective="allreduce", bytes="1MiB", nodes=128)
    check(close(ring["predicted_ns"], alone["predicted_ns"]), "one ring of 128 is that ring's plan")
    check(ring["predicted_ns"] > 2 * got["predicted_ns"], "16x8 with all ports beats one ring")
    print(f"16x8, all ports, 1 MiB AllReduce: {ring['predicted_ns'] / got['predicted_ns']:.2f} "
          "times as fast as one port on one ring of 128")


def circulant_plans(binary):
    """Published prices (docs/harvest.md), and plans that add up and are the cheapest."""
    for collective, size, link, delta, wanted, count, relative in [
            ("allgather", "4MiB", "50ns", "10ns", 44638, 5, 3e-5),
            ("allgather", "4MiB", "50ns", "1us", 49293, 4, 3e-5),
            ("allgather", "4MiB", "50ns", "10us", 73357.95, 2, 1e-5),
            ("allreduce", "16KiB", "500ns", "1us", 19430.084, 4, 1e-4),
            ("allreduce", "1MiB", "500ns", "10us", 75393.634, 2, 1e-4),
            ("allreduce", "4MiB", "500ns", "10us", 156615.557, 4, 1e-4)]:
        got = plan(binary, fabric="circulant", collective=collective, nodes=64, bytes=size,
                   alpha_s="500ns", alpha_p=link, bandwidth="800Gb/s", delta=delta)
        optimal = [c for c in got["candidates"]
                   if c["algorithm"] == "cyclic" and c["form"] == "optimal"][0]
        check(math.isclose(optimal["predicted_ns"], wanted, rel_tol=relative),
              f"circulant {collective} {size} {delta}: {optimal}")
        check(optimal["reconfigurations"] == count, f"circulant {collective} {size}: {optimal}")
    for collective in ["allreduce", "reduce_scatter", "allgather", "alltoall", "broadcast"]:
        for nodes in [2, 3, 12, 32]:
            for delta in ["0ns", "1us", "1ms"]:
                options = {"fabric": "circulant", "collective": collective, "nodes": nodes,
                           "delta": delta}
                got = plan(binary, **options)
                check(close(sum(s["cost_ns"] for s in got["steps"]), got["predicted_ns"]),
                      f"{options}: steps do not add up")
                check(sum(s["reconfigured"] for s in got["steps"]) == got["reconfigurations"],
                      f"{options}: reconfigurations")
                check(close(min(c["predicted_ns"] for c in got["candidates"]),
                            got["predicted_ns"]), f"{options}: not the cheapest")
    check(plan(binary, fabric="circulant", nodes=1)["steps"] == [], "circulant: one node")
    forced = plan(binary, fabric="circulant", algorithm="bruck")
    check(forced["algorithm"] == "bruck" and "asked for" in forced["reason"],
          f"circulant: forced algorithm: {forced['reason']}")
    kept = plan(binary, fabric="circulant", min_gain="100")
    check(kept["algorithm"] == "ring" and "min_gain 100" in kept["reason"],
          f"circulant: min_gain keeps ring: {kept['reason']}")


def special_cases(binary):
    ring = plan(binary, algorithm="ring")
    check(ring["threshold"] is None and ring["threshold_gather"] is None, "ring has a threshold")
    check(len(ring["steps"]) == 62 and close(ring["predicted_ns"], ring["ring_ns"]), "ring's steps")
    alone = plan(binary, nodes=1)
    check(alone["steps"] == [] and alone["predicted_ns"] == 0, "a plan for one node")
    text = run(binary, changed(nodes=1))
    check(text.returncode == 0 and "nothing to plan" in text.stdout, "one node in words")
    largest = run(binary, changed(nodes=65536))
    check(largest.returncode == 0, "65536 nodes")
    check(ring["reason"].startswith("ring: asked for; "), f"forced ring: {ring['reason']}")
    huge = run(binary, changed(delta="1e9s", bandwidth="0.001kb/s")).stdout
    check("1e+09 s" in huge and "000000000" not in huge, f"huge times: {huge}")
    forced = plan(binary, algorithm="swing")
    check("swing static: asked for; " in forced["reason"], f"forced swing: {forced['reason']}")
    check({c["algorithm"] for c in forced["candidates"]} == {"swing", "ring"}, "forced: candidates")

    for arguments in [["--help"], ["plan", "--help"], ["info", "--help"], ["--version"], ["info"]]:
        result = run(binary, arguments)
        check(result.returncode == 0 and result.stdout.startswith(("shortcut", "Plan", "Show"))
              and not result.stderr, f"{arguments}: {result.returncode} {result.stderr}")
    helped = run(binary, ["plan", "--help"]).stdout
    for option in ["--alpha-s", "--bandwidth", "--min-gain", "--json", "10us", "800Gb/s"]:
        check(option in helped, f"plan --help lacks {option}")


def effective_config(binary):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "settings.toml"
        file.write_text('delta = "3us"\n', encoding="utf-8")
        result = run(binary, ["info", "--config"], SHORTCUT_CONFIG=str(file),
                     SHORTCUT_ALPHA_S="7ns", SHORTCUT_DELTAA="1us")
        lines = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line}
        check(lines.get("delta") == ["3us", "file"], f"info --config: delta {lines.get('delta')}")
        check(lines.get("alpha_s") == ["7ns", "environment"], "info --config: alpha_s")
        check(lines.get("alpha_p") == ["500ns", "default"], "info --config: alpha_p")
        check("SHORTCUT_DELTAA" in result.stdout and "warning:" in result.stdout,
              "info --config: warning")
        file.write_text('delta = "3us"\nalgorithm = "fancy"\n', encoding="utf-8")
        result = run(binary, ["info", "--config"], SHORTCUT_CONFIG=str(file))
        check(f"warning: {file}:2: algorithm: 'fancy' is not auto, ring" in result.stdout
              and "using the default auto" in result.stdout, "info --config: unknown algorithm")
        result = run(binary, ["info", "--config"], SHORTCUT_CONFIG=folder)
        check("is a directory" in result.stdout, "info --config: a directory")
        # Settings of a program that runs do not leak into a plan.
        check(run(binary, PLAN, SHORTCUT_DELTA="1s").stdout == run(binary, PLAN).stdout,
              "the environment changes a plan")


def topology_drawings(binary, update):
    with tempfile.TemporaryDirectory() as folder:
        dot, svg = (pathlib.Path(folder) / name for name in ["t.dot", "t.svg"])
        result = run(binary, ["topology", "--nodes", "8", "--dot", str(dot), "--svg", str(svg)])
        check(result.returncode == 0 and not result.stderr, f"topology: {result.stderr}")
        golden = GOLDEN / "topology.dot"
        if update:
            golden.write_text(dot.read_text(encoding="utf-8"), encoding="utf-8")
        check(dot.read_text(encoding="utf-8") == golden.read_text(encoding="utf-8"), "topology.dot")
        root = xml.etree.ElementTree.parse(svg).getroot()
        texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        for label in ["fixed link", "switched link", "ring", "peer:2", "swing:1", "reflected"]:
            check(label in texts, f"topology's SVG lacks {label}")
        states = 8
        check(texts.count("7") == states, "every endpoint is labelled in every state")

    # Which states fit: Swing pairs even with odd always, recursive doubling never from bit 1 on.
    for nodes in [4, 16, 64]:
        text = run(binary, ["topology", "--nodes", str(nodes), "--ocs", "parity", "--json"]).stdout
        got = json.loads(text)
        check([(d["switches"], d["radix"]) for d in got["dimensions"]] == [(2, nodes // 2)],
              f"{nodes}: switches")
        for state in got["rings"][0]["states"]:
            name = state["state"]
            fits = name == "reflected" or (name.startswith("peer:") and name != "peer:0")
            check(state["fits_parity"] == fits, f"{nodes}: {name} on parity switches")
            check(len(state["switched"]) == nodes // 2, f"{nodes}: {name} is no perfect matching")
        orders = {o["ring"]: o for o in got["rings"][0]["orders"]}
        plain = [(s["hops"], s["congestion"]) for s in orders["plain"]["steps"]]
        check(plain == [(2 ** i, 2 ** i) for i in range(len(plain))], f"{nodes}: {plain}")
        check(orders["reflected"]["fits_parity"] and not orders["plain"]["fits_parity"], "orders")


def sweeps(binary):
    """Every cell of a sweep is what `plan` says."""
    text = run(binary, swept(collective="reduce_scatter", planner="threshold")).stdout
    rows = list(csv.DictReader(text.splitlines()))
    check(len(rows) == 16, f"{len(rows)} cells")
    for row in rows:
        got = plan(binary, collective="reduce_scatter", planner="threshold", nodes=16,
                   bytes=row["bytes"] + "B", delta=row["delta_ns"] + "ns")
        check(row["algorithm"] == got["algorithm"], f"sweep {row}: {got['algorithm']}")
        check(math.isclose(float(row["predicted_ns"]), got["predicted_ns"], rel_tol=1e-6),
              f"sweep {row}: {got['predicted_ns']}")
        check(math.isclose(float(row["ring_ns"]), got["ring_ns"], rel_tol=1e-6), f"sweep {row}")
    with tempfile.TemporaryDirectory() as folder:
        page, data, png = (pathlib.Path(folder) / name for name in ["s.html", "s.json", "s.png"])
        result = run(binary, swept(csv=None, x="nodes=4:64", nodes=None, bytes="32kB",
                                   html=page, json=data))
        check(result.returncode == 0 and not result.stderr, f"sweep: {result.stderr}")
        check("speed-up over Ring" in result.stdout, "a sweep's summary")
        html = page.read_text(encoding="utf-8")
        check("//" not in html.replace("http://www.w3.org/2000/svg", ""), "the page needs a network")
        cells = json.loads(data.read_text(encoding="utf-8"))["cells"]
        check(len(cells) == 20 and {c["nodes"] for c in cells} == {4, 8, 16, 32, 64}, "nodes swept")
        without = run(binary, swept(csv=None, png=png), PATH="/nowhere")
        check(without.returncode == 2 and "gnuplot-nox" in without.stderr, "no gnuplot")
        if shutil.which("gnuplot"):
            result = run(binary, swept(csv=None, png=png))
            check(result.returncode == 0 and png.read_bytes()[:4] == b"\x89PNG", "sweep --png")


def figures(binary):
    """The numbers of the papers, in the files that the pictures are drawn from."""
    if not shutil.which("gnuplot"):
        print("figures not tested: no gnuplot")
        return
    with tempfile.TemporaryDirectory() as folder:
        result = run(binary, ["figures", folder])
        check(result.returncode == 0 and not result.stderr, f"figures: {result.stderr}")

        def rows(name, **wanted):
            with open(pathlib.Path(folder) / f"{name}.csv", encoding="utf-8") as file:
                return [row for row in csv.DictReader(file)
                        if all(row[key] == value for key, value in wanted.items())]

        def speedup(name, panel, alpha_p, delta, alpha_s="0"):
            return float(rows(name, panel=panel, planner="threshold", alpha_p_ns=alpha_p,
                              delta_ns=delta, alpha_s_ns=alpha_s)[0]["speedup"])

        for got, wanted in [(speedup("fig5", "32 kB", "2000", "100"), 6.00),
                            (speedup("fig5", "1 MB", "2000", "100"), 4.44),
                            (speedup("fig6", "n128-100ns", "2000", "100", "2000"), 14.70)]:
            check(abs(got - wanted) < 0.005, f"figures: {got}, published {wanted}")
        for name, wanted in [("Harvest, 10 ns", 44638), ("Harvest, 1 us", 49293),
                             ("Harvest, 10 us", 73358), ("Ring", 75938),
                             ("RD, static ring", 131979)]:
            got = float(rows("harvest", plan=name)[0]["model_ns"])
            check(abs(got - wanted) <= 1, f"figures: {name}: {got}, published {wanted}")
        for name in ["fig3", "fig4", "fig5", "fig6"]:
            best = {}
            for row in rows(name):
                case = tuple(row[k] for k in ["collective", "nodes", "bytes", "alpha_s_ns",
                                              "alpha_p_ns", "delta_ns"])
                best.setdefault(case, {}).setdefault(row["planner"], []).append(float(row["ns"]))
            for case, times in best.items():
                if len(times) == 2:
                    check(min(times["optimal"]) <= min(times["threshold"]) * (1 + 1e-9),
                          f"{name}: optimal is dearer in {case}")
            page = (pathlib.Path(folder) / "index.html").read_text(encoding="utf-8")
            for file in [f"{name}.svg", f"{name}-optimal.svg"]:
                check(file in page, f"index.html lacks {file}")
                xml.etree.ElementTree.parse(pathlib.Path(folder) / file)


def wrong_values(binary):
    for arguments, parts in WRONG:
        result = run(binary, arguments)
        said = " ".join(arguments) + f": exit code {result.returncode}: {result.stderr!r}"
        check(result.returncode == 2, said)
        check(result.stdout == "", f"{said}: stdout {result.stdout!r}")
        check(result.stderr.count("\n") == 1 and result.stderr.endswith("\n"), f"{said}: one line")
        check(result.stderr.startswith("shortcut"), said)
        for part in parts:
            check(part in result.stderr, f"{said}: lacks {part!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    golden_outputs(arguments.binary, arguments.update)
    model_golden(arguments.binary)
    torus_plans_add_up(arguments.binary)
    plans_add_up(arguments.binary)
    circulant_plans(arguments.binary)
    special_cases(arguments.binary)
    effective_config(arguments.binary)
    topology_drawings(arguments.binary, arguments.update)
    sweeps(arguments.binary)
    figures(arguments.binary)
    wrong_values(arguments.binary)
    for failure in failures:
        print("FAILED", failure)
    print(f"{checks} checks, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
