"""The documentation's own examples are checked, and its links lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.checking import check
from dtpoly.diagnostics import Severity
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.source import Source

pytestmark = pytest.mark.always

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
GENERATED = ("diagnostics.md", "explore.md")  # with what commands print
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```dt( error (DT\d+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str, str]]:
    """Every .dt example of the language page: its place, the code it shows, its text."""
    text = (ROOT / "docs" / "language.md").read_text()
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"language.md:{line}", match[2] or "", match[3]


@pytest.mark.parametrize(("place", "code", "text"), list(blocks()), ids=lambda value: value[:20])
def test_example_of_the_language_page(place: str, code: str, text: str) -> None:
    found = [d.code for d in check(Source(place, text)).diagnostics if d.severity is Severity.ERROR]
    assert found == ([code] if code else [])


def test_there_are_examples() -> None:
    assert sum(1 for _ in blocks()) >= 6


def test_the_language_page_names_every_word() -> None:
    text = (ROOT / "docs" / "language.md").read_text()
    missing = [name for name in CALL_NAMES if not re.search(rf"\b{name}\b", text)]
    missing += [p.name for p in DIRECTIVES if not re.search(rf"\b{p.name}\b", text)]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = CODE.sub("", page.read_text())
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize(
    "page", [one for one in PAGES if one.name not in GENERATED], ids=lambda page: page.name
)
def test_prose_wraps_at_100_columns(page: Path) -> None:
    """Tables, code, pictures and what is generated may be wider."""
    text = CODE.sub("", page.read_text())
    text = re.sub(r"^<!-- (?!end).*?^<!-- end.*?-->$", "", text, flags=re.MULTILINE | re.DOTALL)
    wide = [
        line
        for line in text.splitlines()
        if len(line) > 100
        and " " in line.strip()
        and not line.startswith(("|", "    ", "#", "!", "<!"))
    ]
    assert wide == []
