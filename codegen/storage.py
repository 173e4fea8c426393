"""Tiles of all kernels in, where each array lives out: a register tile, scratch, or memory."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from dtpoly.algorithm.expressions import Affine, Read, walk
from dtpoly.poly.axes import Axis, Path, axes_by_name, is_absolute, resolved
from dtpoly.poly.model import Access, Array, Model, Statement
from dtpoly.poly.tiles import Tiles

# After the name of an accumulator: where it keeps the index of the best value so far.
INDEX = "!index"


@dataclass(frozen=True, slots=True)
class Extent:
    """The part of a label that one program keeps: from an origin, so many; None for all of it."""

    label: str
    origin: Affine
    count: int | None


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory of which each program has its own slice, used again by every iteration."""

    array: str
    kernel: int
    extents: tuple[Extent, ...]


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the arrays live. `stored` ones are seen by other kernels or by the caller.

    `why` says of what is in scratch why no tile of registers holds it.
    """

    registers: frozenset[str]
    scratch: Mapping[str, Scratch]
    stored: frozenset[str]
    why: Mapping[str, str]


def plan(
    model: Model,
    tiles: Mapping[str, Tiles],
    outputs: Collection[str],
    spilled: Collection[str] = (),
) -> Storage:
    """The place of every array that a statement writes; those in `spilled` get memory."""
    registers: set[str] = set()
    scratch: dict[str, Scratch] = {}
    stored: set[str] = set()
    why: dict[str, str] = {}
    for array in model.arrays.values():
        writers = [s for s in model.statements if s.writes.array == array.name]
        if not writers:
            continue
        home = tiles[writers[0].name].path.kernel
        readers = [(s, r) for s in model.statements for r in s.reads if r.array == array.name]
        inside = [(s, r) for s, r in readers if tiles[s.name].path.kernel == home]
        is_shared = array.name in outputs or len(inside) < len(readers)
        kernels = {tiles[s.name].path.kernel for s in writers}
        if is_shared or len(kernels) > 1 or any(s.is_atomic for s in writers):
            stored.add(array.name)
        if not inside or any(s.is_atomic for s in writers):
            continue
        reason = next(_reasons(writers, inside, tiles), None)
        if array.name in spilled:
            reason = "it is needed where its tile cannot be seen"
        if reason is None:
            registers.add(array.name)
        elif array.name not in stored:
            scratch[array.name] = _scratch(array, tiles[writers[0].name])
            why[array.name] = reason
            if array.name + INDEX in model.arrays:
                scratch[array.name + INDEX] = _scratch(array, tiles[writers[0].name])
    return Storage(frozenset(registers), scratch, frozenset(stored), why)


def _reasons(
    writers: list[Statement], readers: list[tuple[Statement, Access]], tiles: Mapping[str, Tiles]
) -> Iterator[str]:
    """Why one register tile does not hold what is live, if it does not."""
    for writer in writers:
        for reader, read in readers:
            if writer is not reader:
                yield from _reason(tiles[writer.name], tiles[reader.name], read)


def _reason(writer: Tiles, reader: Tiles, read: Access) -> Iterator[str]:
    array = writer.statement.writes
    dims = {label for index in array.indices for label in index.labels}
    for axis in _own_loops(writer.path, reader.path):
        if axis.label in dims or axis.name in writer.statement.copies:
            yield f"it is written tile by tile along '{axis.label}' before it is read"
    if _is_padded(reader.statement, array.array):
        yield "it is read with padding, which looks at memory"
    for written, index in zip(array.indices, read.indices, strict=True):
        if index.plain is None or written.plain is None:
            yield "it is read at other indices than it is written at"
        elif _position(written.plain, writer) != _position(index.plain, reader):
            yield f"it is read in other tiles along '{index.plain}' than it is written in"


def _is_padded(reader: Statement, array: str) -> bool:
    """Whether a statement reads an array, some of whose indices may be outside."""
    nodes = () if reader.body is None else walk(reader.body)
    return any(isinstance(n, Read) and n.tensor == array and n.padding is not None for n in nodes)


def _own_loops(path: Path, other: Path) -> tuple[Axis, ...]:
    """Loops of several iterations that only the first path is in."""
    common = 0
    for one, two in zip(path.steps, other.steps, strict=False):
        if one != two:
            break
        common += 1
    rest = path.steps[common:]
    return tuple(s for s in rest if isinstance(s, Axis) and not s.is_single)


def _position(label: str, tiles: Tiles) -> tuple[Affine, tuple[tuple[int, int | None], ...]]:
    """Where a tile starts along a label, and its lanes."""
    named = axes_by_name(tiles.path)
    lanes = tiles.of_label(label)
    axes = _axes_of(label, tiles)
    walked = {one.axis for one in lanes}
    start = Affine()
    for axis in axes:
        if axis.name not in walked and not axis.is_single:
            start = start + Affine(((axis.name, 1),))
    if start == Affine() and axes:
        start = resolved(axes[0].origin, named)
    if any(not is_absolute(named[name], tiles.path) for name in start.labels if name in named):
        # It counts from what it divides: the same name may mean another place elsewhere.
        start = start + Affine(((tiles.name, 1),))
    return start, tuple((one.step, one.count) for one in lanes)


def _axes_of(label: str, tiles: Tiles) -> list[Axis]:
    """The statement's own loops and lanes along a label."""
    path, func = tiles.path, tiles.statement.func
    owned = zip((*path.grid, *path.loops), path.owners, strict=True)
    loops = [axis for axis, owner in owned if owner == func and axis not in path.grid]
    copies = tiles.statement.copies
    axes = (*loops, *path.lanes)
    return [a for a in axes if a.index.plain == label and a.name not in copies]


def _scratch(array: Array, writer: Tiles) -> Scratch:
    named = axes_by_name(writer.path)
    extents: list[Extent] = []
    for dim in array.dims:
        axes = _axes_of(dim, writer)
        own = {axis.name for axis in axes}
        # The one that divides no other one of them: `reorder` may have put it inside.
        outer = next((a for a in axes if not own & set(a.origin.labels)), None)
        if outer is None or outer.extent is None:
            extents.append(Extent(dim, Affine(), None))
        else:
            # Whole tiles: a copy may write more elements than are read.
            span = max((lanes.span or 1 for lanes in writer.of_label(dim)), default=1)
            count = -(-outer.extent // span) * span
            extents.append(Extent(dim, resolved(outer.origin, named), count))
    return Scratch(array.name, writer.path.kernel, tuple(extents))
