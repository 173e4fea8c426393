"""Frames that are multiples of a maximum: no mistake in a factor is proved."""

from collections import Counter
from functools import cache

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Data, Recipe
from tests.codegen.parted_programs import program, sizes_around_parts
from tests.codegen.running import compared, imported
from tests.verify.online_mutants import OnlineMutant, mutants_of
from tests.verify.texts import text_of

NAMES = ("twice a maximum", "a quarter of a maximum", "a maximum with its sign turned")
BEFORE = r"(?<=[ (])(?:2\.0|0\.25) \* (?=[a-zA-Z])"
BEHIND = r"(?: \* (?:2\.0|0\.25)| / 4\.0)(?=[ ),\n])"
MISTAKES: dict[str, tuple[str, str]] = {
    "a factor before a value is left out": (BEFORE, ""),
    "a factor before a value is larger": (BEFORE, "3.0 * "),
    "a factor before a value is turned": (BEFORE, "-2.0 * "),
    "a factor before a value is 0": (BEFORE, "0.0 * "),
    "a factor behind a value is left out": (BEHIND, ""),
    "a factor behind a value is smaller": (BEHIND, " * 0.125"),
    "a factor behind a value is its inverse": (BEHIND, " * 4.0"),
    "a factor behind a value is turned": (BEHIND, " * -2.0"),
    "a sign is lost": (r"(?<=[ (])-(?=top_max)", ""),
    "a sum is a difference": (r"(?<=[a-z\]]) \+ (?=-?top_\w*max)", " - "),
    "a difference is a sum": (r"(?<=[a-z\]]) - (?=top_\w*max|2\.0 \* top)", " + "),
    "the maximum before the last tile": (r"top_max(?=\[|\)| /)", "top_max_before"),
    "a part stores twice its maximum": (r"(\w+_max_exact)(?=,\n|\)\n)", r"2.0 * \1"),
}


@cache
def text(name: str) -> str:
    return text_of(program(name))


def mutants() -> list[tuple[OnlineMutant, str]]:
    """Return all mistakes in the texts."""
    return [one for name in NAMES for one in mutants_of(name, text(name), MISTAKES)]


def check_mutant(mutant: OnlineMutant, changed: str) -> bool:
    """Return whether a mutant is proved; raise Wrong if it computes something else then."""
    of = program(mutant.name)
    if verify(of, changed).verdict is not LayerVerdict.PROVED:
        return False
    for sizes in sizes_around_parts(of):
        given = Recipe(data=Data.ASCENDING).inputs(of, sizes)
        compared(imported(changed), of, ("f",), given, sizes)
    return True


def test_there_are_mistakes_of_each_kind() -> None:
    found = mutants()
    assert {mutant.mistake for mutant, _ in found} == MISTAKES.keys()
    assert len(found) >= 60


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_mistakes_are_not_proved(part: int) -> None:
    """The mistakes in a part of the texts; what is proved computes the same."""
    found = Counter(check_mutant(*one) for one in mutants()[part::8])
    assert found[False] >= 5, found


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_not_proved(mistake: str) -> None:
    """Where a mistake is made first, it is not proved."""
    first = next(one for one in mutants() if one[0].mistake == mistake)
    check_mutant(*first)
