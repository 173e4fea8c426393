"""Frames with a written number beside the maximum, in parts: no mistake in a number is proved."""

from collections import Counter
from functools import cache

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Data, Recipe
from tests.codegen.parted_programs import EXPONENTIALS, program, sizes_around_parts
from tests.codegen.practised_chains import PARTS
from tests.codegen.running import compared, imported
from tests.verify.online_mutants import OnlineMutant, mutants_of
from tests.verify.texts import changed, text_of, written

NAMES = ("three below a maximum", "one above twice a maximum")
NUMBER = r"(?: - 3\.0| \+ 1\.0)(?=[ ),\n])"
MISTAKES: dict[str, tuple[str, str]] = {
    "a number is left out": (NUMBER, ""),
    "a number is larger": (NUMBER, " + 4.0"),
    "a number is turned": (NUMBER, " + 3.0"),
    "a number is a factor": (NUMBER, " * 3.0"),
    "a number is infinite": (NUMBER, ' - float("inf")'),
    "the maximum before the last tile": (r"top_max(?=\[|\)| -| \+)", "top_max_before"),
    "a part stores its frame": (r"(\w+_max_exact)(?=,\n|\)\n)", r"\1 - 3.0"),
}


@cache
def text(name: str) -> str:
    return text_of(program(name))


def mutants() -> list[tuple[OnlineMutant, str]]:
    """Return all mistakes in the texts."""
    return [one for name in NAMES for one in mutants_of(name, text(name), MISTAKES)]


def check_mutant(mutant: OnlineMutant, new: str) -> bool:
    """Return whether a mutant is proved; raise Wrong if it computes something else then."""
    of = program(mutant.name)
    if verify(of, new).verdict is not LayerVerdict.PROVED:
        return False
    for sizes in sizes_around_parts(of):
        given = Recipe(data=Data.ASCENDING).inputs(of, sizes)
        compared(imported(new), of, ("f",), given, sizes)
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


@pytest.mark.long
def test_a_part_has_one_number_and_its_merge_another() -> None:
    """Only equal numbers cancel: exp((t - 3) - (m - 2)) is no factor of a frame."""
    for old in ("top_parts_tile - 3.0", "(top_max[:, None] - 3.0)", "top = top_max - 3.0"):
        wrong = changed(text(NAMES[0]), old, old.replace("3.0", "2.0"))
        assert verify(program(NAMES[0]), wrong).verdict is not LayerVerdict.PROVED, old


def verdict_beside(number: str) -> LayerVerdict:
    """Return the verdict of a log-sum-exp in parts, with a number beside the maximum."""
    of = written(
        f"Func f, top; In A; Var x; RVar y; top[x] = rmax(A[x, y], y) {number};"
        f"f[x] = log(rsum({EXPONENTIALS}, y)) + top[x]; top.online(f, y); {PARTS}"
    )
    return verify(of, text_of(of)).verdict


@pytest.mark.long
def test_a_large_number_is_not_proved() -> None:
    """Over the reals it cancels, but exp(300) is infinite in f32, and exp(-300) is 0."""
    assert verdict_beside("- 300") is LayerVerdict.UNKNOWN
    assert verdict_beside("+ 300") is LayerVerdict.UNKNOWN
    far = changed(text(NAMES[0]), "- 3.0", "- 300.0", 99)
    assert verify(program(NAMES[0]), far).verdict is not LayerVerdict.PROVED


@pytest.mark.long
def test_the_largest_number_that_is_proved() -> None:
    assert verdict_beside("- 5") is LayerVerdict.PROVED
    assert verdict_beside("- 6") is LayerVerdict.UNKNOWN
