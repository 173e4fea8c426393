"""Counts the tiles, instances and lanes of a statement at given sizes."""

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property
from math import prod

from dtpoly.algorithm.expressions import Dot, Read, Reshape, free_labels
from dtpoly.explore.accesses.consecutive_parts import mean_lengths
from dtpoly.explore.accesses.range_shares import TakenTiles, share
from dtpoly.explore.accesses.reached_indices import Fixed, Interval, Way, reached, way_of
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, several
from dtpoly.poly.model import Model, Statement

LEAST_LANES = 16  # of all indices of a label, whatever its size

# Two ways are equal if these are: all labels, the free ones, the copies, and the axes themselves.
Key = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[int, ...]]


@dataclass(frozen=True)
class StatementWalk:
    """A statement on its path, at given sizes; the statements of one loop share their way.

    Where loops are joined, `joined` names those around the statement as they are then.
    """

    statement: Statement
    path: Path
    way: Way
    joined: tuple[str, ...] = ()

    @property
    def extents(self) -> Mapping[str, int]:
        """Return how many indices each label has."""
        return self.way.extents

    @cached_property
    def labels(self) -> frozenset[str]:
        """Return the labels of the statement."""
        return frozenset(self.statement.labels)

    @cached_property
    def loops(self) -> tuple[Axis, ...]:
        """Return the loops that have several iterations."""
        return several(self.path.loops)

    @cached_property
    def parts(self) -> Mapping[str, int]:
        """Return how many indices of a label one program walks in the mean, where data say it."""
        return mean_lengths(self.statement.body, self.extents)

    @property
    def nest(self) -> tuple[str, ...]:
        """Return the names of the loops around the statement in the emitted kernel."""
        return self.joined or tuple(axis.name for axis in self.loops)

    @cached_property
    def spans(self) -> Mapping[str, int]:
        """Return how many lanes a tile has along each label."""
        found = dict.fromkeys(self.statement.labels, 1)
        for axis in several(self.path.lanes):
            label = axis.index.plain
            if label in found:
                # A matrix unit wants 16, so the text has as many where it does not know the size.
                whole = max(self.extents[label], LEAST_LANES)
                extent = whole if axis.extent is None else axis.extent
                found[label] *= 1 << max(-(-extent // (axis.step or 1)) - 1, 0).bit_length()
        return found


def extents_of(model: Model, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return how many indices each label has; a label may number the blocks of another one."""
    found = {label: sizes[label] for label in model.size_of if label in sizes}
    for label, part in model.parts.items():
        if part.of in found:
            found[label] = -(-found[part.of] // part.size)
    return found


def walk_of(
    statement: Statement, path: Path, extents: Mapping[str, int], known: dict[Key, Way]
) -> StatementWalk:
    """Return the walk of a statement; ways that are already known are not computed again."""
    axes = tuple(map(id, (*path.grid, *path.loops)))
    key = (statement.labels, statement.free, statement.copies, axes)
    if key not in known:
        known[key] = way_of(statement, path, extents)
    return StatementWalk(statement, path, known[key])


def reach(walk: StatementWalk, fixed: Fixed) -> dict[str, Interval]:
    """Return the indices of each label if some axes are fixed.

    All other axes walk all their tiles.
    """
    known = dict(fixed)
    return {label: reached(walk.way, label, known) for label in walk.statement.labels}


class CountedAlong(Enum):
    """The unit that is counted along a label: its indices, its tiles, or just one if it has any."""

    INDICES = 0
    TILES = 1
    ONCE = 2


def total(walk: StatementWalk, counted: Mapping[str, CountedAlong]) -> int:
    """Sum a product over all values of the outer axes, of what is in the ranges of labels.

    The factors are the counts along the labels.
    """
    found = _total(walk, counted)
    if not walk.statement.taken:
        return found
    labels = walk.statement.labels
    single = {label for label in labels if counted[label] is CountedAlong.INDICES}
    spans = tuple((label, 1 if label in single else walk.spans[label]) for label in labels)
    return round(found * _share(walk, spans, TakenTiles.SOME))


def _share(walk: StatementWalk, spans: tuple[tuple[str, int], ...], which: TakenTiles) -> float:
    return share(walk.statement.taken, tuple(sorted(walk.extents.items())), spans, which)


def cut_steps(walk: StatementWalk) -> int:
    """Return how many tiles a statement has through which the range of a reduced label goes."""
    if not walk.statement.is_over_range:
        return 0
    every = _total(walk, dict.fromkeys(walk.statement.labels, CountedAlong.TILES))
    spans = tuple(walk.spans.items())
    some, whole = (_share(walk, spans, which) for which in (TakenTiles.SOME, TakenTiles.ALL))
    return round(every * (some - whole))


def goes_by_index(walk: StatementWalk, body: Dot) -> bool:
    """Return whether the tiles of a product that a range cuts are added up index by index.

    They are where what is left out are lanes of neither operand, or an operand is computed. Else
    these lanes of an operand are 0, the tile is multiplied whole, and it is added up again only if
    there is a nan in it.
    """
    if not all(isinstance(side, Read | Reshape) for side in (body.left, body.right)):
        return True
    sides = [{*free_labels(side)} for side in (body.left, body.right)]
    named = ({*one.labels} & {*walk.statement.labels} for one in walk.statement.taken)
    return not all(any(labels <= side for side in sides) for labels in named)


def _total(walk: StatementWalk, counted: Mapping[str, CountedAlong]) -> int:
    result = walk.way.alike
    parts = walk.parts
    for group in walk.way.groups:
        spans = [(counted[x], walk.spans[x], parts.get(x)) for x in group.labels]
        if len(spans) == 1:
            ((along, span, part),) = spans
            result *= sum(many * _counted(one[0], along, span, part) for many, one in group.samples)
        else:
            result *= sum(
                many * prod(_counted(n, *span) for n, span in zip(one, spans, strict=True))
                for many, one in group.samples
            )
    return result


def _counted(indices: int, along: CountedAlong, span: int, part: int | None) -> int:
    if part is not None:
        indices = min(indices, part)
    match along:
        case CountedAlong.INDICES:
            return indices
        case CountedAlong.TILES:
            return -(-indices // span)
        case CountedAlong.ONCE:
            return 1 if indices else 0


def trips(walk: StatementWalk, axis: Axis) -> int:
    """Return how many iterations a loop has each time that it is entered."""
    extent = axis.extent
    if extent is None:
        label = axis.index.plain or ""
        extent = min(walk.extents.get(label, 1), walk.parts.get(label, walk.extents.get(label, 1)))
    return max(-(-extent // (axis.step or 1)), 1)


def steps(walk: StatementWalk) -> int:
    """Return how many tiles a statement has in all programs together."""
    return total(walk, dict.fromkeys(walk.statement.labels, CountedAlong.TILES))


def instances(walk: StatementWalk) -> int:
    """Return how many instances a statement has; each private copy counts."""
    return total(walk, dict.fromkeys(walk.statement.labels, CountedAlong.INDICES))


def steps_of(walk: StatementWalk, label: str) -> int:
    """Return how many lanes a tile has along a label."""
    return walk.spans[label]


def lanes_of(walk: StatementWalk, labels: Iterable[str]) -> int:
    """Return how many lanes a tile has along some labels."""
    return prod(walk.spans[label] for label in labels if label in walk.spans)
