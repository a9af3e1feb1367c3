#!/usr/bin/env python3
"""Tests of the program `shortcut`.

    run_cli_tests.py SHORTCUT_BINARY [--update]

--update rewrites the golden outputs under tests/golden/ instead of comparing with them.
"""
import argparse
import difflib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = TESTS / "golden"
MODEL_GOLDEN = TESTS / "data" / "model-golden.json"

PLAN = ["plan", "--collective", "allreduce", "--nodes", "32", "--bytes", "1MB"]
GOLDEN_OUTPUTS = {
    "plan-allreduce.txt": PLAN,
    "plan-allreduce.json": PLAN + ["--json"],
    "plan-switching.txt": ["plan", "--collective", "reduce_scatter", "--nodes", "32", "--bytes",
                           "32kB", "--alpha-s", "0ns", "--alpha-p", "2us", "--delta", "100ns",
                           "--algorithm", "recursive_doubling", "--restore", "eager"],
    "info-variables.txt": ["info", "--variables"],
    "info-algorithms.txt": ["info", "--algorithms"],
    "plan-both-ports.txt": ["plan", "--collective", "allgather", "--nodes", "12", "--bytes", "64MB",
                            "--ports", "all"],
    "plan-two-by-two.txt": ["plan", "--collective", "reduce_scatter", "--nodes", "12", "--bytes",
                            "16MB"],
    # A page of the documentation, not under tests/golden/.
    "../../docs/algorithms.md": ["info", "--algorithms", "--markdown"],
}

UNITS = "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"


def changed(**options):
    """A good command line of `plan` with some options changed or added; None leaves one out."""
    values = {"collective": "allreduce", "nodes": "32", "bytes": "1MB", **options}
    return ["plan"] + [f"--{name.replace('_', '-')}={value}" for name, value in values.items()
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
    (changed(threshold="-1"), ["--threshold", "'-1'", "auto or an integer from 0"]),
    (changed(algorithm="rign"), ["--algorithm", "'rign'", "auto, ring, recursive_doubling",
                                 "did you mean 'ring'?"]),
    (changed(ports="2"), ["--ports", "'2'", "1 or all"]),
    (changed(algorithm="ring_both"), ["--algorithm", "'ring_both'", "--ports all"]),
    (changed(algorithm="neighbor_exchange", nodes="7"), ["'neighbor_exchange'", "even", "7 nodes"]),
    (["info", "--markdown"], ["--markdown", "--algorithms"]),
    (changed(algorithm="swing", nodes="12"), ["--algorithm", "'swing'", "power of two",
                                              "12 nodes"]),
    (changed(algorithm="recursive_doubling_full", collective="allgather"),
     ["--algorithm", "'recursive_doubling_full'", "collective", "allgather"]),
    (changed(collective="allreduse"), ["--collective", "'allreduse'", "did you mean 'allreduce'?"]),
    (changed(byte="1kB"), ["'--byte'", "did you mean '--bytes'?"]),
    (["plan", "--nodes"], ["--nodes"]),
    (["plam"], ["'plam'", "did you mean 'plan'?"]),
    (["info", "--variable"], ["'--variable'", "did you mean '--variables'?"]),
    ([], ["plan or info"]),
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
    forced = plan(binary, algorithm="swing")
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
        # Settings of a program that runs do not leak into a plan.
        check(run(binary, PLAN, SHORTCUT_DELTA="1s").stdout == run(binary, PLAN).stdout,
              "the environment changes a plan")


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
    plans_add_up(arguments.binary)
    special_cases(arguments.binary)
    effective_config(arguments.binary)
    wrong_values(arguments.binary)
    for failure in failures:
        print("FAILED", failure)
    print(f"{checks} checks, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
