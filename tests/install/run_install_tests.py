#!/usr/bin/env python3
"""Installs the build tree and uses what is there: programs, the CMake package, pkg-config.

    run_install_tests.py --build build/release --mpi openmpi;mpich

Twice: with all that was built, and as if only the first MPI library had been built for, which is
what tools/quickstart leaves behind.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "mpi"))

from run_programs import Runner, last_lines  # noqa: E402


def install(runner, prefix, without):
    """Installs to `prefix`; the files of the MPI libraries `without` count as not built."""
    script = (runner.build / "cmake_install.cmake").read_text()
    for mpi in without:
        script = script.replace(f"/lib/{mpi}/lib", f"/lib/not-built/{mpi}/lib")
        script = script.replace(f"/bin/shortcut-bench-{mpi}", f"/bin/not-built-{mpi}")
    copy = runner.scratch / "cmake_install.cmake"
    copy.write_text(script)
    return runner.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", copy])


def use(runner, prefix, name):
    """The installed tree serves a program of its MPI, and other projects."""
    program = runner.scratch / "reducer"
    runner.run([f"mpicc.{runner.mpi}", ROOT / "tests/mpi/neighbours/reducer.c", "-o", program])
    runner.shortcut_run = prefix / "bin" / "shortcut-run"
    done = runner.run([runner.shortcut_run, "--dry-run", program])
    runner.check(f"{name}: shortcut-run finds the installed library",
                 done.returncode == 0 and f"LD_PRELOAD={prefix}/" in done.stdout, last_lines(done))
    library = done.stdout.split("LD_PRELOAD=")[-1].split()[0]
    runner.library = pathlib.Path(library.split(":")[0])
    done = runner.launch(2, [program], SHORTCUT_REPORT="-")
    runner.check(f"{name}: a program under it",
                 "OK" in done.stdout and "Shortcut report" in done.stdout, last_lines(done))
    tool = runner.run([prefix / "bin" / "shortcut", "--version"])
    runner.check(f"{name}: shortcut", tool.returncode == 0, last_lines(tool))
    bench = runner.launch(2, [prefix / "bin" / "shortcut-bench", "allreduce", "-m", "8:8", "-i", "1"],
                          preload=False)
    runner.check(f"{name}: shortcut-bench", "Predicted" in bench.stdout, last_lines(bench))

    out = runner.scratch / f"consumer-{name.replace(' ', '-')}"
    done = runner.run(["cmake", "-S", HERE / "consumer", "-B", out, "-G", "Ninja",
                       f"-DCMAKE_PREFIX_PATH={prefix}"])
    made = runner.run(["cmake", "--build", out])
    runner.check(f"{name}: find_package(shortcut)", made.returncode == 0,
                 last_lines(done) + last_lines(made))
    done = runner.launch(2, [out / "consumer"], preload=False)
    runner.check(f"{name}: a program with explicit calls", "OK" in done.stdout, last_lines(done))
    runner.check(f"{name}: a program that plans", runner.run([out / "planner"]).returncode == 0)


def pkg_config(runner):
    """The prefix that shortcut.pc finds from where it lies, for libraries at any depth."""
    for libdir in ["lib", "lib64", "lib/x86_64-linux-gnu"]:
        tree = runner.scratch / f"configured-{libdir.replace('/', '-')}"
        done = runner.run(["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja",
                           f"-DCMAKE_INSTALL_LIBDIR={libdir}", "-DSHORTCUT_TESTS=OFF",
                           "-DSHORTCUT_BENCHMARKS=OFF"])
        if not runner.check(f"libraries in {libdir}: configures", done.returncode == 0,
                            last_lines(done)):
            continue
        prefix = runner.scratch / "prefix"
        folder = prefix / libdir / "pkgconfig"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "shortcut.pc").write_text((tree / "shortcut.pc").read_text())

        def variable(name):
            done = subprocess.run(["pkg-config", f"--variable={name}", folder / "shortcut.pc"],
                                  capture_output=True, text=True)
            return pathlib.Path(done.stdout.strip() or "/nothing").resolve()

        runner.check(f"libraries in {libdir}: pkg-config",
                     variable("prefix") == prefix.resolve()
                     and variable("libdir").parent == (prefix / libdir / "shortcut").resolve()
                     and variable("includedir") == (prefix / "include").resolve(),
                     (folder / "shortcut.pc").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mpi", required=True, help="the MPI libraries of the build, ;-separated")
    options = parser.parse_args()
    first, *others = options.mpi.split(";")
    with tempfile.TemporaryDirectory(prefix="shortcut-install-") as scratch:
        runner = Runner(options.build.resolve(), first, pathlib.Path(scratch))
        for name, without in [("all", []), ("one MPI", others)]:
            prefix = runner.scratch / f"installed {name}".replace(" ", "-")
            done = install(runner, prefix, without)
            if runner.check(f"{name}: installs", done.returncode == 0, last_lines(done)):
                use(runner, prefix, name)
        pkg_config(runner)
        print(f"{runner.passed} ok, {runner.failed} FAILED")
        return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
