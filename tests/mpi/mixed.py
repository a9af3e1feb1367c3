#!/usr/bin/env python3
"""Jobs whose ranks are not alike: some without Shortcut, with it switched off, with other
settings, spawned, or of another job. No hang, right results, and one warning where something is given up.

    mixed.py --build build/release --mpi openmpi
"""

import argparse
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time

from neighbours import build
from run_programs import HERE, Runner, last_lines, read_report

HANG_S = 40


def job(runner, parts, launcher_options=()):
    """The command for parts side by side as one job: (ranks, variables or None for no Shortcut,
    program)."""
    command = [f"mpirun.{runner.mpi}"]
    if runner.mpi == "openmpi":
        command += ["--allow-run-as-root", "--oversubscribe"]
    command += launcher_options
    for number, (ranks, variables, program) in enumerate(parts):
        preload = [] if variables is None else [str(runner.library)]
        if runner.mpi == "mpich":
            preload.insert(0, str(next(runner.build.glob("**/libyield_shim.so"))))
        set_variables = [f"{name}={value}" for name, value in (variables or {}).items()]
        if preload:
            set_variables.append(f"LD_PRELOAD={':'.join(preload)}")
        command += [":"] if number else []
        command += ["-n", ranks, "env", *set_variables, *program]
    return [str(part) for part in ["timeout", HANG_S, *command]]


def launch(runner, parts, **settings):
    return runner.run(job(runner, parts), **settings)


@contextlib.contextmanager
def name_server(runner):
    """Open MPI's server, through which two jobs find each other; the option that names it."""
    address = runner.scratch / "server"
    command = ["timeout", str(3 * HANG_S), "ompi-server", "--no-daemonize", "-r", str(address)]
    server = subprocess.Popen(command, env=runner.environment({}), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + HANG_S
        while not address.exists() and server.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        yield ["--ompi-server", f"file:{address}"]
    finally:
        server.terminate()
        server.wait()


def test_two_jobs(runner, program):
    """Jobs that meet through a port: either may run without Shortcut."""
    with name_server(runner) as options:
        for accepts, connects in [({}, {}), ({}, None), (None, {})]:
            name = " and ".join(f"a job {'without' if variables is None else 'with'} Shortcut"
                                for variables in (accepts, connects))
            port = runner.scratch / "port"
            port.unlink(missing_ok=True)
            report = runner.scratch / "report.json"
            report.unlink(missing_ok=True)
            settings = {"SHORTCUT_REPORT": str(report)}
            acceptor = subprocess.Popen(
                job(runner, [(2, accepts, [program, "accept", port])], options),
                env=runner.environment(settings), cwd=runner.scratch, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
            connector = runner.run(job(runner, [(2, connects, [program, "connect", port])],
                                       options), **settings)
            said, _ = acceptor.communicate()  # under `timeout`
            runner.check(f"{name}: right sums",
                         acceptor.returncode == connector.returncode == 0
                         and "accept OK" in said and "connect OK" in connector.stdout,
                         said + last_lines(connector))
            reasons = native(report)
            runner.check(f"{name}: the report says why",
                         any("processes of another job" in text for text in reasons or ()),
                         f"{reasons}")


def warnings(done):
    return [line for line in done.stderr.splitlines() if line.startswith("shortcut:")]


def native(path):
    report = read_report(path)
    return {row["reason"] for row in report["native"]} if report else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shortcut-mixed-") as scratch:
        runner = Runner(options.build.resolve(), options.mpi, pathlib.Path(scratch))
        program = [build(runner, "reducer", HERE / "neighbours" / "reducer.c")]
        spawn = build(runner, "spawn", HERE / "programs" / "spawn.c")
        report = runner.scratch / "report.json"

        def test(name, parts, told, reason, **settings):
            report.unlink(missing_ok=True)
            done = launch(runner, parts, SHORTCUT_REPORT=str(report), **settings)
            said = warnings(done)
            runner.check(f"{name}: ends with the right sums",
                         done.returncode == 0 and "OK" in done.stdout, last_lines(done))
            runner.check(f"{name}: {'one warning' if told else 'no warning'}",
                         len(said) == (1 if told else 0) and all(told in line for line in said),
                         f"{said}")
            if reason is not None:
                reasons = native(report)
                runner.check(f"{name}: the report says why",
                             reasons is not None and any(reason in text for text in reasons),
                             f"{reasons}")

        test("SHORTCUT_DISABLE everywhere", [(4, {"SHORTCUT_DISABLE": "1"}, program)], None,
             "SHORTCUT_DISABLE")
        test("SHORTCUT_DISABLE on the last rank",
             [(3, {}, program), (1, {"SHORTCUT_DISABLE": "1"}, program)],
             "SHORTCUT_DISABLE is set on rank 3", "SHORTCUT_DISABLE")
        test("SHORTCUT_DISABLE on the first rank",
             [(1, {"SHORTCUT_DISABLE": "1"}, program), (3, {}, program)],
             "SHORTCUT_DISABLE is set on rank 0", "SHORTCUT_DISABLE")
        test("other settings on the last rank",
             [(3, {"SHORTCUT_ALGORITHM": "ring"}, program),
              (1, {"SHORTCUT_ALGORITHM": "recursive_doubling"}, program)],
             "rank 3 has other SHORTCUT_* settings than rank 0", None)
        test("no Shortcut on the last rank", [(3, {}, program), (1, None, program)],
             "rank 3 runs without Shortcut", "without Shortcut")
        test("no Shortcut on the first rank", [(1, None, program), (3, {}, program)],
             "rank 0 runs without Shortcut", None)
        # The start of MPI is seen in every binding.
        for source in ["f_mpif.f90", "f_f08.f90"]:
            fortran = [runner.compile(source)]
            test(f"{source}, no Shortcut on the last rank", [(3, {}, fortran), (1, None, fortran)],
                 "rank 3 runs without Shortcut", "without Shortcut")
            test(f"{source}, all ranks", [(2, {}, fortran), (2, {}, fortran)], None, None)
        if options.mpi == "mpich":  # MPI 4
            session = build(runner, "session", HERE / "programs" / "session.c")
            for where in ["init", "finalize", "alone"]:
                done = launch(runner, [(3, {}, [session, where])])
                runner.check(f"a session's communicator, {where}: right sums",
                             done.returncode == 0 and "OK" in done.stdout, last_lines(done))
        # Debian's MPICH 4.0.2 fails in MPI_Comm_spawn and MPI_Open_port by itself.
        if options.mpi == "openmpi":
            for name, child in [("without Shortcut", ["/usr/bin/env", "-u", "LD_PRELOAD", spawn]),
                                ("with Shortcut", [spawn])]:
                # With Shortcut the children's report comes over the parents'.
                test(f"spawned children {name}", [(2, {}, [spawn, *child])], None,
                     "processes of another job")
            connect = build(runner, "connect", HERE / "programs" / "connect.c")
            port = runner.scratch / "port"
            test("one job that meets itself through a port",
                 [(4, {}, [connect, "halves", port])], None, None)
            test_two_jobs(runner, connect)
        print(f"{runner.passed} ok, {runner.failed} FAILED")
        return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
