"""Defines the axes of a schedule, and the path through them to a statement.

An axis walks tiles of an index: `value = origin + step * floor((index - origin) / step)`. The value
is absolute: it is an index, and not a number of steps. `origin` names the axis (grid, loop or
lanes) whose tile this axis divides, whatever the order of the loops.
"""

from collections.abc import Mapping
from functools import cached_property

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass

ZERO = Affine()


@dataclass(frozen=True, slots=True)
class Axis:
    """A grid axis, a loop or lanes: it walks the tiles of an index, from an origin on other axes.

    A user's primitive may set `time`, so that a loop counts something else than its coordinate,
    such as the sum of its coordinate and that of a loop around it.
    """

    name: str  # unique on every path
    label: str  # the name in the source
    index: Affine
    step: int | None = 1  # None if one tile holds all indices
    origin: Affine = ZERO
    # The number of indices from the origin; None if it ends with the label.
    extent: int | None = None
    # What a loop counts, over axes; None if it counts its own coordinate.
    time: Affine | None = None

    @property
    def value(self) -> Affine:
        """Return the coordinate of this axis, for use in the origin or the time of another one."""
        return Affine(((self.name, 1),))

    @property
    def is_backwards(self) -> bool:
        """True if a loop goes from the end of its index to the beginning."""
        return self.time == self.value.scaled(-1)

    @property
    def is_single(self) -> bool:
        """True if the axis has only one tile, so that its value is the origin."""
        return self.step is None or (self.extent is not None and self.step >= self.extent)


@dataclass(frozen=True)
class Path:
    """The path to a statement: axes and sequence positions, outermost first, then the lanes.

    `owners` are the Funcs to which the axes of the grid and of the loops belong. The properties are
    asked for hundreds of times, so they are cached.
    """

    kernel: int
    grid: tuple[Axis, ...]
    steps: tuple[Axis | int, ...]
    statement: str
    lanes: tuple[Axis, ...] = ()
    owners: tuple[str, ...] = ()
    # True if one launch computes this kernel together with the one before it.
    is_beside: bool = False

    @cached_property
    def loops(self) -> tuple[Axis, ...]:
        """Return the loops on the path."""
        return tuple(step for step in self.steps if isinstance(step, Axis))

    @cached_property
    def named(self) -> "Named":
        """Return all axes by name, with the lanes."""
        return {axis.name: axis for axis in (*self.grid, *self.loops, *self.lanes)}

    @cached_property
    def walked(self) -> tuple[Axis, ...]:
        """Return the axes with several tiles: those that tell programs apart, then the loops."""
        return several(finest(self.grid) + self.loops)

    @cached_property
    def absolute(self) -> frozenset[str]:
        """Return the axes, with the lanes, that lie inside all axes that they divide."""
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
    """Return the grid axes that tell programs apart; a group of blocks is known from its block."""
    outer = {label for axis in several(grid) for label in axis.origin.labels}
    return tuple(axis for axis in grid if axis.name not in outer)


def several(axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """Return the axes that have more than one tile: only these order anything."""
    return tuple(axis for axis in axes if not axis.is_single)


def resolved(index: Affine, named: Named) -> Affine:
    """Return the index over axes with several values.

    An axis of a single tile becomes its origin.
    """
    put = {
        name: resolved(named[name].origin, named)
        for name in index.labels
        if name in named and named[name].is_single
    }
    return index.substitute(put) if put else index


def is_absolute(axis: Axis, path: Path) -> bool:
    """True if the axis lies inside all axes that it divides, so that it counts indices.

    Otherwise it counts from its origin: `reorder(xi, x)` puts xi outside x. Lanes are inside every
    loop.
    """
    return axis.name in path.absolute
