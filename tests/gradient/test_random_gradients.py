"""Gradients of random algorithms, and the gradients of these gradients, are those of torch."""

from collections import Counter

import pytest

from tests.gradient.outcomes import FREE, REFUSALS, RIGHT, kernel_outcome, outcome, second_outcome
from tests.gradient.random_algorithms import KINDS

CASES = 25  # of a long test


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_random_gradient(kind: str, seed: int) -> None:
    assert outcome(kind, seed) in (RIGHT, FREE, *REFUSALS)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", range(6))
def test_many_random_gradients(kind: str, part: int) -> None:
    found = Counter(outcome(kind, 1000 + CASES * part + at) for at in range(CASES))
    assert set(found) <= {RIGHT, FREE, *REFUSALS}
    assert found[RIGHT]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["plain", "ranged", "dividing", "scanning", "indirect"])
def test_random_gradients_of_gradients(kind: str) -> None:
    found = Counter(second_outcome(kind, 500 + at) for at in range(CASES))
    assert set(found) <= {RIGHT, FREE, *REFUSALS, "DT271"}
    assert found[RIGHT]
