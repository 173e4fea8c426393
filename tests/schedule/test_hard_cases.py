"""A fixed list of hard schedules: the verdict, and at many small sizes what the oracle says."""

from collections.abc import Iterator
from random import Random

import pytest

from dtpoly.poly.instances import fit_together
from dtpoly.poly.model import Model
from tests.oracle.cases import Case, kind_of
from tests.schedule.agreement import LEGAL, agreed, same_at, scheduled
from tests.schedule.hard_cases import AT, CASES, ORDERED
from tests.schedule.told import read

NAMES = [*CASES, *ORDERED]
LARGEST = 7


def made(name: str) -> Case:
    program = read((CASES | ORDERED)[name][1])
    ordered = frozenset(func.name for func in program.funcs if name in ORDERED)
    return Case(program, {}, ordered)


def some_sizes(model: Model, count: int) -> Iterator[dict[str, int]]:
    """Yield this many sizes that tensors can have, drawn from the small ones."""
    random, found = Random(0), 0
    for attempt in range(100 * count):
        drawn = {param: random.randint(0, LARGEST) for param in model.params}
        if attempt < 2:
            drawn = dict.fromkeys(model.params, attempt)
        sizes = {label: drawn[param] for label, param in model.size_of.items()}
        if fit_together(model, sizes):
            yield sizes
            found += 1
        if found == count:
            return


def compare(name: str, count: int) -> None:
    case = made(name)
    state = scheduled(case)
    tried = 0
    given = [AT[name]] if name in AT else []
    for sizes in (*given, *some_sizes(state.model, count)):
        at_these = Case(case.program, sizes, case.ordered)
        same_at(at_these, state, sizes, kind_of(at_these.judged()))
        tried += 1
    assert tried >= min(count, 8)


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_of_a_hard_case(name: str) -> None:
    expected = (CASES | ORDERED)[name][0]
    case = made(name)
    first = next(some_sizes(scheduled(case).model, 1))
    verdict = agreed(Case(case.program, first, case.ordered))
    found = LEGAL if verdict.is_legal else str(verdict.violations[0].kind)
    assert found == expected, [str(violation) for violation in verdict.violations]
    compare(name, 10)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_of_a_hard_case_at_more_sizes(name: str) -> None:
    compare(name, 150)
