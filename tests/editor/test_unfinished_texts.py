"""What the editor asks of texts that are half written, and of names in real files."""

from pathlib import Path
from random import Random

import pytest

from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.editor.analysed_text import AnalysedText, judged, read_text
from dtpoly.editor.completions import completions
from dtpoly.editor.folds import folds
from dtpoly.editor.hover_texts import hover_text
from dtpoly.editor.inlay_texts import inlay_texts
from dtpoly.editor.renaming import check_new_name
from dtpoly.source import Source

ROOT = Path(__file__).parents[2]
FILES = sorted((*(ROOT / "examples").glob("*.dt"), *(ROOT / "examples/attentions").glob("*.dt")))
NAMES = [file.stem for file in FILES]


@pytest.mark.sampled
@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_text_that_is_cut_anywhere(file: Path) -> None:
    text, chance = file.read_text(), Random(file.stem)
    for _ in range(8):
        at = chance.randrange(len(text))
        read = read_text(Source(file.name, text[:at]))
        assert all(fold.first <= fold.last for fold in folds(read))
        offered = [one.text for one in completions(read, at, DIRECTIVES)]
        assert len(offered) == len({*offered}) or "(" in "".join(offered)
        hover_text(AnalysedText(read, ()), at, DIRECTIVES)


@pytest.mark.sampled
@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_all_names_can_be_changed(file: Path) -> None:
    """A file in which each name got another one is as good as before."""
    source = Source(file.name, file.read_text())
    read = read_text(source)
    text = source.text
    for one in reversed(read.occurrences):
        assert check_new_name(f"{one.name}_other", one.name, read) is None
        text = f"{text[: one.span.start]}{one.name}_other{text[one.span.end :]}"
    before, after = check(source), check(Source(file.name, text))
    assert (after.program is None) == (before.program is None)
    codes = [[one.code for one in each.diagnostics] for each in (before, after)]
    assert codes[0] == codes[1]


@pytest.mark.sampled
@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_hints_and_hover_of_whole_files(file: Path) -> None:
    source = Source(file.name, file.read_text())
    one = judged(read_text(source))
    hints = [*inlay_texts(one)]
    assert any("programs" in hint.text for hint in hints)
    for name in one.read.occurrences[::7]:
        found = hover_text(one, name.span.start, DIRECTIVES)
        assert found is not None
        assert name.name in found.text
