"""Every diagnostic: what it says of an example, and that the way out that it offers works."""

import re
from pathlib import Path

import pytest

from dtpoly.catalogue import CATALOGUE, descriptions
from dtpoly.checking import check
from dtpoly.diagnostics import Edit, Severity, apply_edits
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.source import Source
from tests.conftest import Golden
from tests.diagnostic_examples import FILES, NAMES, Example, example_of, examples

ROOT = Path(__file__).parent.parent


def emitted() -> set[str]:
    """Every code that the package can give."""
    modules = [*(ROOT / "dtpoly").rglob("*.py"), *(ROOT / "frontend").rglob("*.py")]
    texts = [path.read_text() for path in modules if path.parent.name != "catalogue"]
    return {code for text in texts for code in re.findall(r'"(DT[123]\d\d)"', text)}


def test_every_code_is_in_the_catalogue() -> None:
    assert sorted(CATALOGUE) == sorted(emitted())


def test_every_code_has_an_example_of_its_own() -> None:
    codes = emitted()
    assert sorted(CATALOGUE) == sorted(name for name in NAMES if name in codes)


def test_there_are_many_codes() -> None:
    assert len(CATALOGUE) >= 60


@pytest.mark.parametrize("code", CATALOGUE)
def test_catalogue_entry(code: str) -> None:
    entry = CATALOGUE[code]
    assert entry.title
    assert not entry.title.endswith(".")
    assert entry.remedy.endswith(".")
    assert descriptions()[code].endswith(entry.remedy)


@pytest.mark.parametrize("name", NAMES)
def test_message(name: str, golden: Golden) -> None:
    """An example shows its codes and no other error; its message has every part, and is known."""
    example = example_of(name)
    shows_its_codes_and_no_other_error(example)
    has_every_part(example)
    golden(f"diagnostics/{name}.txt", plain(render(example.diagnostics)))


def shows_its_codes_and_no_other_error(example: Example) -> None:
    found = {d.code for d in example.diagnostics}
    errors = {d.code for d in example.diagnostics if d.severity is Severity.ERROR}
    assert set(example.codes) <= found
    assert errors <= set(example.codes)


def has_every_part(example: Example) -> None:
    for diagnostic in example.diagnostics:
        texts = (diagnostic.title, diagnostic.label, *(note.text for note in diagnostic.notes))
        assert not any(re.search(r"[^.]\.$", text) for text in (*texts, diagnostic.hint))
        assert diagnostic.label or diagnostic.span is None
        assert diagnostic.hint or diagnostic.severity is Severity.NOTE
        if diagnostic.span is not None:
            assert 0 <= diagnostic.span.start <= diagnostic.span.end


def offered(example: Example) -> list[Edit]:
    """The edits of the diagnostics that an example is about."""
    return [e for d in example.diagnostics if d.code in example.codes for e in d.edits]


def mended(example: Example) -> Source:
    """The text of an example after the edits that are offered."""
    return Source(f"{example.name}.dt", apply_edits(example.text, offered(example)))


@pytest.mark.parametrize("name", FILES)
def test_edits_mend_the_mistake_and_make_no_new_error(name: str) -> None:
    example = example_of(name)
    if not offered(example):  # There is nothing to try; the next test counts those that offer some.
        return
    found = check(mended(example)).diagnostics
    assert not {d.code for d in found} & set(example.codes)
    assert [d.code for d in found if d.severity is Severity.ERROR] == []


@pytest.mark.long
def test_many_messages_offer_edits() -> None:
    of_files = [example for example in examples() if not example.call]
    assert len({example.code for example in of_files if offered(example)}) >= 40


def test_no_golden_file_is_left_over() -> None:
    folder = ROOT / "tests" / "golden" / "diagnostics"
    assert sorted(path.stem for path in folder.iterdir()) == sorted(NAMES)
