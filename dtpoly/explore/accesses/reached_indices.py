"""Computes which indices of each label the axes around a statement reach, at given sizes.

Everything is an interval: a block, a loop, and the range for which a private copy is needed walk
indices without holes. So a few samples give the sums over all programs and iterations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from math import prod

from dtpoly.algorithm.expressions import Affine, Term, division
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, finest, several
from dtpoly.poly.coordinates import applies
from dtpoly.poly.model import Statement

# This many tiles at either end of an axis are counted one by one; those between are alike.
EDGE = 4
UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Interval:
    """The whole numbers from `low` to `high`, both included.

    There are none if `high` is below `low`.
    """

    low: int
    high: int

    @property
    def count(self) -> int:
        """Return how many numbers there are."""
        return max(self.high - self.low + 1, 0)

    def meet(self, other: "Interval") -> "Interval":
        """Return the numbers that are in both intervals."""
        return Interval(max(self.low, other.low), min(self.high, other.high))


Fixed = Mapping[str, Interval]  # from an axis to where its tiles start


@dataclass(frozen=True)
class Way:
    """The grid and the loops around statements that have the same labels.

    The `outer` axes tell executions of a statement apart: those of the grid, and loops of which
    each iteration has a private copy. `last` is the last index of the label that an axis walks, for
    the axes of the statement itself and those of private copies.
    """

    extents: Mapping[str, int]  # of labels
    named: Mapping[str, Axis]
    along: Mapping[str, tuple[Axis, ...]]  # from a label to its axes, outermost first
    outer: tuple[Axis, ...]
    depends: Mapping[str, frozenset[str]]  # from a label to outer axes
    last: Mapping[str, int]

    @cached_property
    def groups(self) -> "tuple[LabelGroup, ...]":
        """Return the groups of labels.

        Labels that no axis ties together are in different groups.
        """
        return tuple(_groups(self))

    @cached_property
    def alike(self) -> int:
        """Return how many values the outer axes have together on which no label depends."""
        tied = frozenset[str]().union(*self.depends.values())
        free = (axis for axis in self.outer if axis.name not in tied)
        return prod(len(starts(self, axis, {})) for axis in free)


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """Labels, and how many indices each has in the tiles of the axes on which they depend.

    Each sample has the number of tiles for which it stands.
    """

    labels: tuple[str, ...]
    samples: tuple[tuple[int, tuple[int, ...]], ...]


def way_of(statement: Statement, path: Path, extents: Mapping[str, int]) -> Way:
    """Describe the grid and loops around a statement.

    Lanes lie inside the loops that they divide.
    """
    axes = (*path.grid, *path.loops)
    named = {axis.name: axis for axis in axes}
    grid = {axis.name for axis in path.grid}
    copies = {name for name in statement.copies if name in named}
    along: dict[str, list[Axis]] = {label: [] for label in statement.labels}
    for axis in axes:
        label = axis.index.plain
        is_mine = axis.name not in copies and applies(axis, statement, axis.name in grid)
        if label in along and is_mine:
            along[label].append(axis)
    own = {axis.name for found in along.values() for axis in found}
    known = {axis.name for axis in finest(path.grid)}
    outer = tuple(
        axis
        for axis in several(axes)
        if axis.name in copies or (axis.name in own and axis.name in grid)
        if axis.name in known or axis.name not in grid
    )
    names = {axis.name for axis in outer}
    return Way(
        extents,
        named,
        {label: tuple(found) for label, found in along.items()},
        outer,
        {label: frozenset(names & _above(named, found)) for label, found in along.items()},
        {
            name: extents.get(named[name].index.plain or "", 1) - 1
            for name in own | copies
            if not named[name].is_single
        },
    )


def _above(named: Mapping[str, Axis], axes: Iterable[Axis]) -> set[str]:
    """Return the names of the axes, with those of all axes that their origins depend on."""
    found: set[str] = set()
    pending = list(axes)
    while pending:
        axis = pending.pop()
        if axis.name not in found:
            found.add(axis.name)
            pending.extend(named[n] for n in axis.origin.labels if n in named)
    return found


def reached(way: Way, label: str, known: dict[str, Interval]) -> Interval:
    """Return the indices of a label if some axes are fixed; all other axes walk all their tiles."""
    low, high = 0, way.extents[label] - 1
    for axis in way.along[label]:
        start = known.get(axis.name)
        if start is not None and axis.name in way.last:
            width = axis.step or 1
        else:
            start = _image(way, axis.origin, known)
            width = axis.extent or UNLIMITED
        low, high = max(low, start.low), min(high, start.high + width - 1)
    return Interval(low, high)


def _image(way: Way, value: Affine, known: dict[str, Interval]) -> Interval:
    return interval_of(value, lambda name: _start(way, name, known))


def interval_of(index: Affine, of: Callable[[str], Interval]) -> Interval:
    """Return the least and the largest value of an index, given those of its names."""
    low = high = index.constant
    for term, factor in index.terms:
        one = interval_of_term(term, of)
        first, last = sorted((factor * one.low, factor * one.high))
        low, high = low + first, high + last
    return Interval(low, high)


def interval_of_term(term: Term, of: Callable[[str], Interval]) -> Interval:
    """Return the values of a term: those of a quotient or a remainder have no holes."""
    if isinstance(term, str):
        return of(term)
    term = division(term)
    inner, by = interval_of(term.inner, of), term.divisor
    if term.operator == "//":
        return Interval(inner.low // by, inner.high // by)
    if inner.low // by == inner.high // by:
        return Interval(inner.low % by, inner.high % by)
    return Interval(0, min(by, inner.count) - 1)


def _start(way: Way, name: str, known: dict[str, Interval]) -> Interval:
    """Return where the tiles of an axis start."""
    found = known.get(name)
    if found is None:
        axis = way.named.get(name)
        found = Interval(0, 0) if axis is None else _starts(way, axis, known)
        known[name] = found
    return found


def _starts(way: Way, axis: Axis, known: dict[str, Interval]) -> Interval:
    start = _image(way, axis.origin, known)
    last = way.last.get(axis.name)
    if last is None or not axis.step:
        return start
    if axis.extent is not None:
        last = min(last, start.high + axis.extent - 1)
    steps = max(last - start.high, 0) // axis.step
    return Interval(start.low, start.high + steps * axis.step)


def starts(way: Way, axis: Axis, fixed: Fixed) -> range:
    """Return the starts of the tiles of an axis."""
    interval = _starts(way, axis, dict(fixed))
    if interval.low > way.last.get(axis.name, interval.low):
        return range(0)
    return range(interval.low, interval.high + 1, axis.step or 1)


def _groups(way: Way) -> Iterator[LabelGroup]:
    """Group the labels by the axes that tie them together, and count their indices in each tile."""
    labels = list(way.along)
    while labels:
        group, axes = [labels.pop()], set[str]()
        while True:
            axes = set[str]().union(*(way.depends[label] for label in group))
            more = [label for label in labels if way.depends[label] & axes]
            if not more:
                break
            group += more
            labels = [label for label in labels if label not in more]
        together = [axis for axis in way.outer if axis.name in axes]
        yield LabelGroup(tuple(group), tuple(_samples(way, together, group, {}, 1)))


def _samples(
    way: Way, axes: list[Axis], labels: list[str], fixed: dict[str, Interval], times: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    if not axes:
        known = dict(fixed)
        yield times, tuple(reached(way, label, known).count for label in labels)
        return
    axis, rest = axes[0], axes[1:]
    for at, many in sample(starts(way, axis, fixed)):
        place = {**fixed, axis.name: Interval(at, at)}
        yield from _samples(way, rest, labels, place, times * many)


def sample(tiles: range) -> Iterator[tuple[int, int]]:
    """Yield some of the tiles of an axis, each with the number of tiles that are like it."""
    between = len(tiles) - 2 * EDGE
    if between <= 1:
        yield from ((tile, 1) for tile in tiles)
        return
    yield from ((tile, 1) for tile in tiles[:EDGE])
    yield tiles[EDGE], between
    yield from ((tile, 1) for tile in tiles[-EDGE:])
