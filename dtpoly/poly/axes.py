"""Axes of a schedule, and the way through them to a statement.

An axis walks tiles of an index: `value = origin + step * floor((index - origin) / step)`, which is
absolute. `origin` names the axis (grid, loop or lanes) whose tile this one divides, whatever the
order of loops.
"""

from collections.abc import Mapping

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass

ZERO = Affine()


@dataclass(frozen=True, slots=True)
class Axis:
    """A grid axis, a loop or lanes: tiles of an index, from an origin given in other axes.

    A user's primitive may let a loop count something else than where it is, such as the sum of
    its coordinate and that of a loop around it (`time`).
    """

    name: str  # unique on every path
    label: str  # what the source calls it
    index: Affine
    step: int | None = 1  # None for one tile that holds all
    origin: Affine = ZERO
    extent: int | None = None  # how many indices from the origin; None to the label's end
    time: Affine | None = None  # what a loop counts, over axes; None for its own coordinate

    @property
    def value(self) -> Affine:
        """Where the axis is, for the origin or the time of another one."""
        return Affine(((self.name, 1),))

    @property
    def is_single(self) -> bool:
        """True if there is one tile only: its value is the origin."""
        return self.step is None or (self.extent is not None and self.step >= self.extent)


@dataclass(frozen=True, slots=True)
class Path:
    """The way to a statement: axes and sequence positions, outermost first, then its lanes.

    `owners` are the Funcs that the axes of the grid and the loops belong to.
    """

    kernel: int
    grid: tuple[Axis, ...]
    steps: tuple[Axis | int, ...]
    statement: str
    lanes: tuple[Axis, ...] = ()
    owners: tuple[str, ...] = ()

    @property
    def loops(self) -> tuple[Axis, ...]:
        """The loops on the way."""
        return tuple(step for step in self.steps if isinstance(step, Axis))


Named = Mapping[str, Axis]


def finest(grid: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The grid axes that tell programs apart: a group of several is known from its block."""
    outer = {label for axis in several(grid) for label in axis.origin.labels}
    return tuple(axis for axis in grid if axis.name not in outer)


def several(axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The axes that have more than one tile: only they order anything."""
    return tuple(axis for axis in axes if not axis.is_single)


def walked(path: Path) -> tuple[Axis, ...]:
    """The grid and the loops that have several tiles, without groups of blocks."""
    return several(finest(path.grid) + path.loops)


def resolved(index: Affine, named: Named) -> Affine:
    """The index over axes that have several values: one of a single tile is its origin."""
    total = Affine((), index.constant)
    for name, coefficient in index.terms:
        axis = named.get(name)
        one = Affine(((name, 1),))
        if axis is not None and axis.is_single:
            one = resolved(axis.origin, named)
        total = total + one.scaled(coefficient)
    return total


def axes_by_name(path: Path) -> dict[str, Axis]:
    """All axes of a path, lanes too."""
    return {axis.name: axis for axis in (*path.grid, *path.loops, *path.lanes)}


def is_absolute(axis: Axis, path: Path) -> bool:
    """True if the axis lies inside of all that it divides: it then counts indices, not steps.

    `reorder(xi, x)` puts xi outside, and lanes are inside of every loop.
    """
    named = axes_by_name(path)
    grid = {one.name for one in path.grid}
    outer: set[str] = set()
    for loop in path.loops:
        if loop.name == axis.name:
            break
        outer.add(loop.name)
    return all(
        name in grid or (name in outer and is_absolute(named[name], path))
        for name in resolved(axis.origin, named).labels
    )
