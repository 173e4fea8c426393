"""A space of schedules as a search sees it: numbered points, each an option of every axis."""

from collections.abc import Mapping
from typing import Protocol

from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass

# The number of an option of each axis; 0 for an axis that means nothing at this point.
Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """One choice of a space, and what can be chosen, in words."""

    name: str
    options: tuple[str, ...]


class Field(Protocol):
    """The view of a space that searching, measuring and drawing need, and nothing more.

    Law: `settled(at(i)) == at(i)` for each number below `count` that has a point, and two points
    with the same short form are equal.
    """

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The choices, in the order of the text."""
        ...

    @property
    def count(self) -> int:
        """How many numbers `at` takes; some of them may have no point."""
        ...

    def at(self, index: int) -> Point | None:
        """The point of a number; None where a rule leaves it out."""
        ...

    def settled(self, point: Point) -> Point | None:
        """The one spelling of a point whose options were chosen freely; None if it is none."""
        ...

    def short(self, point: Point) -> str:
        """A short form that names the point, for ever."""
        ...

    def parameters(self, point: Point) -> Mapping[str, str]:
        """Return the choice on each axis that means something at this point."""
        ...

    def program_of(self, point: Point) -> Program:
        """The Program with the directives of the point."""
        ...
