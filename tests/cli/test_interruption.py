"""An interruption at any time ends a process in silence, with its exit code and without a file."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, ROOT, SOFTMAX, ended, environment


def interrupted_after(seconds: float, folder: Path) -> tuple[int, bytes]:
    """Return the exit code of a process that is sent a signal then, and what it says of it."""
    source = folder / "softmax.dt"
    source.write_text(SOFTMAX)
    with ended(
        subprocess.Popen(
            [*COMMAND, "compile", str(source), "-o", str(folder / "out.py")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(XDG_CACHE_HOME=str(folder / "cache")),
        )
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    return process.returncode, told


def check(code: int, told: bytes, folder: Path) -> None:
    """Check that the outcome is right, whenever the interruption came."""
    written = [path.name for path in folder.iterdir() if path.name not in ("softmax.dt", "cache")]
    if code not in (0, 130):
        # Python itself has just begun, or is all but gone, and nothing of dtpoly runs.
        assert str(ROOT / "dtpoly").encode() not in told
        assert written == [] or b"wrote" in told
    assert b"Traceback" not in told or code not in (0, 130)
    assert written in ([], ["out.py"])


@pytest.mark.parametrize("delay", [0.1, 0.3])
def test_a_signal_while_modules_are_loaded(delay: float, tmp_path: Path) -> None:
    check(*interrupted_after(delay, tmp_path), tmp_path)


@pytest.mark.long
def test_a_signal_at_any_time(tmp_path: Path) -> None:
    codes: set[int] = set()
    for at in range(60):
        folder = tmp_path / str(at)
        folder.mkdir()
        code, told = interrupted_after(at * 0.02, folder)
        check(code, told, folder)
        codes.add(code)
    assert 130 in codes


def test_what_ignores_interruptions_still_does(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code, told = interrupted_after(0.3, tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (code, b"wrote" in told) == (0, True)
