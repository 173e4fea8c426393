"""Texts that compute chains of reductions in parts are proved, and mistakes in them are not."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Recipe
from tests.codegen.parted_programs import PARTED, program, sizes_around_parts
from tests.codegen.running import compared, imported
from tests.verify.online_mutants import MISTAKES, OF_PARTS, OnlineMutant, mutants_of
from tests.verify.refuted_mutants import drawn, drawn_one, words
from tests.verify.texts import text_of

SECONDS = 60  # the causal one takes some ten
MANY = 40  # tests, among which the mistakes are divided
# Where a tile of rows and parts is square, a maximum along the wrong axis has as many lanes.
SQUARE = PARTED["log-sum-exp"].replace("x:1", "x:2")
MISTAKEN = ("log-sum-exp", "a sum that is stored", "softmax in three kernels", "attention")


@cache
def emitted(name: str) -> str:
    return text_of(program(name))


@pytest.mark.sampled
@pytest.mark.parametrize("name", PARTED)
def test_it_is_proved(name: str) -> None:
    report = verify(program(name), emitted(name), seconds=SECONDS)
    assert [each for each in report.layers if each.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


def mutants() -> Iterator[tuple[OnlineMutant, str]]:
    """Yield all mistakes in the texts of some programs."""
    for name in MISTAKEN:
        yield from mutants_of(name, emitted(name), {**MISTAKES, **OF_PARTS})


def check_mutant(mutant: OnlineMutant, text: str) -> bool:
    """Return whether a mutant is proved; raise AssertionError if it is wrong then."""
    of = program(mutant.name)
    if verify(of, text).verdict is not LayerVerdict.PROVED:
        return False
    # It is another text for the same: a sum that is set where nothing was added to it before.
    for sizes in sizes_around_parts(of):
        compared(imported(text), of, ("f",), Recipe().inputs(of, sizes), sizes)
    return True


@pytest.mark.long
@pytest.mark.parametrize("part", range(MANY))
def test_mistakes_are_not_proved(part: int) -> None:
    """Some mistakes in a part of the texts: the texts are made here, not when tests are listed."""
    some = list(mutants())[part::MANY]
    assert some
    for mutant, text in some:
        check_mutant(mutant, text)


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", OF_PARTS)
def test_a_mistake_of_parts_is_not_proved(mistake: str) -> None:
    """Each mistake can be made somewhere, and none is proved where it is made first."""
    found = mutants_of("log-sum-exp", emitted("log-sum-exp"), {mistake: OF_PARTS[mistake]})
    first = next(found, None)
    assert first is not None
    check_mutant(*first)


@pytest.mark.sampled
@pytest.mark.parametrize("tile", ["top_max_tile", "top_max_tile_2", "top_parts_max_tile_2"])
def test_the_frame_of_other_rows_is_not_proved(tile: str) -> None:
    """It cancels over the reals, but an exponential of a row far below others is infinite."""
    of = load(Source("f.dt", SQUARE))
    right = text_of(of)
    wrong = right.replace(f"tl.reduce({tile}, 1, dt_max)", f"tl.reduce({tile}, 0, dt_max)")
    assert wrong != right
    assert verify(of, wrong, seconds=SECONDS).verdict is not LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize("part", range(MANY))
def test_most_mistakes_are_refuted_with_an_example(part: int) -> None:
    """The others that floats show are few, and none is proved."""
    mutants = map(drawn_one, range(8 * part, 8 * part + 8))
    found = Counter(word for mutant in mutants for word in words(mutant))
    wrong = sum(count for word, count in found.items() if "refuted" in word or "wrong" in word)
    assert sum(count for word, count in found.items() if "refuted" in word) >= 0.6 * wrong, found
    assert not any("proved, and wrong" in word for word in found), found
    assert len(drawn()) >= 8 * MANY
