"""The example spaces: laid out, of a size that can be searched, and with legal points."""

from pathlib import Path

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.legality.verdicts import answer_of
from dtpoly.explore.space.count import counted, point_at, sample
from dtpoly.explore.space.space import program_of
from dtpoly.explore.space.space_file import read_space
from dtpoly.frontend.format import format_source
from dtpoly.source import Source

SPACES = sorted((Path(__file__).parents[2] / "examples" / "spaces").glob("*.dts"))


@pytest.mark.sampled
@pytest.mark.parametrize("path", SPACES, ids=lambda path: path.stem)
def test_of_an_example(path: Path) -> None:
    text = path.read_text()
    assert format_source(Source(path.name, text)) == text
    of = counted(read_space(str(path)))
    assert 500 < of.count < 50_000
    drawn = (point_at(of, number) for number in sample(of, 12, 0))
    answers = [answer_of(program_of(of.space, point), DIRECTIVES) for point in drawn]
    assert sum(answer.is_legal for answer in answers) >= 3
