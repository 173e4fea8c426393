"""Checks that the lanes which compute unneeded parts of a private copy read only valid memory.

A mask cannot say "every second lane", so the lanes between compute, too. Nobody reads their
results, but they do read. The memory of another copy begins at the first element that is needed and
goes on to the end of a tile. Any other tensor reaches as far as the sizes of its labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Access
from dtpoly.poly.spaces import affs, to_map
from dtpoly.poly.tiles import StatementTiles


def copies_read(tiles: StatementTiles) -> Iterator[Access]:
    """Yield the reads of private copies of other Funcs."""
    writes = tiles.statement.writes.array
    for read in tiles.statement.reads:
        if "@" in read.array and _func(read.array) != _func(writes):
            yield read


def within_sizes(
    tiles: StatementTiles, lanes: tuple[str, ...], size_of: Mapping[str, str], of: isl.Set
) -> isl.Set:
    """Return the lanes whose labels have such indices.

    Their reads of inputs and kernels are valid.
    """
    known = affs(of.get_space())
    result = isl.Set.universe(of.get_space())
    for label in tiles.statement.labels:
        if label in lanes and label in size_of:
            index = known[label]
            result = result & index.ge_set(known[0]) & index.lt_set(known[size_of[label]])
    return result


def reads_what_is_there(
    tiles: StatementTiles, lanes: tuple[str, ...], needed: isl.Set, computed: isl.Set
) -> bool:
    """True if the computed lanes read nothing of a copy before what the needed lanes read.

    `lanes` are the names of the dims of lanes, which both sets have after those of the tile.
    """
    if computed.is_subset(needed):
        return True
    for read in copies_read(tiles):
        if not set(lanes) <= set(tiles.statement.labels):
            # With several axes of lanes along a label, the index of a lane is not known.
            return False
        element = _instances(tiles, lanes, needed).apply_range(read.relation)
        used = needed.apply(element), computed.apply(element)
        count = used[0].dim(isl.dim_type.set) - len(read.indices)
        if not all(_is_behind(*used, count, at) for at in range(len(read.indices))):
            return False
    return True


def _func(array: str) -> str:
    return array.split("@")[0].split(".")[0]


def _instances(tiles: StatementTiles, lanes: tuple[str, ...], some: isl.Set) -> isl.Map:
    """Return the relation `[tile, lanes] -> instance`.

    Each label has the index of its lane, or of its tile.
    """
    of = affs(some.get_space())
    dims = tiles.statement.dims
    values = [of[name] if name in lanes else of[f"{name}^"] for name in dims]
    return to_map(some.get_space(), tiles.statement.name, dims, values)


def _is_behind(needed: isl.Set, computed: isl.Set, copies: int, at: int) -> bool:
    """True if no computed element of a copy has an index before the least needed one."""
    one, two = (_index(elements, copies, at) for elements in (needed, computed))
    return bool(two.is_subset(one.apply_range(isl.Map.lex_le(one.get_space().range()))))


def _index(elements: isl.Set, copies: int, at: int) -> isl.Map:
    """Return the relation `copy -> index`."""
    plain = elements.reset_tuple_id()
    last = plain.dim(isl.dim_type.set) - copies - at - 1
    plain = plain.project_out(isl.dim_type.set, copies + at + 1, last)
    plain = plain.project_out(isl.dim_type.set, copies, at)
    return isl.Map.from_range(plain).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, copies)
