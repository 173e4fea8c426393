"""Commands in an environment without torch, triton and numpy.

The processes find a `sitecustomize` that hides the three packages, so that each process which such
a process starts lacks them, too.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from dtpoly.cli.main import cli
from dtpoly.cli.show_command import STAGES
from dtpoly.missing_package import INSTALL
from tests.cli.process import ROOT, dtpoly, environment

SOFTMAX = ROOT / "examples" / "softmax.dt"
SPACE = ROOT / "examples" / "spaces" / "softmax.dts"
HIDDEN = "import sys\nsys.modules.update(dict.fromkeys(('torch', 'triton', 'numpy')))\n"
SIZES = ("--size", "x=64,y=512")
SMALL = ("--size", "x=8,y=8")

# What each command does there: the words after its name. `{}` is the folder of the test.
WORKING: dict[str, tuple[tuple[str, ...], ...]] = {
    "check": ((str(SOFTMAX),), ("--sarif", str(SOFTMAX)), ("--json", str(SOFTMAX))),
    "fmt": (("--check", str(SOFTMAX)),),
    "show": tuple(
        ("--stage", stage, *(SMALL if stage == "map" else ()), str(SOFTMAX)) for stage in STAGES
    ),
    "explain": ((str(SOFTMAX), *SIZES), (str(SOFTMAX), "--code"), ("DT203",)),
    "why-not": ((str(SOFTMAX), "softmax.num_warps(8)"),),
    "legal": ((str(SOFTMAX), "softmax"),),
    "directives": ((), ("block",)),
    "compile": (
        (str(SOFTMAX), "-o", "{}/softmax.py"),
        (str(SOFTMAX), "--runtime", "import", "--test", "x=4,y=9", "-o", "{}/short.py"),
    ),
    "verify": (
        (str(SOFTMAX),),
        (str(SOFTMAX), "--kernel", "{}/softmax.py", "--certificate", "{}/softmax.json"),
        (str(SOFTMAX), "--kernel", "{}/softmax.py", "--check", "{}/softmax.json"),
        (str(SOFTMAX), "--fuse-at"),
    ),
    "space": ((str(SPACE), "--count"),),
    "cost": ((str(SOFTMAX), *SIZES),),
    "schedule": ((str(SOFTMAX), *SIZES, "--budget", "0"), (str(SOFTMAX), *SIZES)),
    "explore": (
        (str(SPACE), *SIZES, "--simulate", "--budget", "3", "-o", "{}/simulated.sqlite"),
        (str(SPACE), *SIZES, "--emit", "--budget", "2", "-o", "{}/emitted.sqlite"),
    ),
    "report": (("{}/simulated.sqlite", "-o", "{}/simulated.csv"),),
    "differentiate": ((str(SOFTMAX),),),
    "lsp": ((),),  # its input ends at once
    "new": ((), ("softmax", "-o", "{}/new.dt")),
    "doctor": ((), ("--json",)),
    "cache": ((),),
    "completion": (("bash",),),
}
# Which command writes the files that another one reads.
FIRST = {"verify": "compile", "report": "explore"}
# What runs, measures or compiles kernels, and so cannot work there.
REFUSED: tuple[tuple[str, ...], ...] = (
    ("run", str(SOFTMAX), "--size", "x=4,y=9"),
    ("run", str(SOFTMAX), "--size", "x=4,y=9", "--device", "cpu"),
    ("run", str(SOFTMAX), "--size", "x=4,y=9", "--reference"),
    ("compile", str(SOFTMAX), "--emit", "ttir"),
    ("compile", str(SOFTMAX), "--target", "cuda:90", "-o", "{}/never.py"),
    ("verify", str(SOFTMAX), "--ring"),
    ("device",),
    ("explore", str(SPACE), *SIZES, "-o", "{}/never.sqlite"),
    ("explore", str(SPACE), *SIZES, "--device", "cpu", "-o", "{}/never.sqlite"),
    ("explore", str(SPACE), *SIZES, "--emit", "--model", "h100", "-o", "{}/never.sqlite"),
)
# `ship` takes only schedules that are proved and measured; none are measured there.
UNTRIED = {"ship"}


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the module that hides packages; files of commands go there, too."""
    folder = tmp_path_factory.mktemp("light")
    (folder / "sitecustomize.py").write_text(HIDDEN)
    return folder


