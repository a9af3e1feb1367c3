#!/usr/bin/env python3
"""shortcut-bench: the sizes it prints, prediction against measurement, and what it refuses.

    bench.py --build build/release --mpi openmpi
"""

import argparse
import pathlib
import sys
import tempfile

from run_programs import Runner, last_lines


def rows(done):
    """The table's rows as (size, average, maximum, predicted)."""
    table = [line.split() for line in done.stdout.splitlines() if line and line[0] != "#"]
    return [(int(row[0]), *(float(cell) for cell in row[1:4])) for row in table]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shortcut-bench-") as scratch:
        runner = Runner(options.build.resolve(), options.mpi, pathlib.Path(scratch))
        name = "shortcut-bench" + ("" if options.mpi == "openmpi" else f"-{options.mpi}")
        bench = runner.build / "bin" / name

        def launch(ranks, *arguments, **settings):
            return runner.launch(ranks, [bench, *arguments, "-i", "2", "-x", "1"], preload=False,
                                 **settings)

        for arguments, sizes in [(["allreduce", "-m", "1:16"], [4, 8, 16]),
                                 (["allreduce", "--type", "double", "-m", "1:16"], [8, 16]),
                                 (["allgather", "-m", "1:6"], [4]),
                                 (["reduce_scatter_block", "-m", "4:100"], [16, 32, 64])]:
            done = launch(4, *arguments, SHORTCUT_FABRIC="virtual")
            got = [row[0] for row in rows(done)]
            runner.check(f"{' '.join(arguments)}: sizes", got == sizes,
                         f"{got} {last_lines(done)}")
        for ranks in (6, 8):
            done = launch(ranks, "allreduce", "-m", "1KiB:256KiB", SHORTCUT_FABRIC="virtual")
            got = rows(done)
            runner.check(f"{ranks} ranks: the slowest rank takes what is predicted",
                         len(got) == 9 and all(abs(most - predicted) <= 0.011
                                               for _, _, most, predicted in got), f"{got}")
        done = launch(2, "allreduce", "--compare", "native", SHORTCUT_FABRIC="virtual")
        runner.check("--compare native under virtual time: refused in one line",
                     done.returncode == 2 and "shortcut-bench: --compare native" in done.stderr
                     and "SHORTCUT_FABRIC" in done.stderr and not rows(done), last_lines(done))
        done = launch(2, "allreduce", "--json", "/nowhere/rows.json")
        runner.check("--json that cannot be written: refused before anything runs",
                     done.returncode == 2 and "--json" in done.stderr
                     and "'/nowhere/rows.json'" in done.stderr and not rows(done), last_lines(done))
        done = launch(2, "allreduce", "--compare", "native", "-m", "8:8")
        runner.check("--compare native otherwise", done.returncode == 0 and "Ratio" in done.stdout,
                     last_lines(done))
        # Ranks that share nodes: small messages by leaders, large ones flat, both as predicted.
        for collective, largest in [("allreduce", "1MiB"), ("reduce_scatter", "1MiB"),
                                    ("allgather", "16KiB")]:
            done = launch(8, collective, "-m", f"64:{largest}", SHORTCUT_FABRIC="virtual",
                          SHORTCUT_RANKS_PER_NODE="2", SHORTCUT_DELTA="300ns")
            lines = [line for line in done.stdout.splitlines() if line and line[0] != "#"]
            got = rows(done)
            runner.check(f"{collective} of 4 nodes of 2 ranks",
                         lines and "two-level, 2 a node" in lines[0]
                         and "two-level" not in lines[-1]
                         and all(abs(most - predicted) <= 0.011
                                 for _, _, most, predicted in got), last_lines(done))
        # Algorithms side by side, on a torus and on a ring that only some can serve.
        for ranks, settings in [(8, {"SHORTCUT_DIMS": "4x2"}), (6, {})]:
            done = launch(ranks, "allreduce", "-m", "1KiB:64KiB", "--algorithms", "all",
                          SHORTCUT_FABRIC="virtual", **settings)
            lines = done.stdout.splitlines()
            head = next((line.split() for line in lines if line.startswith("# Size")), [])
            names = head[2:head.index("Best,")] if "Best," in head else []
            times = [[float(cell) for cell in line.split()[1:1 + len(names)]]
                     for line in lines if line and line[0] != "#"]
            left_out = [line for line in lines if "cannot serve here" in line]
            runner.check(f"{ranks} ranks {settings}: algorithms side by side",
                         names[:2] == ["auto", "ring"] and len(times) == 7
                         and len(names) + len(left_out) == 12
                         and all(row[0] <= min(row) + 0.011 for row in times),
                         f"{names} {times} {last_lines(done)}")
        done = launch(2, "allreduce", "--algorithms", "swinging")
        runner.check("--algorithms: an unknown name is refused", done.returncode == 2
                     and "swinging" in done.stderr and not rows(done), last_lines(done))
        print(f"{runner.passed} ok, {runner.failed} FAILED")
        return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
