"""A part of the tests, another one for each seed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sampling import OTHERS, chosen_of, is_drawn, sampled

ROOT = Path(__file__).parent.parent
CASES = [f"file::test_one[{case}]" for case in range(40)] + ["file::test_two[only]"]


def test_a_part_of_each_test_is_chosen() -> None:
    for seed in range(10):
        chosen = sampled(CASES, seed)
        assert len(chosen) == 3 + 1
        assert "file::test_two[only]" in chosen
        assert sampled(reversed(CASES), seed) == chosen


@pytest.mark.parametrize(
    ("cases", "chosen"), [(0, 0), (1, 1), (10, 1), (11, 2), (30, 3), (200, 4), (1000, 12)]
)
def test_of_many_cases_a_smaller_share_is_chosen(cases: int, chosen: int) -> None:
    assert chosen_of(cases) == chosen


def test_all_cases_have_their_turn() -> None:
    assert set[str]().union(*(sampled(CASES, seed) for seed in range(100))) == {*CASES}


def test_of_other_tests_a_share_runs_and_each_has_its_turn() -> None:
    names = [f"file::test_{number}" for number in range(1000)]
    for seed in range(5):
        drawn = sum(is_drawn(name, seed) for name in names)
        assert 0.7 < drawn * OTHERS / len(names) < 1.3
    assert all(any(is_drawn(name, seed) for seed in range(100)) for name in names)


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(8))
def test_one_of_eight(case: int) -> None:
    assert case in range(8)


@pytest.mark.always
@pytest.mark.parametrize("case", range(30))
def test_all_of_thirty(case: int) -> None:
    assert case in range(30)


@pytest.mark.sampled
@pytest.mark.usefixtures("golden")
@pytest.mark.parametrize("case", range(10))
def test_all_that_compare_with_what_is_kept(case: int) -> None:
    assert case in range(10)


TESTS = (test_one_of_eight, test_all_of_thirty, test_all_that_compare_with_what_is_kept)


@pytest.mark.parametrize(("option", "count"), [([], 48), (["--sampled", "3"], 41)])
def test_the_option_leaves_cases_out(option: list[str], count: int) -> None:
    asked = [f"{__file__}::{one.__name__}" for one in TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *asked, *option]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"{count} passed" in done.stdout, done.stdout
