"""Parts of ranges that are data, or that a window cuts: no mistake in their texts is proved."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Inputs, Recipe
from tests.codegen.parted_programs import (
    OF_DATA,
    calls_of_data,
    program,
    program_of_data,
    sizes_around_parts,
)
from tests.codegen.running import compared, imported
from tests.verify.online_mutants import MISTAKES, OF_PARTS, OnlineMutant, mutants_of
from tests.verify.texts import text_of

SECONDS = 60
MANY = 24  # tests, among which the mistakes are divided
TEST = r"(y(?:_\w+)?\[None, :\]\.to\(tl\.int64\)|tl\.cast\(y\w*, tl\.int64\))"
# Mistakes in what is asked of data, in one place: in a maximum, in a sum, or in a tail.
OF_TESTS: dict[str, tuple[str, str]] = {
    "a test of data lets all through": (TEST + r" < (\w+\[:, None\])", r"\1 < \1 + 1"),
    "a test of data lets nothing through": (TEST + r" < (\w+\[:, None\])", r"\1 < \1"),
    "the end is inside": (TEST + r" < (\w+\[:, None\])", r"\1 <= \2"),
    "the last one is outside": (TEST + r" < (\w+\[:, None\])", r"\1 + 1 < \2"),
    "behind the end": (TEST + r" < (\w+\[:, None\])", r"\1 >= \2"),
    "the end is that of the first row": (r"last_ptr \+ x \* ", "last_ptr + 0 * "),
    "the end is that of the next row": (r"last_ptr \+ x \* ", "last_ptr + (x + 1) * "),
    "a lane without a row has an end": (r"mask=x_mask, other=0\)", "mask=x_mask, other=9)"),
    "what is outside counts as 0": (r'-tl\.full\(\(\), float\("inf"\), real\)', "0.0"),
    "what is outside counts as low": (r'-tl\.full\(\(\), float\("inf"\), real\)', "-1000.0"),
    "an exponential outside is 1": (
        r"(tl\.exp\(A_tile\w* - \w+\[:, None\]\),\s+)0\.0",
        r"\g<1>1.0",
    ),
    "the maximum that is stored begins low": (
        r'(_max_exact = tl\.full\(\(\d+,\), )float\("-inf"\)',
        r"\g<1>-100.0",
    ),
    "the maximum that is stored begins with 0": (
        r'(_max_exact = tl\.full\(\(\d+,\), )float\("-inf"\)',
        r"\g<1>0.0",
    ),
    "the maximum that is stored forgets": (
        r"(\w+_max_exact) = dt_max\(\1, (\w+)\)",
        r"\1 = \2",
    ),
    "the maximum that is stored is not taken on": (
        r"\n +\w+_max_exact = dt_max\(.*\)(?=\n)",
        "",
    ),
    "a part that is not there has the maximum 0": (
        r'(top_parts_tile_\d+, )float\("-inf"\)',
        r"\g<1>0.0",
    ),
    "a sum that is stored is divided": (r"(\w+_parts_sum)(?=,\n)", r"\1 / 2"),
}
# Mistakes in how a window cuts parts.
OF_WINDOWS: dict[str, tuple[str, str]] = {
    "a window is one wider": (r"\+ 20(?=[^\d])", "+ 21"),
    "a window is one narrower": (r"\+ 20(?=[^\d])", "+ 19"),
    "one beyond the diagonal": (r"(y\w*\[None, :\]) <= (x\[:, None\])", r"\1 <= \2 + 1"),
    "the diagonal is left out": (r"(y\w*\[None, :\]) <= (x\[:, None\])", r"\1 < \2"),
    "the edge is not masked": (r"(x\[:, None\]) <= (y\w*\[None, :\] \+ 20)", r"\1 <= \1"),
    "the diagonal is not masked": (r"(y\w*\[None, :\]) <= (x\[:, None\])", r"\1 <= \1"),
}
WINDOW = "log-sum-exp of a window"
FIRST = "log-sum-exp of several rows"
OF_ALL = {**MISTAKES, **OF_PARTS, **OF_TESTS}


@cache
def text(name: str) -> str:
    return text_of(program_of_data(name))


@pytest.mark.sampled
@pytest.mark.parametrize("name", OF_DATA)
def test_it_is_proved(name: str) -> None:
    report = verify(program_of_data(name), text(name), seconds=SECONDS)
    assert [each for each in report.layers if each.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


def calls(of: Program, name: str) -> Iterator[tuple[dict[str, int], Inputs]]:
    """Yield calls that show a mistake: ranges, or sizes around parts."""
    if name != WINDOW:
        yield from calls_of_data(of)
        return
    for sizes in sizes_around_parts(of):
        yield sizes, Recipe().inputs(of, sizes)


def check_mutant(of: Program, mutant: OnlineMutant, changed: str) -> bool:
    """Return whether a mutant is proved; raise Wrong if it computes something else then."""
    if verify(of, changed).verdict is not LayerVerdict.PROVED:
        return False
    for sizes, given in calls(of, mutant.name):
        compared(imported(changed), of, ("f",), given, sizes)
    return True


def mutants() -> Iterator[tuple[Program, OnlineMutant, str]]:
    """Yield the mistakes in the texts of some programs."""
    for name in (FIRST, "a minimum", "attention"):
        of = program_of_data(name)
        for mutant, changed in mutants_of(name, text(name), OF_ALL):
            yield of, mutant, changed
    of = program(WINDOW)
    for mutant, changed in mutants_of(WINDOW, text_of(of), {**MISTAKES, **OF_PARTS, **OF_WINDOWS}):
        yield of, mutant, changed


@pytest.mark.long
@pytest.mark.parametrize("part", range(MANY))
def test_mistakes_are_not_proved(part: int) -> None:
    """Some mistakes in a part of the texts; the texts are made here, not when tests are listed."""
    some = list(mutants())[part::MANY]
    assert some
    found = Counter(check_mutant(*one) for one in some)
    assert found[True] <= len(some) / 3, found


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", OF_TESTS)
def test_a_mistake_in_a_test_is_not_proved(mistake: str) -> None:
    """Each mistake can be made somewhere, and where it is made first, it is not proved."""
    found = mutants_of(FIRST, text(FIRST), {mistake: OF_TESTS[mistake]})
    first = next(found, None)
    assert first is not None
    check_mutant(program_of_data(FIRST), *first)


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", OF_WINDOWS)
def test_a_mistake_in_a_window_is_not_proved(mistake: str) -> None:
    """Each mistake can be made somewhere, and where it is made first, it is not proved."""
    of = program(WINDOW)
    first = next(mutants_of(WINDOW, text_of(of), {mistake: OF_WINDOWS[mistake]}), None)
    assert first is not None
    check_mutant(of, *first)
