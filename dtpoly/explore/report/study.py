"""Gathers the results of each question of a store, to be drawn and written."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from dtpoly.explore.store.measured_question import Question
from dtpoly.explore.store.result_store import ResultStore, StoredRow
from dtpoly.explore.store.results import Outcome
from dtpoly.frozen import dataclass

NEAR = 1.1  # of the best baseline's time


@dataclass(frozen=True, slots=True)
class Timed:
    """A schedule with its time, in milliseconds."""

    point: str
    parameters: Mapping[str, str]
    time: float
    quarters: tuple[float, float]
    is_stopped: bool  # early, after few samples
    expected: float | None = None  # by the cost model, in milliseconds


@dataclass(frozen=True, slots=True)
class Study:
    """Everything that is known about one question."""

    question: Question
    points: int  # of the space that was explored last
    rows: Sequence[StoredRow]  # in the order in which they were found
    timed: Sequence[Timed]  # the fastest first
    baselines: Mapping[str, float]  # the fastest first
    outcomes: Mapping[Outcome, int]
    kinds: Mapping[tuple[Outcome, str], int]
    predicted: Sequence[tuple[float, float]]  # the expected and the measured time

    @property
    def best(self) -> Timed | None:
        """Return the fastest schedule, or None."""
        return self.timed[0] if self.timed else None

    @property
    def best_baseline(self) -> float | None:
        """Return the time of the fastest baseline, or None."""
        return min(self.baselines.values(), default=None)

    @property
    def near(self) -> int | None:
        """Return how many schedules are as fast as the best baseline, or at most a tenth slower."""
        least = self.best_baseline
        if least is None:
            return None
        return sum(one.time <= NEAR * least for one in self.timed)

    @property
    def correlation(self) -> float | None:
        """Return Spearman's correlation between the ranks of expected and measured times."""
        if len(self.predicted) < 3:
            return None
        return _correlation(*(_ranks(side) for side in zip(*self.predicted, strict=True)))


def studies(store: ResultStore) -> list[Study]:
    """Return a study for each question of the file that has results."""
    found = (_study(store, number, one) for number, one in store.questions().items())
    return [one for one in found if one.rows]


def _study(store: ResultStore, number: int, question: Question) -> Study:
    rows = store.results(number)
    expected = store.predictions(question.asked.key)
    timed = [
        Timed(
            row.point,
            row.parameters,
            row.result.median,
            (row.result.quarter or row.result.median, row.result.three_quarters or 0.0),
            row.result.outcome is Outcome.SLOW,
            expected.get(row.point),
        )
        for row in rows
        if row.result.is_timed and row.result.median is not None
    ]
    timed.sort(key=lambda one: one.time)
    beside: dict[str, list[float]] = {}
    for row in rows:
        for name, time in row.result.baselines.items():
            beside.setdefault(name, []).append(time)
    medians = {name: median(times) for name, times in beside.items()}
    known = [row.result for row in rows]
    return Study(
        question,
        store.points(number),
        rows,
        timed,
        dict(sorted(medians.items(), key=lambda item: item[1])),
        Counter(one.outcome for one in known),
        Counter((one.outcome, one.kind) for one in known if one.kind),
        [(one.expected, one.time) for one in timed if one.expected is not None],
    )


def axes_of(rows: Sequence[Timed]) -> dict[str, list[str]]:
    """Return the parameters whose values differ between rows; numbers are sorted by size."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.parameters.items():
            found.setdefault(name, set()).add(value)
    # If one row has a parameter and another has not, this is a difference, too.
    partial = {name for name in found if any(name not in row.parameters for row in rows)}
    return {
        name: sorted(values, key=_order)
        for name, values in found.items()
        if len(values) > 1 or name in partial
    }


def _order(value: str) -> tuple[float, str]:
    return (float(value), value) if value.isdecimal() else (float("inf"), value)


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the ranks from 0; equal values get the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for one in order[at:end]:
            ranks[one] = (at + end - 1) / 2
        at = end
    return ranks


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    mean = (len(one) - 1) / 2
    both = sum((a - mean) * (b - mean) for a, b in zip(one, other, strict=True))
    size = sum((a - mean) ** 2 for a in one) * sum((b - mean) ** 2 for b in other)
    return both / size**0.5 if size else None
