"""Decides where each array lives: in a tile of registers, in scratch memory, or in memory."""

from collections.abc import Collection, Iterator, Mapping

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import resolved
from dtpoly.poly.model import Access, Array, Model, Statement
from dtpoly.poly.passing import axes_along, kept_beyond, reasons_for_memory
from dtpoly.poly.tiles import StatementTiles

# Ends the name of the array where an accumulator keeps the index of its best value so far, or
# where the indices of partial results are.
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
    """The places of all arrays: in memory, in scratch memory or in registers.

    Other kernels or the caller see those that are `stored`. For an array in scratch memory, `why`
    says why no tile of registers holds it.
    """

    registers: frozenset[str]
    scratch: Mapping[str, Scratch]
    stored: frozenset[str]
    why: Mapping[str, str]


def plan(
    model: Model,
    tiles: Mapping[str, StatementTiles],
    outputs: Collection[str],
    spilled: Collection[str] = (),
) -> Storage:
    """Return the place of every array that a statement writes; those in `spilled` get memory."""
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
            stored.update([array.name + INDEX] if array.is_paired else [])
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


def overwritten(model: Model, tiles: Mapping[str, StatementTiles], storage: Storage) -> str | None:
    """Return a loop's label whose iterations overwrite a copy that one of them still needs."""
    for writer in model.statements:
        array = writer.writes.array
        for reader in model.statements if array in storage.scratch else ():
            if reader is not writer and any(read.array == array for read in reader.reads):
                path, other = tiles[writer.name].path, tiles[reader.name].path
                if (label := kept_beyond(writer, path, other)) is not None:
                    return label
    return None


def _reasons(
    writers: list[Statement],
    readers: list[tuple[Statement, Access]],
    tiles: Mapping[str, StatementTiles],
) -> Iterator[str]:
    """Yield the reasons why one register tile cannot hold a Func's values."""
    for writer in writers:
        for reader, read in readers:
            if writer is not reader:
                yield from reasons_for_memory(
                    writer, tiles[writer.name].path, reader, tiles[reader.name].path, read
                )


def _scratch(array: Array, writer: StatementTiles) -> Scratch:
    named = writer.path.named
    extents: list[Extent] = []
    for dim in array.dims:
        axes = axes_along(dim, writer.statement, writer.path)
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
