"""Defines the view that a search has of a space: numbered points with an option on every axis."""

from collections.abc import Mapping
from typing import Protocol

from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass

# The number of the option on each axis; 0 for an axis that has no meaning at this point.
Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpaceAxis:
    """One choice of a space, and its options in words."""

    name: str
    options: tuple[str, ...]


class Field(Protocol):
    """The view of a space that searching, measuring and drawing need, and nothing more.

    Law: `settled(at(i)) == at(i)` for each number below `count` that has a point, and two points
    with the same short form are equal.
    """

    @property
    def axes(self) -> tuple[SpaceAxis, ...]:
        """Return the choices, in the order of the text."""
        ...

    @property
    def count(self) -> int:
        """Return how many numbers `at` takes; some of them may have no point."""
        ...

    def at(self, index: int) -> Point | None:
        """Return the point of a number, or None if a rule excludes it."""
        ...

    def settled(self, point: Point) -> Point | None:
        """Return the canonical form of a point with any options; None if the space lacks it."""
        ...

    def short(self, point: Point) -> str:
        """Return a short form that always names this point."""
        ...

    def parameters(self, point: Point) -> Mapping[str, str]:
        """Return the choice on each axis that has a meaning at this point."""
        ...

    def program_of(self, point: Point) -> Program:
        """Return the Program with the directives of the point."""
        ...
