"""Tests that random cases which were run are not run again unless sources have changed."""

from pathlib import Path

import pytest

from tests.codegen import record
from tests.codegen.cases import Outcome, random_case, verdict
from tests.codegen.record import Row, rows, told


def made(seed: int) -> Row:
    outcome = Outcome.REFUSED if seed % 2 else Outcome.RIGHT
    why = "runs too late" if seed % 2 else ""
    return Row(seed, "full", outcome, why, "", 4, 3, 2, 0.5, {"data": ["random"]})


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the seeds that are run."""
    seeds: list[int] = []

    def row(seed: int) -> Row:
        seeds.append(seed)
        return made(seed)

    monkeypatch.setattr(record, "row", row)
    return seeds


def test_it_goes_on_where_it_was_stopped(tmp_path: Path, run: list[int]) -> None:
    kept = tmp_path / "cases.part"
    before = rows(range(3), kept)
    assert [next(before).seed, next(before).seed] == [0, 1]
    before.close()
    assert [*rows(range(4), kept)] == [made(seed) for seed in range(4)]
    assert run == [0, 1, 2, 3]


def test_it_begins_anew_where_the_sources_have_changed(
    tmp_path: Path, run: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "cases.part"
    assert [*rows(range(2), kept)]
    monkeypatch.setattr(record, "SOURCES", ("tests/codegen",))
    assert [*rows(range(2), kept)]
    assert run == [0, 1, 0, 1]


def test_what_is_told() -> None:
    found = told("the command", [made(seed) for seed in range(5)])
    assert found["outcomes"] == {"right": 3, "refused": 2}
    assert found["refused"] == "40.0%"
    assert found["refused because"] == {"runs too late": 2}
    assert found["elements"] == {
        "compared": 12,
        "of which something is known": 9,
        "of which almost all is known": 6,
    }
    assert found["right ones with"] == {"data": {"random": 3}}
    assert found["bad"] == []


def test_a_case() -> None:
    cases = (random_case(seed) for seed in range(50))
    full = (case for case in cases if all(case.sizes.values()) and verdict(case).is_legal)
    one = record.row(next(full).seed)
    assert one.outcome == Outcome.RIGHT
    assert one.elements
    assert one.features["layouts of outputs"]
