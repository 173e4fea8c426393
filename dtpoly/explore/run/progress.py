"""Counts results as they come in, and reports the progress of an exploration."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from statistics import median

from dtpoly.explore.store.results import Outcome, Result
from dtpoly.frozen import dataclass

UNTRIED = (Outcome.REFUSED, Outcome.BUG)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The progress at one moment; rates and times leave out results that were known before."""

    points: int  # of the space
    known: int  # points that the file already had
    outcomes: Mapping[Outcome, int]
    kinds: Mapping[tuple[Outcome, str], int]  # the reasons why there is no full time
    best: float | None  # milliseconds
    best_point: str
    baselines: Mapping[str, float]
    rate: float  # a second
    share: float | None  # of the budget that is used
    left: float | None  # seconds

    @property
    def looked_at(self) -> int:
        """Return the number of points with a result."""
        return sum(self.outcomes.values())

    @property
    def tried(self) -> int:
        """Return the number of points that were given to a device."""
        return self.looked_at - sum(self.outcomes.get(one, 0) for one in UNTRIED)


@dataclass(slots=True)
class ResultTally:
    """The counts of the results so far, and the budget."""

    points: int
    most: int | None = None  # candidates
    seconds: float | None = None
    began: float = field(default_factory=time.monotonic)
    known: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter[Outcome])
    kinds: Counter[tuple[Outcome, str]] = field(default_factory=Counter[tuple[Outcome, str]])
    best: float | None = None
    best_point: str = ""
    baselines: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @property
    def tried(self) -> int:
        """Return the number of points that were given to a device, now or before."""
        return self.outcomes.total() - sum(self.outcomes[one] for one in UNTRIED)

    def add(self, point: str, result: Result, is_known: bool) -> None:
        """Count one more result."""
        self.known += is_known
        self.outcomes[result.outcome] += 1
        if result.outcome is not Outcome.MEASURED:
            self.kinds[result.outcome, result.kind] += 1
        time = result.median if result.is_timed else None
        if time is not None and (self.best is None or time < self.best):
            self.best, self.best_point = time, point
        for name, beside in result.baselines.items():
            self.baselines.setdefault(name, []).append(beside)

    def is_spent(self, waiting: int = 0) -> bool:
        """True if the budget is used up, once the waiting points are done."""
        if self.most is not None and self.tried + waiting >= self.most:
            return True
        return self.seconds is not None and time.monotonic() - self.began >= self.seconds

    def snapshot(self) -> Snapshot:
        """Return the progress now."""
        took = time.monotonic() - self.began
        here = self.outcomes.total() - self.known
        rate = here / took if took > 0 else 0.0
        share, left = self._budget(took, rate)
        baselines = {name: median(found) for name, found in self.baselines.items()}
        return Snapshot(
            points=self.points,
            known=self.known,
            outcomes=dict(self.outcomes),
            kinds=dict(self.kinds),
            best=self.best,
            best_point=self.best_point,
            baselines=baselines,
            rate=rate,
            share=share,
            left=left,
        )

    def _budget(self, took: float, rate: float) -> tuple[float | None, float | None]:
        """Return the share of the budget that is used, and the seconds until all of it is."""
        if self.seconds is not None and self.most is None:
            return min(1.0, took / self.seconds), max(0.0, self.seconds - took)
        done, end = self.tried, self.most
        if end is None or end >= self.points:
            done, end = self.outcomes.total(), self.points
        left = (end - done) / rate if rate else None
        if left is not None and self.seconds is not None:
            left = max(0.0, min(left, self.seconds - took))
        return min(1.0, done / end) if end else 1.0, left
