"""Tests what results say together: best baselines, correlation of ranks, axes that differ."""

import pytest

from dtpoly.explore.report.page import sentences
from dtpoly.explore.report.study import Study, Timed, axes_of
from dtpoly.explore.store.results import Outcome
from tests.explore.simulation import few, question_of


def study(times: list[float], predicted: list[tuple[float, float]]) -> Study:
    timed = [Timed(f"p{t}", {}, t, (t, t), is_stopped=False) for t in sorted(times)]
    counts = {Outcome.MEASURED: len(times)}
    return Study(question_of(few()), 9, [], timed, {"a": 2.0, "b": 3.0}, counts, {}, predicted)


@pytest.mark.parametrize(
    ("predicted", "correlation"),
    [
        ([(1, 10), (2, 20), (3, 300)], 1.0),
        ([(1, 30), (2, 20), (3, 10)], -1.0),
        ([(1, 10), (1, 20), (2, 30)], 0.866),
        ([(1, 10), (1, 20), (1, 30)], None),
        ([(1, 10), (2, 20)], None),
    ],
)
def test_ranks_correlate(predicted: list[tuple[float, float]], correlation: float | None) -> None:
    found = study([1.0], predicted).correlation
    assert found == (None if correlation is None else pytest.approx(correlation, abs=1e-3))


def test_what_is_near_the_best_baseline() -> None:
    found = study([4.0, 1.0, 2.1, 2.3], [])
    assert (found.near, found.best_baseline) == (2, 2.0)
    assert found.best is not None
    assert found.best.time == 1.0
    said = [*sentences(found)]
    assert "that is 2.00 times as fast as the best baseline" in said
    assert "50% of them are within 10% of that" in said


def test_axes_are_those_that_differ() -> None:
    def row(**parameters: str) -> Timed:
        return Timed("", parameters, 1.0, (1.0, 1.0), is_stopped=False)

    rows = [row(x="16", y="4", same="1"), row(x="8", same="1"), row(x="128", y="4", same="1")]
    assert axes_of(rows) == {"x": ["8", "16", "128"], "y": ["4"]}
