"""Counts the tiles, instances and lanes of a statement at given sizes."""

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property
from math import prod

from dtpoly.explore.accesses.ways import Fixed, Interval, Way, reached, way_of
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, several
from dtpoly.poly.model import Model, Statement

# What makes two ways the same: labels, those that are free, copies, and the axes themselves.
Key = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Walk:
    """A statement on its path at sizes. Statements of one loop share their way."""

    statement: Statement
    path: Path
    way: Way

    @property
    def extents(self) -> Mapping[str, int]:
        """How many indices each label has."""
        return self.way.extents

    @cached_property
    def labels(self) -> frozenset[str]:
        """The statement's own labels."""
        return frozenset(self.statement.labels)

    @cached_property
    def loops(self) -> tuple[Axis, ...]:
        """The loops of several iterations."""
        return several(self.path.loops)

    @cached_property
    def spans(self) -> Mapping[str, int]:
        """How many lanes a tile has along each label."""
        found = dict.fromkeys(self.statement.labels, 1)
        for axis in several(self.path.lanes):
            label = axis.index.plain
            if label in found:
                extent = self.extents[label] if axis.extent is None else axis.extent
                found[label] *= 1 << max(-(-extent // (axis.step or 1)) - 1, 0).bit_length()
        return found


def extents_of(model: Model, sizes: Mapping[str, int]) -> dict[str, int]:
    """How many indices each label has, also those that number the blocks of another one."""
    found = {label: sizes[label] for label in model.size_of if label in sizes}
    for label, part in model.parts.items():
        if part.of in found:
            found[label] = -(-found[part.of] // part.size)
    return found


def walk_of(
    statement: Statement, path: Path, extents: Mapping[str, int], known: dict[Key, Way]
) -> Walk:
    """How a statement is walked; ways that are known are not looked at again."""
    axes = tuple(map(id, (*path.grid, *path.loops)))
    key = (statement.labels, statement.free, statement.copies, axes)
    if key not in known:
        known[key] = way_of(statement, path, extents)
    return Walk(statement, path, known[key])


def reach(walk: Walk, fixed: Fixed) -> dict[str, Interval]:
    """The indices of each label, where some axes are known; of others, all that they walk."""
    known = dict(fixed)
    return {label: reached(walk.way, label, known) for label in walk.statement.labels}


class Along(Enum):
    """The ways to count along a label: its indices, its tiles, or whether there is anything."""

    INDICES = 0
    TILES = 1
    ONCE = 2


def total(walk: Walk, counted: Mapping[str, Along]) -> int:
    """The sum over all values of the outer axes of the product of what is counted of labels."""
    result = walk.way.alike
    for group in walk.way.groups:
        spans = [(counted[label], walk.spans[label]) for label in group.labels]
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
    return total(walk, dict.fromkeys(walk.statement.labels, Along.TILES))


def instances(walk: Walk) -> int:
    """How many instances a statement has, copies each counted."""
    return total(walk, dict.fromkeys(walk.statement.labels, Along.INDICES))


def steps_of(walk: Walk, label: str) -> int:
    """How many lanes a tile has along a label."""
    return walk.spans[label]


def lanes_of(walk: Walk, labels: Iterable[str]) -> int:
    """How many lanes a tile has along some labels."""
    return prod(walk.spans[label] for label in labels if label in walk.spans)
