"""An order of points in; a strategy that asks for one after another and learns nothing, out."""

from collections.abc import Iterator, Sequence
from itertools import islice

from dtpoly.explore.space.field import Point
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class InOrder:
    """Points of an iterator, as they come."""

    points: Iterator[Point]

    def ask(self, count: int) -> Sequence[Point]:
        """The next ones."""
        return [*islice(self.points, count)]

    def tell(self, point: Point, time: float | None) -> None:
        """What came of it changes nothing."""
