"""Tests that no command misses what only POSIX has, and Windows has not.

The processes below have had it taken away (`no_posix/sitecustomize.py`).
"""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, ROOT, environment, python_path

EXAMPLES = ROOT / "examples"
SOFTMAX = str(EXAMPLES / "softmax.dt")
SPACE = str(EXAMPLES / "spaces" / "softmax.dts")
SIMULATED = ("--simulate", "--budget", "6", "--workers", "2", "--size", "x=64,y=256")
OTHER_CHARACTERS = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}


def told(folder: Path, *words: str, code: int = 0) -> str:
    """Return what a command says where there is no POSIX."""
    return ended(folder, *COMMAND, *words, code=code)


def ended(folder: Path, *words: str, code: int = 0) -> str:
    path = python_path(ROOT / "tests" / "no_posix", ROOT)
    known = environment(DTPOLY_CACHE_DIR=str(folder / "cache"), **OTHER_CHARACTERS)
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
