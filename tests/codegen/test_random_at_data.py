"""Random programs with ranges and places from tables: what is emitted is right at any content."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.codegen.at_data import tried
from tests.codegen.running import forget
from tests.oracle.cases import started_case

FEW, MANY = 2, 50
RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "random_at_data.json"


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(10))
def test_of_some_programs(part: int) -> None:
    for seed in range(10**6 + FEW * part, 10**6 + FEW * part + FEW):
        tried(seed)


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_of_many_programs(part: int) -> None:
    """Among these, many are run, and nearly all of them are proved."""
    found = Counter[str]()
    for seed in range(part * MANY, part * MANY + MANY):
        found.update(tried(seed))
        forget()
    assert found["run"] >= 12, found
    assert found["proved"] >= 0.7 * found["run"], found


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(10**6, 10**6 + 12))
def test_of_sums_that_begin_with_a_func(seed: int) -> None:
    tried(seed, started_case)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_of_many_sums_that_begin_with_a_func(part: int) -> None:
    """Among these, many are run, and nearly all of them are proved."""
    found = Counter[str]()
    for seed in range(part * MANY, part * MANY + MANY):
        found.update(tried(seed, started_case))
        forget()
    assert found["run"] >= 12, found
    assert found["proved"] >= 0.7 * found["run"], found


def test_the_record_has_enough_programs() -> None:
    found = json.loads(RECORD.read_text())
    outcomes = found["outcomes"]
    assert found["programs"] >= 250
    assert outcomes["run"] >= 100
    assert outcomes["proved"] >= 0.8 * outcomes["run"]
    assert "refuted" not in outcomes
