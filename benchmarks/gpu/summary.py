"""Computes the ratios to the best peer and to the floor, by row and by family."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log

from benchmarks.gpu.results import OURS, Ceilings, Results, RowResult, Timed
from benchmarks.gpu.rows import AIMS, FLOOR, Aim, rows


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: our text that counts, and the best of the peers."""

    row: RowResult
    ours: Timed
    peer: Timed | None
    floor: float
    is_proved: bool
    best: Timed | None  # of ours and all variants

    @property
    def ratio(self) -> float | None:
        """Return the best peer's time divided by ours: above 1 ours is faster."""
        return over(self.peer, self.ours)

    @property
    def share(self) -> float | None:
        """Return how near we are to what the machine can do."""
        return self.floor / self.ours.median if self.ours.median else None

    @property
    def counts(self) -> bool:
        """Only what is proved, and was measured beside a peer, does."""
        return self.is_proved and self.ratio is not None


def over(one: Timed | None, other: Timed) -> float | None:
    """Return how many times as long one takes as another; nothing, where one has no time."""
    return one.median / other.median if one is not None and one.median and other.median else None


@dataclass(frozen=True, slots=True)
class Family:
    """The ratios of a family, and whether they reach the aim."""

    name: str
    rows: int
    of: int  # so many the table has
    mean: float
    least: float
    aim: Aim
    is_reached: bool


def lines(results: Results) -> list[Line]:
    """Return all rows, in the order of the table; a text that was not looked at is not proved."""
    proved = {(one.name, one.text_hash) for one in results.texts if one.is_proved}
    return [_line(results, row, proved) for row in results.rows]


def _line(results: Results, row: RowResult, proved: set[tuple[str, str]]) -> Line:
    missing = Timed(row.file, OURS, failure="it is missing")
    ours = next((one for one in row.times if one.is_ours and one.name == row.file), missing)
    texts = [one for one in row.times if one.is_ours and one.median]
    return Line(
        row,
        ours,
        min((one for one in row.times if _is_peer(one) and one.median), key=_time, default=None),
        floor(results.ceilings, row.size, row.flops, row.dtype),
        (ours.name, ours.text_hash) in proved,
        min(texts, key=_time, default=None),
    )


def _is_peer(one: Timed) -> bool:
    return not one.is_ours and not one.name.startswith(FLOOR)


def _time(one: Timed) -> float:
    return one.median


def families(given: Sequence[Line]) -> Iterator[Family]:
    """Yield each family's geometric mean and least ratio, of the rows that count."""
    counting = [line for line in given if line.counts]
    whole = Counter(row.family for row in rows())
    for name in dict.fromkeys(line.row.family for line in counting):
        ratios = [line.ratio for line in counting if line.row.family == name]
        known = [ratio for ratio in ratios if ratio is not None]
        aim = AIMS.get(name, Aim())
        yield Family(
            name, len(known), whole[name], mean_of(known), min(known), aim, reaches(known, aim)
        )


def reaches(ratios: Sequence[float], aim: Aim) -> bool:
    """Return whether the mean and so many of the ratios are as high as they are to be."""
    if aim.mean is not None and mean_of(ratios) < aim.mean:
        return False
    if aim.least is None:
        return True
    good = sum(ratio >= aim.least for ratio in ratios)
    return good >= (len(ratios) if aim.rows is None else aim.rows)


def mean_of(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return exp(sum(map(log, ratios)) / len(ratios))


def floor(ceilings: Ceilings, size: int, flops: int, dtype: str) -> float:
    """Milliseconds that something takes at least: it moves so much, and multiplies so much."""
    moving = size / ceilings.copy if ceilings.copy else 0.0
    rate = ceilings.products.get(dtype, 0.0)
    return 1000 * max(moving, flops / rate if rate else 0.0)
