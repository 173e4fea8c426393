"""Random chains of reductions: what `online` joins, refuses and proves, beside an oracle."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.codegen.chained import tried, tried_in_parts
from tests.oracle.chains import chain
from tests.oracle.running import Cannot, Runs, judged

FEW, MANY = 3, 50
RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "random_chains.json"


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(10))
def test_of_some_chains(part: int) -> None:
    for seed in range(10**6 + FEW * part, 10**6 + FEW * part + FEW):
        tried(seed)


@pytest.mark.long
@pytest.mark.parametrize("part", range(12))
def test_of_many_chains(part: int) -> None:
    """Among these, some run in one loop, some are proved, and some are refused."""
    found = Counter[str]()
    for seed in range(part * MANY, part * MANY + MANY):
        found.update(tried(seed).words)
    assert found["joined"] >= 8, found
    assert found["refused"] >= 3, found
    assert found["joined: proved"] >= 3, found


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(8))
def test_of_some_chains_in_parts(part: int) -> None:
    for seed in range(2 * 10**6 + FEW * part, 2 * 10**6 + FEW * part + FEW):
        tried_in_parts(seed)


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_of_many_chains_in_parts(part: int) -> None:
    """Among these, some are proved, and some are refused."""
    found = Counter(tried_in_parts(seed) for seed in range(part * MANY, part * MANY + MANY))
    assert min(found["proved"], found["refused"]) >= 2, found


def test_what_the_oracle_says_of_chains() -> None:
    """It finds chains that can run in one loop, and several reasons why others cannot."""
    found = [judged(chain(seed)) for seed in range(60)]
    assert sum(isinstance(one, Runs) for one in found) >= 15
    assert len({one.why for one in found if isinstance(one, Cannot)}) >= 4


def test_the_record_has_enough_chains() -> None:
    found = json.loads(RECORD.read_text())
    outcomes = found["outcomes"]
    assert found["chains"] >= 500
    assert min(outcomes["joined"], outcomes["refused"]) >= 150
    assert "joined: refuted" not in outcomes