def without(folder: Path, *words: str, **more: str) -> CompletedProcess[bytes]:
    """Run a command that lacks the packages."""
    path = os.pathsep.join(map(str, (folder, ROOT)))
    filled = [word.replace("{}", str(folder)) for word in words]
    return dtpoly(*filled, env={"PYTHONPATH": path, **more})


def test_each_command_is_tried() -> None:
    assert {*WORKING, *(words[0] for words in REFUSED)} == {*cli.names} - UNTRIED


def test_packages_are_hidden(light: Path) -> None:
    """Otherwise the other tests would show nothing."""
    done = without(light, "doctor", "--json")
    states = {one["name"]: one["state"] for one in json.loads(done.stdout)["checks"]}
    assert (done.returncode, states["GPU"]) == (0, "note")
    assert b"torch, which would use it, is not installed" in done.stdout


def test_a_file_is_checked_and_proved(light: Path) -> None:
    """The short case of the next test."""
    assert without(light, "check", str(SOFTMAX)).stdout == b"no errors\n"
    done = without(light, "verify", str(SOFTMAX), "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "proved")


@pytest.mark.long
@pytest.mark.parametrize("command", WORKING)
def test_commands_that_run_no_kernel_work(light: Path, command: str) -> None:
    before = FIRST.get(command)
    if before is not None:
        assert without(light, before, *WORKING[before][0]).returncode == 0
    for words in WORKING[command]:
        done = without(light, command, *words)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), (words, done.stderr)
        assert done.stdout or done.stderr or command in ("fmt", "lsp")


@pytest.mark.long
def test_the_text_is_the_same_as_with_torch(light: Path, tmp_path: Path) -> None:
    words = ("compile", str(SOFTMAX), "-o")
    assert without(light, *words, str(light / "kernels.py")).returncode == 0
    assert dtpoly(*words, str(tmp_path / "kernels.py")).returncode == 0
    assert (light / "kernels.py").read_text() == (tmp_path / "kernels.py").read_text()
    assert "PROVED stores" in (light / "kernels.py").read_text()


@pytest.mark.long
@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_commands_that_run_kernels_say_what_to_install(light: Path, words: tuple[str, ...]) -> None:
    done = without(light, *words)
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (1, b"")
    assert said.startswith("error[DT330]: torch is not installed\n")
    assert f"hint: {INSTALL}" in said
    assert not [*light.glob("never*")]


def test_a_run_says_what_to_install(light: Path) -> None:
    """The short case of the test above."""
    done = without(light, "run", str(SOFTMAX), "--size", "x=4,y=9")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error[DT330]: torch is not installed\n")


def test_what_is_not_proved_and_not_run_is_told(light: Path) -> None:
    """A text that is not proved would be run, if that were possible: the verdict says that too."""
    words = ("verify", str(SOFTMAX), "--seconds", "0.001")
    done = without(light, *words, DTPOLY_CACHE_DIR=str(light / "cache"))
    assert done.returncode == 1
    assert b"softmax, ring: it was not run, because torch is not installed: pip" in done.stdout
    assert b"warning[DT311]" in done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "import dtpoly.nn",
        "import dtpoly; dtpoly.differentiable",
        f"import dtpoly; dtpoly.load({str(SOFTMAX)!r})(1)",
    ],
)
def test_python_says_what_to_install(light: Path, code: str) -> None:
    path = os.pathsep.join(map(str, (light, ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ModuleNotFoundError: kernels need torch, which is not installed: ")
    assert INSTALL in said


def test_what_needs_no_call_works_in_python(light: Path) -> None:
    code = f"import dtpoly; k = dtpoly.load({str(SOFTMAX)!r}); print(k.is_legal, len(k.source))"
    path = os.pathsep.join(map(str, (light, ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("True ")
