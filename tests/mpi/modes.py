#!/usr/bin/env python3
"""SHORTCUT_DETERMINISTIC, and what is counted but not served.

    modes.py --build build/release --mpi openmpi
"""

import argparse
import pathlib
import re
import sys
import tempfile

from run_programs import Runner, last_lines, read_report

# Whatever may change the choice of algorithm or its circuits.
SETTINGS = [
    {"SHORTCUT_FABRIC": "static"},
    {"SHORTCUT_FABRIC": "virtual", "SHORTCUT_DELTA": "100ns"},
    {"SHORTCUT_FABRIC": "virtual", "SHORTCUT_ALPHA_S": "0ns", "SHORTCUT_BANDWIDTH": "1Gb/s"},
    {"SHORTCUT_ALGORITHM": "ring"},
    {"SHORTCUT_ALGORITHM": "recursive_doubling_full"},
    {"SHORTCUT_SEGMENT": "1kB"},
]


def bits(done):
    found = re.search(r"^bits (.+)$", done.stdout, re.M)
    return found.group(1) if found else f"none: {last_lines(done)}"


def test_determinism(runner, program):
    for ranks in (6, 8):
        free, fixed = set(), set()
        for settings in SETTINGS:
            done = runner.launch(ranks, [program], **settings)
            runner.check(f"{ranks} ranks, {settings}: same bits on all ranks",
                         "same on all ranks: yes" in done.stdout, last_lines(done))
            free.add(bits(done))
            done = runner.launch(ranks, [program], SHORTCUT_DETERMINISTIC="1", **settings)
            fixed.add(bits(done))
        runner.check(f"{ranks} ranks, deterministic: one result under all settings",
                     len(fixed) == 1 and not any("none" in text for text in fixed), f"{fixed}")
        # Were it always one result, the check above would show nothing.
        runner.check(f"{ranks} ranks, otherwise: the order of additions shows", len(free) > 1)


def native_calls(report):
    return {row["collective"]: row["calls"] for row in report["native"]} if report else None


def test_nonblocking(runner, program, fortran):
    path = runner.scratch / "nonblocking.json"
    done = runner.launch(4, [program], SHORTCUT_REPORT=str(path))
    want = {"iallreduce": 3, "iallgather": 2}
    if "persistent 1" in done.stdout:
        want["allreduce_init"] = 1
    runner.check("nonblocking and persistent: right", "OK" in done.stdout, last_lines(done))
    got = native_calls(read_report(path))
    runner.check("nonblocking and persistent: counted as passed on", got == want, f"{got}")
    path = runner.scratch / "f_nonblocking.json"
    done = runner.launch(4, [fortran], SHORTCUT_REPORT=str(path))
    got = native_calls(read_report(path))
    runner.check("nonblocking from mpi_f08: right and counted once",
                 "OK" in done.stdout and got == {"iallreduce": 2}, f"{got} {last_lines(done)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shortcut-modes-") as scratch:
        runner = Runner(options.build.resolve(), options.mpi, pathlib.Path(scratch))
        test_determinism(runner, runner.compile("mixed_magnitudes.c"))
        test_nonblocking(runner, runner.compile("nonblocking.c"),
                         runner.compile("f_nonblocking.f90"))
        print(f"{runner.passed} ok, {runner.failed} FAILED")
        return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
