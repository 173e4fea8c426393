"""Defines the interface of a strategy, which decides in which order points are measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from dtpoly.explore.space.search_view import Field, Point
from dtpoly.frozen import dataclass


class Strategy(Protocol):
    """Chooses the points that are worth a measurement, and gets their results.

    The points of a run must depend on the seed alone, and not on which worker is faster. So a
    strategy that learns asks for a batch, returns nothing until it has all its results, and learns
    from them in the order in which it asked.
    """

    def ask(self, count: int) -> Sequence[Point]:
        """Return at most this many points, none of them twice.

        An empty result means that more results are needed first. If no results are missing, it
        means that there are no more points.
        """
        ...

    def tell(self, point: Point, time: float | None) -> None:
        """Take the milliseconds of a point; None if it was refused, failed, or was wrong."""
        ...


@dataclass(frozen=True, slots=True)
class StrategySetting:
    """Everything from which a strategy is made."""

    space: Field
    seed: int = 0
    # The milliseconds that a cost model predicts for points, if it was asked.
    expected: Mapping[Point, float] = field(default_factory=dict[Point, float])


Make = Callable[[StrategySetting], Strategy]
