"""A statement, its path and sizes in; which indices of each label some programs reach, out.

Everything is an interval: a block, a loop and the range that a private copy is needed for walk
indices without holes. So sums over all programs and iterations are sums over a few of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from functools import cached_property
from math import prod

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, axes_by_name, finest, several
from dtpoly.poly.coordinates import applies
from dtpoly.poly.model import Model, Statement

# At either end of an axis so many tiles are looked at one by one; those between are alike.
EDGE = 4


@dataclass(frozen=True, slots=True)
class Interval:
    """Whole numbers from `low` to `high`, both included; none if `high` is below."""

    low: int
    high: int

    @property
    def count(self) -> int:
        """How many."""
        return max(self.high - self.low + 1, 0)

    def meet(self, other: "Interval") -> "Interval":
        """What is in both."""
        return Interval(max(self.low, other.low), min(self.high, other.high))


Fixed = Mapping[str, Interval]  # axis -> where its tiles start


@dataclass(frozen=True)
class Walk:
    """A statement on its path at sizes: the axes that say how far each of its labels goes.

    `outer` axes tell executions of the statement apart: those of the grid, and loops of which
    each iteration has a copy of its own.
    """

    statement: Statement
    path: Path
    extents: Mapping[str, int]  # of labels
    named: Mapping[str, Axis]
    along: Mapping[str, tuple[Axis, ...]]  # label -> axes, outermost first
    outer: tuple[Axis, ...]
    depends: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @cached_property
    def loops(self) -> tuple[Axis, ...]:
        """The loops of several iterations."""
        return several(self.path.loops)

    @cached_property
    def groups(self) -> "tuple[Group, ...]":
        """Labels that no axis ties together are in groups of their own."""
        return tuple(_groups(self))

    @cached_property
    def alike(self) -> int:
        """How many values the outer axes have of which no label depends."""
        tied = frozenset[str]().union(*self.depends.values())
        free = (axis for axis in self.outer if axis.name not in tied)
        return prod(len(starts(self, axis, {})) for axis in free)

    @cached_property
    def spans(self) -> dict[str, int]:
        """How many lanes a tile has along each label."""
        return {label: _span(self, label) for label in self.along}


@dataclass(frozen=True, slots=True)
class Group:
    """Labels, and how many indices each has in tiles of the axes that they depend on.

    Each sample stands for as many tiles as its number says.
    """

    labels: tuple[str, ...]
    samples: tuple[tuple[int, tuple[int, ...]], ...]


def extents_of(model: Model, sizes: Mapping[str, int]) -> dict[str, int]:
    """How many indices each label has, also those that number the blocks of another one."""
    found = {label: sizes[label] for label in model.size_of if label in sizes}
    for label, part in model.parts.items():
        if part.of in found:
            found[label] = -(-found[part.of] // part.size)
    return found


def walk_of(statement: Statement, path: Path, extents: Mapping[str, int]) -> Walk:
    """How a statement is walked."""
    named = axes_by_name(path)
    grid = {axis.name for axis in path.grid}
    along = {
        label: tuple(
            axis
            for axis in named.values()
            if axis.index.plain == label
            and axis.name not in statement.copies
            and applies(axis, statement, axis.name in grid)
        )
        for label in statement.labels
    }
    copies = [named[name] for name in statement.copies if name in named]
    own = [a for axes in along.values() for a in axes if a.name in grid]
    wanted = {axis.name for axis in (*copies, *own)}
    groups = {name for axis in path.grid for name in axis.origin.labels} - {
        axis.name for axis in finest(path.grid)
    }
    outer = tuple(
        axis
        for axis in several(tuple(named.values()))
        if axis.name in wanted and axis.name not in groups
    )
    bare = Walk(statement, path, extents, named, along, outer)
    names = {axis.name for axis in outer}
    depends = {label: frozenset(names & _above(bare, axes)) for label, axes in along.items()}
    return Walk(statement, path, extents, named, along, outer, depends)


def _above(walk: Walk, axes: Iterable[Axis]) -> set[str]:
    """The axes, and all that their origins are given in."""
    found: set[str] = set()
    pending = list(axes)
    while pending:
        axis = pending.pop()
        if axis.name not in found:
            found.add(axis.name)
            pending.extend(walk.named[n] for n in axis.origin.labels if n in walk.named)
    return found


def reach(walk: Walk, fixed: Fixed) -> dict[str, Interval]:
    """The indices of each label, where some axes are known; of others, all that they walk."""
    known: dict[str, Interval] = dict(fixed)
    return {label: _reached(walk, label, known) for label in walk.along}


def _reached(walk: Walk, label: str, known: dict[str, Interval]) -> Interval:
    found = Interval(0, walk.extents[label] - 1)
    for axis in walk.along[label]:
        found = found.meet(_tiled(walk, axis, known))
    return found


def _tiled(walk: Walk, axis: Axis, known: dict[str, Interval]) -> Interval:
    """The indices that an axis walks."""
    if axis.name in known and not axis.is_single and axis.step:
        start = known[axis.name]
        return Interval(start.low, start.high + axis.step - 1)
    start = _image(walk, axis.origin, known)
    limit = axis.extent
    return Interval(start.low, start.high + limit - 1 if limit is not None else 1 << 62)


def _image(walk: Walk, value: Affine, known: dict[str, Interval]) -> Interval:
    low = high = value.constant
    for name, factor in value.terms:
        one = _start(walk, name, known)
        ends = sorted((factor * one.low, factor * one.high))
        low, high = low + ends[0], high + ends[1]
    return Interval(low, high)


def _start(walk: Walk, name: str, known: dict[str, Interval]) -> Interval:
    """Where the tiles of an axis start."""
    found = known.get(name)
    if found is None:
        axis = walk.named.get(name)
        found = Interval(0, 0) if axis is None else _starts(walk, axis, known)
        known[name] = found
    return found


def _starts(walk: Walk, axis: Axis, known: dict[str, Interval]) -> Interval:
    start = _image(walk, axis.origin, known)
    is_own = axis.name in walk.statement.copies or any(axis in a for a in walk.along.values())
    if axis.is_single or not axis.step or not is_own:
        return start
    last = walk.extents.get(axis.index.plain or "", 1) - 1
    if axis.extent is not None:
        last = min(last, start.high + axis.extent - 1)
    steps = max(last - start.high, 0) // axis.step
    return Interval(start.low, start.high + steps * axis.step)


# Sums over programs and iterations


def starts(walk: Walk, axis: Axis, fixed: Fixed) -> range:
    """Each tile of an axis, by where it starts."""
    interval = _starts(walk, axis, dict(fixed))
    last = walk.extents.get(axis.index.plain or "", 1) - 1
    if interval.low > last:
        return range(0)
    return range(interval.low, interval.high + 1, axis.step or 1)


def sample(tiles: range) -> Iterator[tuple[int, int]]:
    """Some of the tiles of an axis, each with how many are like it."""
    between = len(tiles) - 2 * EDGE
    if between <= 1:
        yield from ((tile, 1) for tile in tiles)
        return
    yield from ((tile, 1) for tile in tiles[:EDGE])
    yield tiles[EDGE], between
    yield from ((tile, 1) for tile in tiles[-EDGE:])


class Along(Enum):
    """What is counted of a label: its indices, its tiles, or whether there is anything."""

    INDICES = 0
    TILES = 1
    ONCE = 2


def total(walk: Walk, counted: Mapping[str, Along]) -> int:
    """The sum over all values of the outer axes of the product of what is counted of labels."""
    result = walk.alike
    for group in walk.groups:
        spans = [(counted[label], steps_of(walk, label)) for label in group.labels]
        if len(spans) == 1:
            ((along, span),) = spans
            result *= sum(many * _counted(one[0], along, span) for many, one in group.samples)
        else:
            result *= sum(
                many * prod(_counted(n, *span) for n, span in zip(one, spans, strict=True))
                for many, one in group.samples
            )
    return result


def _counted(indices: int, along: Along, span: int) -> int:
    match along:
        case Along.INDICES:
            return indices
        case Along.TILES:
            return -(-indices // span)
        case Along.ONCE:
            return 1 if indices else 0


def steps(walk: Walk) -> int:
    """How many tiles a statement has, in all programs together."""
    return total(walk, dict.fromkeys(walk.along, Along.TILES))


def instances(walk: Walk) -> int:
    """How many instances a statement has, copies each counted."""
    return total(walk, dict.fromkeys(walk.along, Along.INDICES))


def _groups(walk: Walk) -> Iterator[Group]:
    """The labels by the axes that tie them together, and how far they go in each tile of these."""
    labels = list(walk.along)
    while labels:
        group, axes = [labels.pop()], set[str]()
        while True:
            axes = set[str]().union(*(walk.depends[label] for label in group))
            more = [label for label in labels if walk.depends[label] & axes]
            if not more:
                break
            group += more
            labels = [label for label in labels if label not in more]
        together = [axis for axis in walk.outer if axis.name in axes]
        yield Group(tuple(group), tuple(_samples(walk, together, group, {}, 1)))


def _samples(
    walk: Walk, axes: list[Axis], labels: list[str], fixed: dict[str, Interval], times: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    if not axes:
        known = dict(fixed)
        yield times, tuple(_reached(walk, label, known).count for label in labels)
        return
    axis, rest = axes[0], axes[1:]
    for at, many in sample(starts(walk, axis, fixed)):
        place = {**fixed, axis.name: Interval(at, at)}
        yield from _samples(walk, rest, labels, place, times * many)


def steps_of(walk: Walk, label: str) -> int:
    """How many indices of a label a tile has."""
    return walk.spans[label]


def _span(walk: Walk, label: str) -> int:
    found = 1
    for axis in several(walk.path.lanes):
        if axis.index.plain == label:
            count = (
                walk.extents[label] if axis.extent is None else -(-axis.extent // (axis.step or 1))
            )
            found *= 1 << max(count - 1, 0).bit_length()
    return found


def lanes_of(walk: Walk, labels: Iterable[str]) -> int:
    """How many lanes a tile has along some labels."""
    return prod(steps_of(walk, label) for label in labels if label in walk.along)
