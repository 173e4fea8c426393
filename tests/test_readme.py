"""The commands that the README shows work on the listing that it shows."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from dtpoly.cli.main import entry
from tests.cli.process import dtpoly

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
(LISTING,) = (text for _, text in BLOCK.findall(README) if text.startswith("Func "))
COMMANDS = [
    words
    for kind, text in BLOCK.findall(README)
    for line in text.splitlines()
    if kind == "sh" and (words := shlex.split(line, comments=True))[:1] == ["dtpoly"]
]


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "kernel.dt"
    path.write_text(LISTING)
    return path


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 11
    assert {words[1] for words in COMMANDS} >= {"check", "why-not", "legal", "compile", "fmt"}


@pytest.mark.usefixtures("kernel")
def test_the_commands_work_in_the_order_shown() -> None:
    for words in COMMANDS:
        done = dtpoly(*words[1:])
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout!r}{done.stderr!r}"


def test_the_listing_has_the_one_layout(kernel: Path) -> None:
    assert entry(["fmt", "--check", str(kernel)]) == 0


def test_the_python_works(kernel: Path) -> None:
    (text,) = (text for kind, text in BLOCK.findall(README) if kind == "python")
    kernel.rename(kernel.with_name("softmax.dt"))
    names: dict[str, Callable[..., object]] = {}
    exec("import dtpoly, torch; x = torch.ones(2, 3)\n" + text, names)
