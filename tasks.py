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
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
CONSTRAINTS = ROOT / "constraints.txt"
OLDEST = (3, 11)
BUILD = ROOT / "build"
EXAMPLE = "examples/softmax.dt"
SIZES = "x=5,y=1000"
# Of the files with long tests, and of all files for pyright, one part of so many is looked at for a
# commit.
PARTS = 8
HEAVY = ("torch", "triton", "numpy")  # come only with an extra
MOST_WORDS = 8  # of a command that are shown before it runs
PLUGIN = "examples/skew.py"
# What pyright checks, as pyproject.toml says. The second and third are links.
LINKED = ("frontend", "codegen")
TYPED = ("dtpoly", *(f"dtpoly/{name}" for name in LINKED), "benchmarks", "tests", "examples")
# A package that brings the directive of that plugin, and a file that uses it.
PLUGIN_PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "dtpoly-skew"
version = "1.0"
[project.entry-points."dtpoly.primitives"]
skew = "skew:Skew"
[tool.setuptools]
py-modules = ["skew"]
"""
SKEWED = "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.skew(x, y); f.compile();\n"


def shown(command: Sequence[str | Path]) -> str:
    """A command as a person would type it in the root of the repository."""
    return " ".join(str(word) for word in command).replace(f"{ROOT}{os.sep}", "")


def run(command: Sequence[str | Path], cwd: Path = ROOT) -> None:
    """Run a command, showing it and how long it took; stop the task if it fails."""
    print(f"\n$ {shown(command)}", flush=True)
    start = time.monotonic()
    done = subprocess.run(words_of(command), cwd=cwd, env=keeping_bytecode(), check=False)
    print(f"  ({time.monotonic() - start:.1f} s)", flush=True)
    stop_if_failed(command, done.returncode)


@contextmanager
def beside(*commands: Sequence[str | Path]) -> Generator[None]:
    """Run commands one after the other, beside all that is done meanwhile.

    What each printed is shown at the end. If one fails, the task ends there, with all of its words.
    """
    print("".join(f"\n$ {start_of(command)}    # beside what follows" for command in commands))
    with ThreadPoolExecutor(1) as thread:
        running = [thread.submit(run_quietly, command) for command in commands]
        try:
            yield
        finally:
            ended = [one.result() for one in running]
            for command, done in zip(commands, ended, strict=True):
                print(f"\n$ {start_of(command)}\n{done.stdout}", end="", flush=True)
    for command, done in zip(commands, ended, strict=True):
        stop_if_failed(command, done.returncode)


def start_of(command: Sequence[str | Path]) -> str:
    """Return the first words of a command, and how many files follow."""
    first, more = command[:MOST_WORDS], len(command) - MOST_WORDS
    return f"{shown(first)} ... and {more} more" if more > 0 else shown(first)


def run_quietly(command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a command, keeping what it prints."""
    return subprocess.run(
        words_of(command),
        cwd=ROOT,
        env=keeping_bytecode(),
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def words_of(command: Sequence[str | Path]) -> list[str]:
    """Return the words of a command as the system wants them."""
    return [str(word) for word in command]


def keeping_bytecode() -> dict[str, str]:
    """Return the environment of commands: what Python has compiled once, it keeps.

    Otherwise each process compiles all tests and modules again, which takes half a minute.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def stop_if_failed(command: Sequence[str | Path], code: int) -> None:
    """End the task with the exit code of a command that failed."""
    if code:
        print(f"failed with exit code {code}: {shown(command)}", file=sys.stderr)
        raise SystemExit(code)


def program(environment: Path, name: str) -> Path:
    """Path of a program in a virtual environment."""
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def make_environment(environment: Path) -> None:
    """Make a virtual environment unless it is there."""
    if not program(environment, "python").exists():
        run([sys.executable, "-m", "venv", environment])


def pip_install(environment: Path, *what: str | Path) -> None:
    """Install at the pinned versions.

    Most modules of most packages are never used. Python compiles those that are when it loads them.
    """
    pip = [program(environment, "python"), "-m", "pip", "install", "--quiet", "--no-compile"]
    run([*pip, "--constraint", CONSTRAINTS, *what])


def demo() -> None:
    """Install; check, explain, compile and verify an example, run it, say how far off it is."""
    make_environment(ENVIRONMENT)
    pip_install(ENVIRONMENT, "--editable", ".[torch]")
    dtpoly = program(ENVIRONMENT, "dtpoly")
    BUILD.mkdir(exist_ok=True)
    run([dtpoly, "check", EXAMPLE])
    run([dtpoly, "explain", EXAMPLE])
    run([dtpoly, "compile", EXAMPLE, "--test", SIZES, "-o", BUILD / "softmax.py"])
    run([dtpoly, "verify", EXAMPLE, "--kernel", BUILD / "softmax.py"])
    run([dtpoly, "show", "--stage", "triton", EXAMPLE])
    run([dtpoly, "run", EXAMPLE, "--size", SIZES])


def test(arguments: Sequence[str], long: bool, every: bool) -> None:
    """Install, then lint, type-check and test; `--long` adds tests that take minutes.

    A part of all tests is run, which the commit says, and of those that take minutes as many as end
    in one; with `--long` a fifteenth of these, which takes an hour on two cores. `--all` runs all,
    which takes half a day of one core: a run that is stopped goes on where it was.
    """
    make_environment(ENVIRONMENT)
    pip_install(ENVIRONMENT, "--editable", ".[dev]")
    python = program(ENVIRONMENT, "python")
    for tool in (["ruff", "format", "--check", "."], ["ruff", "check", "."]):
        run([python, "-m", *tool])
    long = long or every
    chosen = "not gpu" if long else "not gpu and not long"
    workers = str(min(os.cpu_count() or 1, 8))
    pytest = [python, "-m", "pytest", "-m"]
    seed = str(seed_of_commit())
    spread = ["-n", workers, "--dist=worksteal"]
    part = [] if every or arguments else ["--sampled", seed]
    part += ["--ended", str(BUILD / f"ended-{git('rev-parse', 'HEAD')[:12]}.txt")] if every else []
    slowest = ["--durations", "20"]
    pyright = [python, "-m", "pyright", "--pythonpath", python]
    # Without a name pyright checks all files, as mypy does; that takes it five minutes.
    checked = [] if long else [*drawn(python_files(*TYPED), seed), *changed_files()]
    # Each of these keeps one core busy, and leaves the others idle.
    with beside([python, "-m", "mypy"], [*pyright, *dict.fromkeys(checked)]):
        run([*pytest, f"{chosen} and not alone", *spread, *slowest, *part, *arguments])
    if not arguments:
        run([*pytest, f"{chosen} and alone", *files_with("alone")])
    if not arguments and not long:
        some = "long and not gpu and not alone"
        files = drawn(files_with("long"), seed)
        run([*pytest, some, "-n", workers, "--maxschedchunk=1", "--rotating", seed, *files])


def python_files(*folders: str) -> list[Path]:
    """Return all files of Python in some folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def changed_files() -> list[Path]:
    """Return the files of Python that the commit changed; none where there is no commit before."""
    places = (*TYPED, *LINKED)
    told = git("diff", "--name-only", "--diff-filter=d", "HEAD^", "HEAD", "--", *places)
    names = [name for name in told.splitlines() if name.endswith(".py")]
    return [ROOT / ("dtpoly" if name.startswith(LINKED) else "") / name for name in names]


def files_with(mark: str) -> list[Path]:
    """Return the files that have tests with a mark: to collect all tests takes most of a minute."""
    files = (one for one in python_files("tests") if one.name.startswith("test_"))
    return [one for one in files if f"mark.{mark}" in one.read_text(encoding="utf-8")]


def drawn(files: Sequence[Path], seed: str) -> list[Path]:
    """Return a part of some files, another one for each seed."""
    return Random(seed).sample(files, len(files) // PARTS)


def seed_of_commit() -> int:
    """A number that each commit has for itself; where there is no git, each day."""
    commit = git("rev-parse", "HEAD")
    return int(commit[:8], 16) if commit else int(time.time()) // 86_400


def git(*words: str) -> str:
    """Return what git says, or nothing where it cannot."""
    command = ["git", *words]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout


def triton(version: str, arguments: Sequence[str]) -> None:
    """Test what is generated with another version of Triton, in an environment of its own."""
    environment = BUILD / f"triton-{version}"
    make_environment(environment)
    pip_install(environment, "--editable", ".[dev]")
    python = program(environment, "python")
    # Not what torch asks for. The interpreter of older versions needs an older NumPy.
    other = [f"triton=={version}", "numpy<2.4"]
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", *other])
    chosen = arguments or ["tests/codegen", "tests/targets", "tests/runtime"]
    workers = str(min(os.cpu_count() or 1, 8))
    pytest = [python, "-m", "pytest", "-p", "tests.codegen.older_triton"]
    which = "not gpu and not long and not alone"
    run([*pytest, "-m", which, "-n", workers, "--dist=worksteal", *chosen])


def attack(arguments: Sequence[str]) -> None:
    """Install, then attack dtpoly with random kernels, edited files and hostile input."""
    make_environment(ENVIRONMENT)
    pip_install(ENVIRONMENT, "--editable", ".[dev]")
    run([program(ENVIRONMENT, "python"), "-m", "tests.attack", *arguments])


def same(arguments: Sequence[str]) -> None:
    """Say whether the compiler does what it did when that was frozen; `--freeze` freezes it."""
    make_environment(ENVIRONMENT)
    pip_install(ENVIRONMENT, "--editable", ".[dev]")
    run([program(ENVIRONMENT, "python"), "-m", "tests.same", *arguments])


def extension() -> None:
    """Bundle the extension of VS Code, and write it to build/dtpoly.vsix; needs node and npm."""
    folder = ROOT / "editors" / "vscode"
    BUILD.mkdir(exist_ok=True)
    run(["npm", "install", "--no-audit", "--no-fund"], folder)
    run(["npm", "run", "package"], folder)
    shutil.copy(folder / "dtpoly.vsix", BUILD / "dtpoly.vsix")


def site() -> None:
    """Write the website to build/site, from an environment of its own."""
    environment = BUILD / "website"
    make_environment(environment)
    pip_install(environment, ".[site]")
    run([program(environment, "mkdocs"), "build"])


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
        example = elsewhere / "softmax.dt"
        shutil.copy(ROOT / EXAMPLE, example)
        install_measured(clean, wheel)
        try_without_torch(clean, elsewhere, example)
        try_plugin(clean, elsewhere)
        install_measured(clean, f"{wheel}[torch]")
        dtpoly = program(clean, "dtpoly")
        run([dtpoly, "doctor"], elsewhere)
        run([dtpoly, "run", example, "--reference", "--size", SIZES], elsewhere)
        run([dtpoly, "run", example, "--device", "cpu", "--size", SIZES], elsewhere)
        run([dtpoly, "verify", example, "--ring"], elsewhere)


def install_measured(environment: Path, what: str | Path) -> None:
    """Install a wheel, and say how long that takes and how large the environment is then."""
    start = time.monotonic()
    pip_install(environment, what)
    seconds = time.monotonic() - start
    size = sum(path.lstat().st_size for path in environment.rglob("*")) / 1e6
    print(f"\ninstalled {shown([what])} in {seconds:.0f} s; the environment has {size:.0f} MB")


def try_without_torch(clean: Path, elsewhere: Path, example: Path) -> None:
    """Run the commands that need neither torch nor triton where neither is installed."""
    for package in HEAVY:
        if any(clean.glob(f"lib/python*/site-packages/{package}")):
            raise SystemExit(f"{package} was installed, though only an extra asks for it")
    dtpoly, kernel = program(clean, "dtpoly"), elsewhere / "kernel.py"
    sizes = ("--size", SIZES)
    for words in (
        ["--version"],
        ["--help"],
        ["doctor"],
        ["check", example],
        ["fmt", "--check", example],
        ["explain", example],
        ["explain", "DT203"],
        ["legal", example, "softmax"],
        ["why-not", example, "softmax.num_warps(8)"],
        ["show", "--stage", "kernel", example],
        ["compile", example, "-o", kernel],
        ["verify", example, "--kernel", kernel, "--certificate", elsewhere / "proof.json"],
        ["differentiate", example],
        ["cost", example, *sizes],
        ["schedule", example, *sizes, "--budget", "0"],
        ["new", "layer_norm"],
        ["cache", "clear"],
    ):
        run([dtpoly, *words], elsewhere)
    refused = subprocess.run(
        words_of([dtpoly, "run", example, *sizes]),
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )
    if refused.returncode != 1 or "pip install 'dtpoly[torch]'" not in refused.stderr:
        raise SystemExit(f"dtpoly run does not say what to install:\n{refused.stderr}")


def try_plugin(clean: Path, elsewhere: Path) -> None:
    """Use a directive of one's own: from a file, then from a package that is installed."""
    dtpoly = program(clean, "dtpoly")
    skewed = elsewhere / "skewed.dt"
    skewed.write_text(SKEWED)
    project = elsewhere / "plugin"
    project.mkdir()
    plugin = Path(shutil.copy(ROOT / PLUGIN, project))
    run([dtpoly, "explain", "--plugin", plugin, skewed], elsewhere)
    (project / "pyproject.toml").write_text(PLUGIN_PROJECT)
    pip_install(clean, project)
    run([dtpoly, "check", skewed], elsewhere)


def main() -> None:
    """Run the task that the command line names."""
    if sys.version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise SystemExit(f"dtpoly needs Python {wanted} or newer; this is {sys.version.split()[0]}")
    parser = argparse.ArgumentParser(description=__doc__, prog="tasks.py")
    tasks = parser.add_subparsers(dest="task", required=True)
    tasks.add_parser("demo", help=demo.__doc__)
    tests = tasks.add_parser("test", help=test.__doc__)
    tests.add_argument("--long", action="store_true", help="add a part of the tests of minutes")
    tests.add_argument("--all", action="store_true", help="run all tests, for hours")
    tests.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    other = tasks.add_parser("triton", help=triton.__doc__)
    other.add_argument("version", help="such as 3.6.0")
    other.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    tasks.add_parser("package", help=package.__doc__)
    tasks.add_parser("extension", help=extension.__doc__)
    tasks.add_parser("site", help=site.__doc__)
    tasks.add_parser("attack", help=attack.__doc__, add_help=False)
    tasks.add_parser("same", help=same.__doc__, add_help=False)
    chosen, rest = parser.parse_known_args()
    if rest and chosen.task not in ("attack", "same"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    match chosen.task:
        case "demo":
            demo()
        case "test":
            test(chosen.pytest, chosen.long, chosen.all)
        case "triton":
            triton(chosen.version, chosen.pytest)
        case "attack":
            attack(rest)
        case "same":
            same(rest)
        case "extension":
            extension()
        case "site":
            site()
        case _:
            package()


if __name__ == "__main__":
    main()
