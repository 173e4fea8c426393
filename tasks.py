"""Everything a developer runs, on a machine that has nothing but Python: `python3 tasks.py TASK`.

Each task makes `.venv` if it is not there, installs what it needs into it, at the versions of
constraints.txt, and runs. Needs only the standard library.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
CONSTRAINTS = ROOT / "constraints.txt"
OLDEST = (3, 11)
EXAMPLE = "examples/softmax.dt"
SIZES = "x=5,y=1000"


def run(command: Sequence[str | Path], cwd: Path = ROOT) -> None:
    """Run a command, showing it and how long it took; stop the task if it fails."""
    shown = " ".join(str(word) for word in command).replace(f"{ROOT}{os.sep}", "")
    print(f"\n$ {shown}", flush=True)
    start = time.monotonic()
    done = subprocess.run([str(word) for word in command], cwd=cwd, check=False)
    print(f"  ({time.monotonic() - start:.1f} s)", flush=True)
    if done.returncode:
        print(f"failed with exit code {done.returncode}: {shown}", file=sys.stderr)
        raise SystemExit(done.returncode)


def program(environment: Path, name: str) -> Path:
    """Path of a program in a virtual environment."""
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def make_environment(environment: Path) -> None:
    """Make a virtual environment unless it is there."""
    if not program(environment, "python").exists():
        run([sys.executable, "-m", "venv", environment])


def pip_install(environment: Path, *what: str | Path) -> None:
    """Install at the pinned versions."""
    python = program(environment, "python")
    run([python, "-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS, *what])


def demo() -> None:
    """Install, then check an example, show its Program and run its reference."""
    make_environment(ENVIRONMENT)
    pip_install(ENVIRONMENT, "--editable", ".")
    dtpoly = program(ENVIRONMENT, "dtpoly")
    run([dtpoly, "check", EXAMPLE])
    run([dtpoly, "show", "--stage", "program", EXAMPLE])
    run([dtpoly, "run", EXAMPLE, "--reference", "--size", SIZES])


def test(arguments: Sequence[str], long: bool) -> None:
    """Install, then lint, type-check and test; `--long` adds the tests that take minutes."""
    make_environment(ENVIRONMENT)
    pip_install(ENVIRONMENT, "--editable", ".[dev]")
    python = program(ENVIRONMENT, "python")
    for tool in (
        ["ruff", "format", "--check", "."],
        ["ruff", "check", "."],
        ["mypy"],
        ["pyright", "--pythonpath", str(python)],
    ):
        run([python, "-m", *tool])
    chosen = "not gpu" if long else "not gpu and not long"
    workers = str(min(os.cpu_count() or 1, 8))
    pytest = [python, "-m", "pytest", "-m"]
    run([*pytest, f"{chosen} and not alone", "-n", workers, "--dist=worksteal", *arguments])
    if not arguments:
        run([*pytest, f"{chosen} and alone"])


def package() -> None:
    """Build the sdist, the wheel from it, and try the wheel in a clean environment elsewhere."""
    make_environment(ENVIRONMENT)
    pip_install(ENVIRONMENT, "build")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    # With neither --sdist nor --wheel, build makes the wheel from the sdist.
    run([program(ENVIRONMENT, "python"), "-m", "build", "--outdir", dist])
    (wheel,) = dist.glob("*.whl")
    with tempfile.TemporaryDirectory(prefix="dtpoly-package-") as folder:
        elsewhere = Path(folder)
        clean = elsewhere / "venv"
        make_environment(clean)
        pip_install(clean, wheel)
        example = elsewhere / "softmax.dt"
        shutil.copy(ROOT / EXAMPLE, example)
        dtpoly = program(clean, "dtpoly")
        run([dtpoly, "--version"], elsewhere)
        run([dtpoly, "--help"], elsewhere)
        run([dtpoly, "check", example], elsewhere)
        run([dtpoly, "fmt", "--check", example], elsewhere)
        run([dtpoly, "run", example, "--reference", "--size", SIZES], elsewhere)


def main() -> None:
    """Run the task that the command line names."""
    if sys.version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise SystemExit(f"dtpoly needs Python {wanted} or newer; this is {sys.version.split()[0]}")
    parser = argparse.ArgumentParser(description=__doc__, prog="tasks.py")
    tasks = parser.add_subparsers(dest="task", required=True)
    tasks.add_parser("demo", help=demo.__doc__)
    tests = tasks.add_parser("test", help=test.__doc__)
    tests.add_argument("--long", action="store_true", help="add the tests that take minutes")
    tests.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    tasks.add_parser("package", help=package.__doc__)
    chosen = parser.parse_args()
    match chosen.task:
        case "demo":
            demo()
        case "test":
            test(chosen.pytest, chosen.long)
        case _:
            package()


if __name__ == "__main__":
    main()
