"""Random chains with a mean: what `online` joins, refuses and proves, beside an oracle."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.codegen.chained_means import tried
from tests.oracle.mean_chains import BAD, GOOD, MeanRuns, judged, mean_chain
from tests.oracle.running import Cannot

FEW, MANY = 2, 40
RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "random_mean_chains.json"


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(10))
def test_of_some_chains(part: int) -> None:
    for seed in range(10**6 + FEW * part, 10**6 + FEW * part + FEW):
        tried(seed)


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_of_many_chains(part: int) -> None:
    """Among these, some run in one loop, some are proved, and some are refused."""
    found = Counter[str]()
    for seed in range(part * MANY, part * MANY + MANY):
        found.update(tried(seed).words)
    assert min(found["joined"], found["joined: proved"], found["refused"]) >= 5, found


def test_what_the_oracle_says_of_each_operand() -> None:
    """Sums of powers up to the fourth can be brought up to date; weights and masks cannot."""
    found = dict[str, set[bool]]()
    for seed in range(200):
        one = mean_chain(seed)
        if one.divisor == "len(y)" and one.among is None and len(one.sums) == 1:
            operand = one.sums[0][1]
            found.setdefault(operand, set()).add(isinstance(judged(one), MeanRuns))
    assert all(found[one] == {True} for one in GOOD if one in found)
    assert all(found[one] == {False} for one in BAD if one in found)
    assert sum(one in found for one in (*GOOD, *BAD)) >= 12


def test_a_mean_of_something_else_is_none() -> None:
    found = [judged(one) for one in map(mean_chain, range(100)) if one.divisor != "len(y)"]
    assert found
    assert all(isinstance(one, Cannot) for one in found)


def test_the_record_has_enough_chains() -> None:
    found = json.loads(RECORD.read_text())
    outcomes = found["outcomes"]
    assert found["chains"] >= 300
    assert min(outcomes["joined"], outcomes["refused"]) >= 80
    assert "joined: refuted" not in outcomes
