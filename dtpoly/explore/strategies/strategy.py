"""The interface of a strategy, which decides in which order the points of a space are measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from dtpoly.explore.space.field import Field, Point
from dtpoly.frozen import dataclass


class Strategy(Protocol):
    """Says which points are worth a measurement, and is told what came of them.

    What a run measures must depend on the seed alone, not on which worker is faster: a strategy
    that learns asks for a batch, answers with nothing until it is told of all of that, and learns
    from it in the order in which it asked.
    """

    def ask(self, count: int) -> Sequence[Point]:
        """At most so many points, none of them twice.

        None at all means: not before more is told; when nothing is left to be told, no more.
        """
        ...

    def tell(self, point: Point, time: float | None) -> None:
        """Milliseconds of a point; none for one that was refused, or failed, or was wrong."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """All that a strategy is made from."""

    space: Field
    seed: int = 0
    # What a cost model expects of points, in milliseconds, where it was asked.
    expected: Mapping[Point, float] = field(default_factory=dict[Point, float])


Make = Callable[[Setting], Strategy]
