"""docs/questions.md shows what the commands print; --update-golden rewrites it."""

import re
from pathlib import Path

import pytest

from dtpoly.cli.main import entry
from tests.conftest import Golden

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "questions.md"
# A command, and what it printed when the page was written.
BLOCK = re.compile(r"^```console\n\$ dtpoly (.*)\n(?:.*\n)*?```$", re.MULTILINE)
WORD = re.compile(r"'([^']*)'|(\S+)")


def test_the_page_is_up_to_date(
    golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "examples")

    def printed(block: re.Match[str]) -> str:
        entry([quoted or plain for quoted, plain in WORD.findall(block[1])])
        out, err = capsys.readouterr()
        assert err == ""
        return f"```console\n$ dtpoly {block[1]}\n{out}```"

    page = PAGE.read_text()
    assert len(BLOCK.findall(page)) == 4
    golden("../../docs/questions.md", BLOCK.sub(printed, page))
