"""The command line called in this process and files for it."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dtpoly.cli.main import entry
from tests.cli.process import SOFTMAX, WRONG

Entry = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Entry:
    """Call the entry point: exit code, standard output, standard error."""

    def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = entry(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a file without mistakes."""
    path = tmp_path / "softmax.dt"
    path.write_text(SOFTMAX)
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """Return a file with one mistake: an unknown name."""
    path = tmp_path / "wrong.dt"
    path.write_text(WRONG)
    return path
