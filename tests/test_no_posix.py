"""Tests that no command misses what only POSIX has, and Windows has not.

The processes below have had it taken away (`no_posix/sitecustomize.py`).
"""

import csv
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, ROOT, environment, python_path

EXAMPLES = ROOT / "examples"
SOFTMAX = str(EXAMPLES / "softmax.dt")
SPACE = str(EXAMPLES / "spaces" / "softmax.dts")
SIMULATED = ("--simulate", "--budget", "6", "--workers", "2", "--size", "x=64,y=256")
OTHER_CHARACTERS = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
# The plainest of all settings: without the other two, Python itself takes UTF-8 there.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
# What all commands that only check, prove and write kernels do with a file.
LIGHT = (
    ("check", "file.dt"),
    ("fmt", "formatted.dt"),
    ("fmt", "--check", "formatted.dt"),
    ("compile", "file.dt", "-o", "kernel.py"),
    ("explain", "file.dt"),
    ("verify", "file.dt", "--kernel", "kernel.py"),
    ("schedule", "file.dt", "--size", "x=64,y=512", "--budget", "0", "-o", "chosen.dt"),
    ("check", "chosen.dt"),
)


def told(folder: Path, *words: str, code: int = 0) -> str:
    """Return what a command says where there is no POSIX."""
    return ended(folder, *COMMAND, *words, code=code)


def ended(
    folder: Path, *words: str, code: int = 0, characters: Mapping[str, str] = OTHER_CHARACTERS
) -> str:
    path = python_path(ROOT / "tests" / "no_posix", ROOT)
    known = environment(DTPOLY_CACHE_DIR=str(folder / "cache"), **characters)
    done = subprocess.run(
        words,
        cwd=folder,
        env={**known, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode() + done.stderr.decode(errors="replace")


def test_it_was_taken_away(tmp_path: Path) -> None:
    code = """
import importlib.util, os, select, signal
missing = [m for m in ("fcntl", "resource") if importlib.util.find_spec(m) is None]
print(missing, hasattr(os, "fork"), hasattr(signal, "SIGKILL"), hasattr(select, "poll"))
"""
    said = ended(tmp_path, sys.executable, "-c", code)
    assert said == "['fcntl', 'resource'] False False False\n"


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", SOFTMAX), "no errors"),
        (("explain", SOFTMAX), "softmax.block(x:4);"),
        (("why-not", SOFTMAX, "softmax.num_warps(8)"), "legal for all sizes"),
        (("legal", SOFTMAX, "softmax"), "softmax.early();"),
        (("show", "--stage", "map", "--size", "x=8,y=8", SOFTMAX), "program: x down, y across"),
        (("verify", SOFTMAX), "PROVED"),
        (("cost", SOFTMAX, "--size", "x=64,y=256"), "softmax"),
        (("run", SOFTMAX, "--size", "x=7,y=100"), "agrees with the reference"),
        (("space", SPACE), "points of the space"),
    ],
)
def test_a_command(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    assert said in told(tmp_path, *words)


@pytest.mark.parametrize("light", [LIGHT], ids=["light core"])
def test_files_of_windows(light: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    """Their lines end otherwise, and they have letters that the system's characters lack."""
    text = Path(SOFTMAX).read_text(encoding="utf-8")
    data = f"# größer ≤ x\n{text}".encode()
    for name in ("file.dt", "formatted.dt"):
        (tmp_path / name).write_bytes(data.replace(b"\n", b"\r\n"))
    (tmp_path / "plain.dt").write_bytes(data)
    for words in light:
        ended(tmp_path, *COMMAND, *words, characters=ASCII)
    assert (tmp_path / "formatted.dt").read_bytes() == data  # which is formatted already
    written = (tmp_path / "kernel.py").read_bytes()
    assert b"\r" not in written
    ended(tmp_path, *COMMAND, "compile", "plain.dt", "-o", "plain.py", characters=ASCII)
    assert _code(written) == _code((tmp_path / "plain.py").read_bytes())


def _code(text: bytes) -> list[bytes]:
    return [line for line in text.splitlines() if not line.lstrip().startswith(b"#")]


def test_the_server_of_editors_is_imported(tmp_path: Path) -> None:
    code = "import dtpoly.cli.lsp_command, dtpoly.editor.language_server; print('imported')"
    assert ended(tmp_path, sys.executable, "-c", code, characters=ASCII) == "imported\n"


def test_what_was_proved_is_kept(tmp_path: Path) -> None:
    """There each file seems to be one that all may read."""
    told(tmp_path, "compile", SOFTMAX, "-o", "one.py")
    key = tmp_path / "cache" / "key"
    before = key.read_bytes()
    key.chmod(0o666)
    told(tmp_path, "compile", SOFTMAX, "-o", "two.py")
    assert key.read_bytes() == before
    assert (tmp_path / "one.py").read_bytes() == (tmp_path / "two.py").read_bytes()


@pytest.mark.long
def test_an_exploration(tmp_path: Path) -> None:
    said = told(tmp_path, "explore", SPACE, *SIMULATED, "-o", "run.sqlite")
    assert "best: " in said
    told(tmp_path, "report", "run.sqlite", "-o", "run.csv")
    with (tmp_path / "run.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert len(rows) >= 6
    assert "measured" in {row["outcome"] for row in rows}


@pytest.mark.long
def test_texts_that_are_emitted(tmp_path: Path) -> None:
    said = told(tmp_path, "explore", SPACE, *SIMULATED[1:], "--emit", "-o", "run.sqlite")
    assert "proved" in said


@pytest.mark.long
def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from tests.explore.simulation import simulated
from tests.explore.test_process import answer_of
worker = simulated({{"*crash*": "crash", "*hang*": "hang"}}, Path({str(tmp_path)!r}))
print(answer_of(worker, "crash").how, answer_of(worker, "hang", 0.5).how)
print(answer_of(worker, "good")["outcome"])
worker.end()
worker.close()
"""
    assert ended(tmp_path, sys.executable, "-c", code) == "crashed hung\nmeasured\n"
