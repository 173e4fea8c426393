"""Says what was found: ratios to the best peer and to the floor, of all cases and by family."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import mean, median

from benchmarks.gpu.results import Timed
from benchmarks.ranks import spearman
from benchmarks.unseen.records import MeasuredCase, PreparedCase

LINES = (0.2, 0.5, 0.8, 0.85, 1.0)
FEW = 3  # schedules of a case, from which on they are ranked
WORST = 10


@dataclass(frozen=True, slots=True)
class Line:
    """A case: its times in milliseconds, 0 where there is none, and what failed of ours."""

    name: str
    family: str
    is_held_out: bool
    dtype: str
    first: float
    best: float
    peer: float
    peer_name: str
    floor: float
    failures: tuple[str, ...]  # of the first schedule, else of others
    is_first_right: bool
    rank: float | None  # of what was predicted, beside what was measured
    predicted: float  # of the first schedule, milliseconds

    @property
    def ratio(self) -> float:
        """Return the best peer's time over that of the first schedule; 0 where that has none."""
        return self.peer / self.first if self.first else 0.0

    @property
    def ratio_of_best(self) -> float:
        """Return the same of the best schedule."""
        return self.peer / self.best if self.best else 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """The ratios of some cases: how many, their geometric mean, the share at each line or above."""

    cases: int
    failed: int
    mean: float
    at_least: tuple[float, ...]


def lines(
    prepared: Mapping[str, PreparedCase], measured: Mapping[str, MeasuredCase]
) -> Iterator[Line]:
    """Yield the cases that were measured beside a peer, or of which nothing of ours is right."""
    for name, made in prepared.items():
        if name in measured:
            yield _line(made, measured[name])


def _line(made: PreparedCase, found: MeasuredCase) -> Line:
    times = {one.name: one for one in found.times}
    mine = [times.get(choice.text.name, Timed(choice.text.name)) for choice in made.choices]
    peers = [one for one in found.times if not one.is_ours and one.median]
    peer = min(peers, key=lambda one: one.median, default=Timed(""))
    failures = [one for one in (made.failure, found.failure) if one]
    failures += [one.failure for one in mine if one.failure]
    known = [(c.predicted, t.median) for c, t in zip(made.choices, mine, strict=True) if t.median]
    rank = spearman([p for p, _ in known], [t for _, t in known]) if len(known) >= FEW else None
    return Line(
        *(made.name, made.family, made.is_held_out, made.dtype),
        first=mine[0].median if mine else 0.0,
        best=min((t for _, t in known), default=0.0),
        peer=peer.median,
        peer_name=peer.name,
        floor=made.floor,
        failures=tuple(failures),
        is_first_right=bool(mine and mine[0].median),
        rank=rank,
        predicted=made.choices[0].predicted if made.choices else 0.0,
    )


def share(ratios: Sequence[float]) -> Share:
    """Sum ratios up. What failed has a ratio of 0: it is below each line, and not in the mean."""
    known = [one for one in ratios if one]
    middle = exp(sum(map(log, known)) / len(known)) if known else 0.0
    count = max(len(ratios), 1)
    at_least = tuple(sum(one >= line for one in ratios) / count for line in LINES)
    return Share(len(ratios), len(ratios) - len(known), middle, at_least)


def compared(given: Iterable[Line]) -> list[Line]:
    """Return the cases that have a peer."""
    return [one for one in given if one.peer]


def worst(given: Sequence[Line]) -> list[Line]:
    """Return the cases whose first schedule is furthest behind."""
    return sorted(compared(given), key=lambda one: one.ratio)[:WORST]


def families(given: Sequence[Line]) -> dict[str, list[Line]]:
    """Return the cases of each family."""
    found: dict[str, list[Line]] = {}
    for one in compared(given):
        found.setdefault(one.family, []).append(one)
    return found


def told(prepared: Mapping[str, PreparedCase], given: Sequence[Line]) -> Iterator[str]:
    """Yield what is to be said of a list as a whole, in lines."""
    every = [*prepared.values()]
    choices = [choice.text for one in every for choice in one.choices]
    proved = sum(one.is_proved for one in choices)
    yield f"{len(every)} cases prepared, {len(given)} measured, {len(compared(given))} with a peer"
    yield f"{proved} of {len(choices)} texts PROVED"
    nothing = [one.name for one in every if not one.choices]
    broken = [one.name for one in given if one.failures and not one.is_first_right]
    yield f"without a schedule: {', '.join(nothing) or 'none'}"
    yield f"whose first schedule failed: {', '.join(broken) or 'none'}"
    seconds = [one.seconds for one in every]
    if seconds:
        slow = max(every, key=lambda one: one.seconds)
        yield (
            f"seconds of `schedule`: median {median(seconds):.1f}, worst {slow.seconds:.1f}"
            f" ({slow.name})"
        )
    refused = sum((Counter(one.refused) for one in every), Counter[str]())
    words = ", ".join(f"{code} {count}" for code, count in refused.most_common())
    yield f"candidates given up, by code: {words or 'none'}"
    ranks = [one.rank for one in given if one.rank is not None]
    if ranks:
        yield f"rank correlation of predicted and measured, in the mean of cases: {mean(ranks):.2f}"
    errors = [abs(one.predicted / one.first - 1) for one in given if one.first]
    if errors:
        yield f"median error of the predicted time of the first schedule: {median(errors):.0%}"
