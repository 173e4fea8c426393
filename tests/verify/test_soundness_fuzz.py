"""Random emitted files and mistakes in them: nothing that is wrong is proved."""

import pytest

from tests.verify.mutation.streaming import Row
from tests.verify.soundness_fuzz import Seed, is_false_proof, searched, told


def rows(first: int, last: int, mutants: int) -> list[Row]:
    return [row for number in range(first, last) for row in searched(Seed(number, mutants))]


@pytest.mark.long
def test_nothing_wrong_is_proved() -> None:
    found = rows(1, 4, 1)
    assert len(found) == 6
    assert not [row for row in found if is_false_proof(row)]
    assert told("", found)["false proofs"] == []


def test_a_false_proof_is_seen() -> None:
    row: Row = {"verdict": "proved", "outcome": "right", "more": ""}
    assert not is_false_proof(row)
    assert is_false_proof({**row, "outcome": "wrong"})
    assert is_false_proof({**row, "more": "wrong: f[0] is 1, not 2"})
    assert not is_false_proof({**row, "outcome": "wrong", "verdict": "unknown"})


@pytest.mark.long
@pytest.mark.parametrize("first", range(3000, 3200, 10))
def test_nothing_wrong_is_proved_of_many(first: int) -> None:
    found = rows(first, first + 10, 2)
    assert not [row for row in found if is_false_proof(row)]
