"""Reduces files of results to plain data for each question, which is kept in JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil, comb, exp, inf, log
from pathlib import Path
from typing import Any

from dtpoly.explore.report.study import Study, studies
from dtpoly.explore.store.result_store import open_store
from dtpoly.explore.store.results import Outcome

TOP = 0.05  # of all that have a time, so many are looked at that are predicted best
FAILED = (Outcome.FAILED, Outcome.WRONG, Outcome.HUNG, Outcome.CRASHED, Outcome.BUG)
# What is said before a text is compiled; all else that refuses is a compiler or the device.
BY_RULE = ("illegal", "DT", "tile")


@dataclass(frozen=True, slots=True)
class Kept:
    """One question. Times are milliseconds, refusals counted by what refuses.

    `pairs` has what was expected and what was measured of everything that has a time.
    """

    space: str
    sizes: dict[str, int]
    dtype: str
    device: str
    versions: dict[str, str]
    points: int
    tried: int
    refused: dict[str, int]
    timed: int
    stopped: int
    unproved: int
    failed: dict[str, int]
    best: float | None
    best_point: str
    baselines: dict[str, float]
    near: int | None
    rank: float | None
    pairs: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    @property
    def compiled(self) -> int:
        """Return how many texts a compiler found to fit."""
        return self.tried - sum(self.refused.values())

    @property
    def by_rule(self) -> int:
        """Return how many were refused before any compiler saw them."""
        return sum(n for kind, n in self.refused.items() if kind.startswith(BY_RULE))

    @property
    def top(self) -> int:
        """Return how many are looked at of those that are predicted best."""
        return ceil(TOP * len(self.pairs))

    @property
    def share_of_top(self) -> float | None:
        """Return the best time of all over the best of those that are predicted best.

        Of those of which the same is predicted some may be among them and others not: then it is
        the geometric mean of all choices.
        """
        if not self.pairs:
            return None
        best = min(time for _, time in self.pairs)
        last = sorted(expected for expected, _ in self.pairs)[self.top - 1]
        sure = [time for expected, time in self.pairs if expected < last]
        alike = sorted(time for expected, time in self.pairs if expected == last)
        left, least = self.top - len(sure), min(sure, default=inf)
        # So many choices have this one as their best.
        choices = [comb(len(alike) - 1 - at, left - 1) for at in range(len(alike))]
        logs = (log(best / min(time, least)) for time in alike)
        every = zip(choices, logs, strict=True)
        return exp(sum(count * one for count, one in every) / sum(choices))


def summaries(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Reduce each question of each file to what is kept."""
    return [asdict(one) for path in paths for one in _kept(path)]


def read(data: Sequence[dict[str, Any]]) -> list[Kept]:
    """Things kept, of which `asdict` makes the same data again."""
    return [Kept(**one) for one in data]


def _kept(path: Path) -> Iterator[Kept]:
    store = open_store(path, is_new=False)
    try:
        found = studies(store)
    finally:
        store.close()
    for study in found:
        yield kept(path.stem, study)


def kept(name: str, study: Study) -> Kept:
    """Reduce the results of one space at some sizes to what is kept."""
    asked, counts = study.question.asked, study.outcomes
    best = study.best
    return Kept(
        name,
        dict(asked.sizes),
        asked.dtype,
        study.question.facts.device,
        dict(study.question.facts.versions),
        study.points,
        len(study.rows),
        _kinds(study, (Outcome.REFUSED,)),
        len(study.timed),
        counts.get(Outcome.SLOW, 0),
        counts.get(Outcome.UNPROVED, 0),
        _kinds(study, FAILED),
        None if best is None else best.time,
        "" if best is None else best.point,
        dict(study.baselines),
        study.near if study.baselines else None,
        study.correlation,
        [(float(f"{expected:.5g}"), float(f"{time:.5g}")) for expected, time in study.predicted],
    )


def _kinds(study: Study, outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return how many there are of each kind, most first."""
    found: dict[str, int] = {}
    for (outcome, kind), count in study.kinds.items():
        if outcome in outcomes:
            found[kind] = found.get(kind, 0) + count
    return dict(sorted(found.items(), key=lambda item: -item[1]))
