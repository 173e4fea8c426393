"""Loads and stores of a kernel in, accesses out: which element, where, and what is seen or left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dtpoly.verify import kinds, shifts, wrapping
from dtpoly.verify.access import Access, Array, Barrier
from dtpoly.verify.axes import shape_of
from dtpoly.verify.casts import brought
from dtpoly.verify.residues import settled
from dtpoly.verify.strides import indices_of
from dtpoly.verify.terms import Element, Literal, Term, choose
from dtpoly.verify.tiles import aligned
from dtpoly.verify.typed import meaning, of_tile
from dtpoly.verify.values import Item, Pointer, Tile, Unread, as_term, is_truth, lanes_of
from dtpoly.verify.whole import TRUE, Truth, Whole, both, compare, name, names_of, number

if TYPE_CHECKING:
    from dtpoly.verify.machine import Machine


def load(machine: Machine, pointer: Tile, mask: Tile | None, other: Tile | None, line: int) -> Tile:
    """What a load gives at each lane."""
    given = [one for one in (pointer, mask, other) if one is not None]
    axes, items = aligned(machine, given, line)
    address = items[0]
    if not isinstance(address, Pointer):
        raise Unread(line, "a load from what is not an address")
    # Triton spreads addresses along the axes of the mask, but not the mask along those of 'other';
    # and it takes a mask with axes for no single address.
    spread = (pointer,) if mask is None or not pointer.axes else (pointer, mask)
    if shape_of(machine, axes) != shape_of(machine, aligned(machine, spread, line)[0]):
        raise Unread(line, "a load whose mask, or 'other', has lanes that its addresses lack")
    where = TRUE if mask is None else _mask(items[1], line)
    inside = wrapping.unwrapped(address.offset)
    if inside.where != TRUE:
        # Beyond the end it is an element that does not matter; but there must be one.
        there = replace(address, offset=inside.outside)
        _remember(machine, "load", there, both(where, wrapping.beyond(inside)), axes, None, line)
        address = replace(address, offset=inside.inside)
    here = both(where, inside.where)
    number_of_load = len(machine.accesses) + 1
    array, indices = _remember(machine, "load", address, here, axes, None, line)
    at = tuple(name(one) for one in (*lanes_of(axes), *machine.loops))
    element: Term = Element(array.name, indices, number_of_load, at)
    if inside.where != TRUE:
        element = choose(inside.where, element, Literal("undefined"))
    others = [] if other is None else [_beside(array.kind, other)]
    meaning("load other" if others else "load", (array.kind, *others), line)
    if array.kind == kinds.BOOL and others not in ([], ["bool"], [kinds.BOOL], [kinds.TRUTH]):
        # Of 256, a byte is 0.
        raise Unread(line, "'other' beside truths that is not one: write True or False, or 0 or 1")
    if mask is None:
        return Tile(axes, element, array.kind)
    missing: Term = Literal("undefined")
    if other is not None:
        missing = brought(as_term(items[-1], line), other.kind, array.kind)
    return Tile(axes, choose(where, element, missing), array.kind)


def store(
    machine: Machine, kind: str, pointer: Tile, value: Tile, mask: Tile | None, line: int
) -> None:
    """Remember a store or an atomic operation."""
    given = [one for one in (pointer, value, mask) if one is not None]
    axes, items = aligned(machine, given, line)
    if shape_of(machine, axes) != shape_of(machine, pointer.axes) or not isinstance(
        items[0], Pointer
    ):
        raise Unread(line, "a store to what is not an address")
    where = TRUE if mask is None else _mask(items[2], line)
    held = machine.arrays[items[0].tensor].kind
    meaning(kind, (held, _beside(held, value)), line)
    left = brought(as_term(items[1], line), value.kind, held)
    if kind in ("atomic_max", "atomic_min"):
        left = settled(held, left)
    _remember(machine, kind, items[0], where, axes, left, line)


def _beside(held: str, tile: Tile) -> str:
    """The kind of a value that is brought to what memory holds.

    Beside truths, 0 and 1 as written are the same as False and True: one byte each.
    """
    is_bit = isinstance(tile.item, Whole) and tile.item.constant in (0, 1)
    return "bool" if is_bit and held == kinds.BOOL and tile.kind == kinds.WEAK else of_tile(tile)


def barrier(machine: Machine, line: int) -> None:
    """Note a barrier."""
    time = (*machine.time, machine.tick())
    machine.barriers.append(Barrier(machine.where, machine.loops, time, line))


def _remember(
    machine: Machine,
    kind: str,
    address: Pointer,
    where: Truth,
    axes: tuple[str | None, ...],
    value: Term | None,
    line: int,
) -> tuple[Array, tuple[Whole, ...]]:
    """Note an access; which element it is."""
    array = machine.arrays[address.tensor]
    if machine.trials:
        return array, tuple(number(0) for _ in array.strides)
    offset = shifts.along_strides(machine.shifts, array, address.offset)
    indices = indices_of(array, offset, line)
    time = (*machine.time, machine.tick())
    wraps = (one for index in indices for one in names_of(index) if one in machine.wraps)
    machine.accesses.append(
        Access(
            kind,
            array.name,
            indices,
            both(machine.where, where),
            (*lanes_of(axes), *dict.fromkeys(wraps)),
            machine.loops,
            time,
            line,
            value,
            len(machine.accesses) + 1 if kind == "load" else 0,
            address.parts,
        )
    )
    return array, indices


def _mask(item: Item, line: int) -> Truth:
    """A mask as a formula."""
    if isinstance(item, Whole):
        return compare("!=", item, number(0))
    if is_truth(item):
        return item
    raise Unread(line, "a mask that depends on data")
