"""Random legal Programs, schedules, sizes, dtypes and layouts compute what they say."""

from collections import Counter

import pytest

from dtpoly.schedule.legality import judge
from tests.codegen.cases import Outcome, outcome, random_case
from tests.schedule.user_primitives import USER

# Of this many seeds at least a thousand are legal; the ordinary command takes the first few.
ORDINARY, LONG = 80, 1400
AT_ONCE = 10
BAD = (Outcome.WRONG, Outcome.FAILED, Outcome.SLOW)


def run(seeds: range) -> Counter[Outcome]:
    """Run the cases, print what came of them, and fail with all that are bad."""
    found: Counter[Outcome] = Counter()
    bad: list[str] = []
    elements = tight = 0
    for seed in seeds:
        case = random_case(seed)
        result = outcome(case)
        found[result.outcome] += 1
        elements += result.checked.elements
        tight += result.checked.tight
        if result.outcome in BAD:
            bad.append(f"{case}{result.outcome}: {result.why}")
    print(", ".join(f"{count} {name}" for name, count in found.most_common()))
    assert not bad, "\n\n".join(bad)
    assert tight >= 0.5 * elements, "most bounds say nothing"
    return found


@pytest.mark.parametrize("first", range(0, ORDINARY, AT_ONCE))
def test_a_sample(first: int) -> None:
    run(range(first, first + AT_ONCE))


@pytest.mark.long
@pytest.mark.parametrize("first", range(ORDINARY, LONG, 40))
def test_all(first: int) -> None:
    run(range(first, first + 40))


def test_few_schedules_are_refused() -> None:
    legal = sum(judge(random_case(seed).program, USER).is_legal for seed in range(ORDINARY))
    share = 1 - legal / ORDINARY
    print(f"{share:.0%} of {ORDINARY} schedules are refused")
    assert legal >= 60
    assert share <= 0.3
