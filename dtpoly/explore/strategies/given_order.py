"""Asks for points in a given order, and learns nothing."""

from collections.abc import Iterator, Sequence
from itertools import islice

from dtpoly.explore.space.search_view import Point
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class InOrder:
    """The points of an iterator, as they come."""

    points: Iterator[Point]

    def ask(self, count: int) -> Sequence[Point]:
        """Return the next points."""
        return [*islice(self.points, count)]

    def tell(self, point: Point, time: float | None) -> None:
        """Do nothing: the result of a point does not change the order."""
