#!/usr/bin/env python3
"""Runs unmodified MPI programs under shortcut-run and checks results, reports and warnings.

    run_programs.py --build build/release --mpi openmpi

Every program checks its own results and prints how many calls it made; the report must have seen
each of them exactly once. Exits non-zero if a check fails.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT_S = 120
PROGRAMS = ["allreduce_c.c", "f_mpif.f90", "f_mpi.f90", "f_f08.f90"]
FAMILIES = ["allreduce", "reduce_scatter", "reduce_scatter_block", "allgather", "allgatherv"]


class Runner:
    def __init__(self, build, mpi, scratch):
        self.build = build
        self.mpi = mpi
        self.scratch = scratch
        self.library = build / "lib" / mpi / "libshortcut_pmpi.so"
        self.shortcut_run = ROOT / "tools" / "shortcut-run"
        self.passed = 0
        self.failed = 0

    def check(self, name, good, detail=""):
        if good:
            self.passed += 1
            print(f"ok      {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAILED  {name}" + (f": {detail}" if detail else ""), flush=True)
        return good

    def environment(self, settings):
        # The caller's own settings must not decide what is tested.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SHORTCUT_")}
        environment.update(
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1",
            OMPI_MCA_btl_vader_single_copy_mechanism="none",
            OMPI_MCA_mpi_yield_when_idle="1",
            OMPI_MCA_hwloc_base_binding_policy="none",
        )
        environment.update(settings)
        return environment

    def run(self, command, **settings):
        """The finished process; one that takes too long ends with code 124."""
        command = [str(part) for part in command]
        try:
            return subprocess.run(command, env=self.environment(settings), cwd=self.scratch,
                                  capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as late:
            texts = [(text or b"").decode(errors="replace") if not isinstance(text, str) else text
                     for text in (late.stdout, late.stderr)]
            return subprocess.CompletedProcess(
                command, 124, texts[0], texts[1] + f"\nno end after {TIMEOUT_S} s")

    def launch(self, ranks, command, preload=True, **settings):
        launcher = [f"mpirun.{self.mpi}"]
        if self.mpi == "openmpi":
            launcher += ["--allow-run-as-root", "--oversubscribe"]
        launcher += ["-n", ranks]
        if self.mpi == "mpich":
            # MPICH polls without yielding: see yield_shim.c.
            shim = next(self.build.glob("**/libyield_shim.so"))
            launcher += ["env", f"LD_PRELOAD={shim}"]
        if preload:
            launcher += [self.shortcut_run, "--library", self.library]
        return self.run(launcher + command, **settings)

    def compile(self, source):
        program = self.scratch / pathlib.Path(source).stem
        if source.endswith(".c"):
            command = [f"mpicc.{self.mpi}", "-O1", "-Wall"]
        else:
            # MPI_IN_PLACE has another type than the buffers; gfortran 10 made that an error.
            command = [f"mpif90.{self.mpi}", "-O1", "-w", "-fallow-argument-mismatch"]
        done = self.run(command + ["-o", program, HERE / "programs" / source])
        self.check(f"compile {source}", done.returncode == 0, last_lines(done))
        return program if done.returncode == 0 else None


def last_lines(done, count=6):
    lines = (done.stdout + done.stderr).strip().splitlines()
    return f"exit {done.returncode}\n          " + "\n          ".join(lines[-count:])


def family(name):
    """MPI_Reduce_scatter, reduce-scatter and REDUCE_SCATTER are one collective."""
    return re.sub(r"^mpi_", "", re.sub(r"[^a-z]", "_", name.lower()))


def read_report(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def counts(rows):
    total = dict.fromkeys(FAMILIES, 0)
    for row in rows:
        name = family(row["collective"])
        total[name] = total.get(name, 0) + row["calls"]
    return total


def test_program(runner, program, ranks):
    name = f"{program.name}, {ranks} ranks"
    report_path = runner.scratch / f"{program.name}.{ranks}.json"
    done = runner.launch(ranks, [program], SHORTCUT_FABRIC="virtual",
                         SHORTCUT_REPORT=str(report_path))
    runner.check(f"{name}: results", done.returncode == 0 and "OK" in done.stdout.split(),
                 last_lines(done))
    made = {collective: int(number) for collective, number in
            re.findall(r"^calls (\w+) (\d+)$", done.stdout, re.MULTILINE)}
    report = read_report(report_path)
    if not runner.check(f"{name}: report is written", report is not None, last_lines(done)):
        return
    through = counts(report["collectives"])
    native = counts(report["native"])
    seen = {collective: through[collective] + native[collective] for collective in FAMILIES}
    runner.check(f"{name}: every call is counted once", made and seen == made,
                 f"made {made}, reported {seen}")
    runner.check(f"{name}: every collective went through Shortcut",
                 all(through[collective] > 0 for collective in FAMILIES),
                 f"through {through}, native {report['native']}")
    runner.check(f"{name}: report says how it ran",
                 report["fabric"] == "virtual"
                 and ranks in {row["ranks"] for row in report["collectives"]},
                 f"fabric {report['fabric']}, no row for {ranks} ranks")


def test_shortcut_run(runner, program):
    launcher = runner.shortcut_run
    cases = [
        ("a program that does not exist", ["./no-such-program"], "no program"),
        ("a program without MPI", ["/bin/true"], "no MPI"),
        ("a library that does not exist", ["--library", "/none.so", program], "/none.so"),
        ("an option that does not exist", ["--fabrik", "virtual", program], "--fabrik"),
        ("no program", [], "no program"),
    ]
    for name, arguments, expected in cases:
        done = runner.run([launcher] + arguments)
        runner.check(f"shortcut-run, {name}: one line, exit 2",
                     done.returncode == 2 and expected in done.stderr
                     and len(done.stderr.splitlines()) == 1, last_lines(done))
    done = runner.run([launcher, "--library", runner.library, "--fabric", "virtual", "--report=-",
                       "--dry-run", "--", program, "a b"], LD_PRELOAD="")
    runner.check("shortcut-run --dry-run",
                 done.returncode == 0 and "SHORTCUT_FABRIC=virtual" in done.stdout
                 and "SHORTCUT_REPORT=-" in done.stdout
                 and f"LD_PRELOAD={runner.library}" in done.stdout and r"a\ b" in done.stdout,
                 last_lines(done))


def thermo(output):
    lines = output.splitlines()
    start = next((i for i, line in enumerate(lines) if line.split()[:2] == ["Step", "Temp"]), None)
    if start is None:
        return []
    end = next((i for i in range(start, len(lines)) if lines[i].startswith("Loop time")), start)
    return lines[start + 1:end]


def test_lammps(runner, ranks):
    # Debian's lmp is built with Debian's default MPI, Open MPI.
    if runner.mpi != "openmpi":
        return
    lammps = ["lmp", "-in", HERE / "data" / "melt.in", "-log", "none"]
    report_path = runner.scratch / "lammps.json"
    plain = runner.launch(ranks, lammps, preload=False)
    ours = runner.launch(ranks, lammps, SHORTCUT_FABRIC="virtual",
                         SHORTCUT_REPORT=str(report_path))
    name = f"LAMMPS, {ranks} ranks"
    runner.check(f"{name}: runs", plain.returncode == 0 and ours.returncode == 0,
                 last_lines(plain) + last_lines(ours))
    expected = thermo(plain.stdout)
    runner.check(f"{name}: thermo lines are equal",
                 len(expected) == 11 and thermo(ours.stdout) == expected,
                 f"\n{expected}\n{thermo(ours.stdout)}")
    report = read_report(report_path)
    through = counts(report["collectives"])["allreduce"] if report else 0
    runner.check(f"{name}: allreduce calls through Shortcut", through > 0, str(report))


def test_warnings(runner, program):
    typo = runner.scratch / "typo.toml"
    typo.write_text('# settings\nfabric = "virtual"\ndleta = "10us"\n')
    broken = runner.scratch / "broken.toml"
    broken.write_text('# settings\nfabric = "virtual"\ndelta = "10us\n')
    cases = [
        ({"SHORTCUT_DELTA": "fast"}, ["SHORTCUT_DELTA", "fast", "us"]),
        ({"SHORTCUT_ALGORITHM": "fancy"},
         ["SHORTCUT_ALGORITHM", "fancy", "auto", "ring", "recursive_doubling", "swing"]),
        ({"SHORTCUT_CONFIG": str(typo)}, [f"{typo}:3", "dleta", "delta"]),
        ({"SHORTCUT_CONFIG": str(broken)}, [f"{broken}:3"]),
    ]
    for settings, expected in cases:
        name = ", ".join(f"{key}={pathlib.Path(value).name}" for key, value in settings.items())
        settings.setdefault("SHORTCUT_FABRIC", "virtual")
        done = runner.launch(4, [program], **settings)
        runner.check(f"{name}: the program is right",
                     done.returncode == 0 and "OK" in done.stdout.split(), last_lines(done))
        warnings = [line for line in done.stderr.splitlines() if line.strip()]
        runner.check(f"{name}: one warning with {', '.join(map(repr, expected[1:] or expected))}",
                     len(warnings) == 1 and all(word in warnings[0] for word in expected),
                     f"wrote {warnings}")
    done = runner.launch(4, [program], SHORTCUT_ALGORITHM="ring_both", SHORTCUT_FABRIC="virtual")
    warnings = [line for line in done.stderr.splitlines() if line.strip()]
    named = [next((word for word in FAMILIES if f" {word} on 4 ranks" in line), line)
             for line in warnings if "SHORTCUT_ALGORITHM: 'ring_both'" in line and "ports" in line]
    runner.check("an algorithm that cannot serve: one warning per collective",
                 len(warnings) == len(named) == len(set(named)) == 3, f"wrote {warnings}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build/<preset>")
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    parser.add_argument("--only", default="", help="run checks of programs whose name contains it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shortcut-programs-") as scratch:
        runner = Runner(options.build.resolve(), options.mpi, pathlib.Path(scratch))
        if not runner.check("library is built", runner.library.exists(), str(runner.library)):
            return 1
        programs = {}
        for source in PROGRAMS:
            if options.only in source:
                programs[source] = runner.compile(source)
        for program in filter(None, programs.values()):
            for ranks in (8, 7):
                test_program(runner, program, ranks)
        some_program = next(filter(None, programs.values()), None)
        if some_program:
            test_shortcut_run(runner, some_program)
            test_warnings(runner, some_program)
        # Debian's LAMMPS links Open MPI.
        if options.mpi == "openmpi" and options.only in "lammps":
            test_lammps(runner, 8)
        print(f"{runner.passed} ok, {runner.failed} FAILED")
        return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
