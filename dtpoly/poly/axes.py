"""Axes of a schedule, and the way through them to a statement.

An axis walks tiles of an index: `value = origin + step * floor((index - origin) / step)`, which is
absolute. `origin` names the axis (grid, loop or lanes) whose tile this one divides, whatever the
order of loops.
"""

from collections.abc import Mapping
from functools import cached_property

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


@dataclass(frozen=True)
class Path:
    """The way to a statement: axes and sequence positions, outermost first, then its lanes.

    `owners` are the Funcs that the axes of the grid and the loops belong to. What follows from
    these is asked for hundreds of times, so that it is kept.
    """

    kernel: int
    grid: tuple[Axis, ...]
    steps: tuple[Axis | int, ...]
    statement: str
    lanes: tuple[Axis, ...] = ()
    owners: tuple[str, ...] = ()
    is_beside: bool = False  # one launch computes the kernel before this one, too

    @cached_property
    def loops(self) -> tuple[Axis, ...]:
        """The loops on the way."""
        return tuple(step for step in self.steps if isinstance(step, Axis))

    @cached_property
    def named(self) -> "Named":
        """All axes by name, lanes too."""
        return {axis.name: axis for axis in (*self.grid, *self.loops, *self.lanes)}

    @cached_property
    def walked(self) -> tuple[Axis, ...]:
        """The grid and the loops that have several tiles, without groups of blocks."""
        return several(finest(self.grid) + self.loops)

    @cached_property
    def absolute(self) -> frozenset[str]:
        """The axes, lanes too, that lie inside of all that they divide."""
        grid = {axis.name for axis in self.grid}
        inside: set[str] = set()

        def divides(axis: Axis) -> bool:
            outer = resolved(axis.origin, self.named).labels
            return all(name in grid or name in inside for name in outer)

        for loop in self.loops:
            if divides(loop):
                inside.add(loop.name)
        return frozenset(inside | {one.name for one in (*self.grid, *self.lanes) if divides(one)})


Named = Mapping[str, Axis]


def finest(grid: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The grid axes that tell programs apart: a group of several is known from its block."""
    outer = {label for axis in several(grid) for label in axis.origin.labels}
    return tuple(axis for axis in grid if axis.name not in outer)


def several(axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The axes that have more than one tile: only they order anything."""
    return tuple(axis for axis in axes if not axis.is_single)


def resolved(index: Affine, named: Named) -> Affine:
    """The index over axes that have several values: one of a single tile is its origin."""
    for name, _ in index.terms:
        if name in named and named[name].is_single:
            break
    else:
        return index
    total = Affine((), index.constant)
    for name, coefficient in index.terms:
        axis = named.get(name)
        one = Affine(((name, 1),))
        if axis is not None and axis.is_single:
            one = resolved(axis.origin, named)
        total = total + one.scaled(coefficient)
    return total


def is_absolute(axis: Axis, path: Path) -> bool:
    """True if the axis lies inside of all that it divides: it then counts indices, not steps.

    `reorder(xi, x)` puts xi outside, and lanes are inside of every loop.
    """
    return axis.name in path.absolute
