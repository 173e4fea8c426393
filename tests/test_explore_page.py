"""docs/explore.md shows what the commands print; --update-golden rewrites it."""

import re
import shlex
from pathlib import Path

import pytest

from dtpoly.cli.main import entry
from tests.conftest import Golden

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explore.md"
SPACES = ROOT / "examples" / "spaces"
BLOCK = re.compile(r"^```console\n\$ (.*)\n(?:(?!```).*\n)*```$", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_is_up_to_date(
    golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SPACES)

    def printed(block: re.Match[str]) -> str:
        match shlex.split(block[1]):
            case ["dtpoly", *arguments]:
                assert entry(arguments) == 0
                out, err = capsys.readouterr()
                assert err == ""
            case ["cat", name]:
                out = (SPACES / name).read_text()
            case words:
                raise AssertionError(words)
        return f"```console\n$ {block[1]}\n{out}```"

    page = PAGE.read_text()
    assert len(BLOCK.findall(page)) == 4
    golden("../../docs/explore.md", BLOCK.sub(printed, page))


def test_the_python_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SPACES)
    (code,) = PYTHON.findall(PAGE.read_text())
    exec(compile(code, str(PAGE), "exec"), {})
