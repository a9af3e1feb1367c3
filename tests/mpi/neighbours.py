#!/usr/bin/env python3
"""Shortcut beside other tools, the other MPI, and wrong preloads.

    neighbours.py --build build/release --mpi openmpi [--other mpich]
"""

import argparse
import pathlib
import re
import sys
import tempfile

from run_programs import HERE, Runner, last_lines


def build(runner, name, *flags, mpi=None):
    out = runner.scratch / name
    done = runner.run([f"mpicc.{mpi or runner.mpi}", "-O1", "-Wall", *flags, "-o", out])
    runner.check(f"build {name}", done.returncode == 0, last_lines(done))
    return out


def launch(runner, preload, program, **settings):
    """Runs with LD_PRELOAD set by hand, for the program only."""
    shims = [next(runner.build.glob("**/libyield_shim.so"))] if runner.mpi == "mpich" else []
    preload = ":".join(str(part) for part in [*shims, *preload])
    return runner.launch(4, ["env", f"LD_PRELOAD={preload}", program], preload=False, **settings)


def report_counts(done):
    """(through Shortcut, passed on) of the report on standard output."""
    through = sum(int(n) for n in re.findall(r"^  allreduce +4 +\S+ \S+ +(\d+)", done.stdout, re.M))
    passed = sum(int(n) for n in re.findall(r"^  (\d+) calls of allreduce not run", done.stdout, re.M))
    return through, passed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    options = parser.parse_args()
    other = "mpich" if options.mpi == "openmpi" else "openmpi"
    with tempfile.TemporaryDirectory(prefix="shortcut-neighbours-") as scratch:
        runner = Runner(options.build.resolve(), options.mpi, pathlib.Path(scratch))
        source = HERE / "neighbours" / "reducer.c"
        program = build(runner, "reducer", source)
        tool = build(runner, "libtool.so", "-shared", "-fPIC", HERE / "neighbours" / "counting_tool.c")
        ours = runner.library

        done = launch(runner, [ours, tool], program, SHORTCUT_REPORT="-")
        runner.check("Shortcut first: it serves all, the tool sees none",
                     "OK" in done.stdout and "tool saw 0" in done.stdout
                     and report_counts(done) == (10, 5), last_lines(done))
        done = launch(runner, [ours, tool], program, SHORTCUT_REPORT="-", SHORTCUT_CHAIN="1")
        runner.check("Shortcut first, chained: the tool sees what is passed on",
                     "OK" in done.stdout and "tool saw 5" in done.stdout
                     and report_counts(done) == (10, 5), last_lines(done))
        done = launch(runner, [tool, ours], program, SHORTCUT_REPORT="-")
        runner.check("the tool first: it sees all, Shortcut none",
                     "OK" in done.stdout and "tool saw 15" in done.stdout, last_lines(done))

        done = launch(runner, [runner.scratch / "missing.so"], program)
        runner.check("a missing library file: the loader warns, the program runs",
                     "OK" in done.stdout and "missing.so" in done.stderr, last_lines(done))
        done = runner.launch(4, ["--library", runner.scratch / "missing.so", program])
        runner.check("shortcut-run with a missing library file: one line, exit 2",
                     done.returncode != 0 and "missing.so" in done.stderr, last_lines(done))

        # Exported to the launcher itself, as `LD_PRELOAD=... mpirun` does.
        done = runner.run(["env", f"LD_PRELOAD={ours}", f"mpirun.{options.mpi}",
                           *(["--oversubscribe"] if options.mpi == "openmpi" else []), "-n", "2",
                           program])
        runner.check("preloaded into mpirun too: nothing happens there",
                     done.returncode == 0 and "OK" in done.stdout, last_lines(done))

        foreign = runner.build / "lib" / other / "libshortcut_pmpi.so"
        if runner.check(f"the library for {other} is built too", foreign.exists(), str(foreign)):
            done = launch(runner, [foreign], program)
            runner.check(f"the library for {other}: it steps aside or the loader does, results right",
                         done.returncode == 0 and "OK" in done.stdout, last_lines(done))

        linked = build(runner, "linked", source, f"-L{ours.parent}", f"-Wl,-rpath,{ours.parent}",
                       "-lshortcut_pmpi")
        done = launch(runner, [], linked, SHORTCUT_REPORT="-")
        runner.check("linked with -lshortcut_pmpi: served without a preload",
                     "OK" in done.stdout and report_counts(done) == (10, 5), last_lines(done))
        static = build(runner, "static", source, ours.parent / "libshortcut_pmpi.a", "-lfmt",
                       "-lhwloc", "-lstdc++", "-lm")
        done = launch(runner, [], static, SHORTCUT_REPORT="-")
        runner.check("linked with libshortcut_pmpi.a: served",
                     "OK" in done.stdout and report_counts(done) == (10, 5), last_lines(done))

        # Launchers complain of both in their own ways; what counts is that the sums came out and
        # that the job ended by itself.
        ending = build(runner, "ending", HERE / "neighbours" / "ending.c")
        for how, name in [("exit", "a program without MPI_Finalize"), ("abort", "MPI_Abort")]:
            sums = runner.scratch / f"{how}.txt"
            done = runner.launch(4, [ending, how, sums])
            runner.check(f"{name}: right sums", sums.exists() and sums.read_text() == "0 wrong\n",
                         last_lines(done))
            runner.check(f"{name}: the job ends", done.returncode != 124, last_lines(done))
        runner.check("MPI_Abort: its code comes out", done.returncode == 7, last_lines(done))
        print(f"{runner.passed} ok, {runner.failed} FAILED")
        return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
