"""Shows a space of schedules in the view that searching needs."""

from collections.abc import Mapping
from dataclasses import field

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_directive
from dtpoly.explore.space.count import CountedSpace, counted, index_of, point_at
from dtpoly.explore.space.search_view import Point, SpaceAxis
from dtpoly.explore.space.space import Point as Chosen
from dtpoly.explore.space.space import Space, present, program_of
from dtpoly.frozen import dataclass


@dataclass(frozen=True)
class Schedules:
    """The points of a space that its constraints leave, by their numbers."""

    space: Space
    counted: CountedSpace = field(repr=False)
    axes: tuple[SpaceAxis, ...]  # the parameters of the space

    @property
    def count(self) -> int:
        """Return how many points there are; each number has one."""
        return self.counted.count

    def at(self, index: int) -> Point | None:
        """Return the point of a number."""
        return tuple(option or 0 for option in point_at(self.counted, index).chosen)

    def settled(self, point: Point) -> Point | None:
        """Return the point with 0 for missing parameters; None if it breaks a constraint."""
        chosen = self._chosen(point)
        if index_of(self.counted, chosen) is None:
            return None
        return tuple(option or 0 for option in chosen.chosen)

    def short(self, point: Point) -> str:
        """Return all directives, so that the text names the same schedule in any space."""
        return " ".join(show_directive(one) for one in self.program_of(point).directives)

    def parameters(self, point: Point) -> Mapping[str, str]:
        """Return the choice of each parameter that the point has."""
        pairs = zip(self.axes, self._chosen(point).chosen, strict=True)
        return {axis.name: axis.options[at] for axis, at in pairs if at is not None}

    def program_of(self, point: Point) -> Program:
        """Return the Program with the directives of the point."""
        return program_of(self.space, self._chosen(point))

    def _chosen(self, point: Point) -> Chosen:
        there = present(self.space, Chosen(point))
        return Chosen(tuple(one if at in there else None for at, one in enumerate(point)))


def schedules(space: Space) -> Schedules:
    """Count a space. Raises DtpolyError if its constraints need too many states."""
    axes = tuple(SpaceAxis(str(one), tuple(map(str, one.options))) for one in space.parameters)
    return Schedules(space, counted(space), axes)
