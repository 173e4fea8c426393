"""Record the loads, stores, atomic operations and barriers of a kernel as `Access`es.

The calls of Triton that touch memory end here. Each becomes an access that says which element of
which tensor is meant, and under which condition. A load also gives a term that stands for the
loaded value: which store it sees is found later (see memory).
"""

from __future__ import annotations

from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import brought
from dtpoly.verify.algebra.kernel_values import (
    Item,
    NoneValue,
    PointerValue,
    Radix,
    TileValue,
    Unread,
    as_term,
    is_truth,
    lanes_of,
)
from dtpoly.verify.algebra.residues import settled
from dtpoly.verify.algebra.terms import Element, Index, Literal, Term, choose
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    number,
)
from dtpoly.verify.triton import shifts
from dtpoly.verify.triton import wrapped_lanes as wrapping
from dtpoly.verify.triton.access import (
    KernelAccess,
    KernelBarrier,
    KernelTensor,
    ScatteredStore,
)
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.data_indices import LoadMask, indices_with, limits, mask_of, named
from dtpoly.verify.triton.data_names import DataReading, data_of, has_data
from dtpoly.verify.triton.gathering import ATOMIC
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.product_axes import shape_of
from dtpoly.verify.triton.strides import indices_of
from dtpoly.verify.triton.typed_operations import meaning, of_tile

# What a store gives.
NOTHING = NoneValue()


@dataclass(frozen=True, slots=True)
class CalledAccess:
    """A call that touches memory: its tile of addresses, and where lanes take part in it."""

    kind: str
    address: PointerValue
    where: Truth
    axes: tuple[str | None, ...]
    line: int
    # What is stored or added; nothing for a load.
    value: Term | None = None
    # The mask taken apart, if data may be in it.
    mask: LoadMask | None = None


def load(
    state: KernelState,
    pointer: TileValue,
    mask: TileValue | None,
    other: TileValue | None,
    line: int,
) -> TileValue:
    """Record a load and return its value at each lane.

    Where the mask is false, the value is `other`, or undefined if there is no `other`.
    """
    given = [one for one in (pointer, mask, other) if one is not None]
    axes, items = aligned(state, given, line)
    address = items[0]
    if not isinstance(address, PointerValue):
        raise Unread(line, "a load from what is not an address")
    # Triton broadcasts addresses along the axes of the mask. It does not broadcast the mask along
    # the axes of 'other', and a single address cannot have a mask with axes.
    spread = (pointer,) if mask is None or not pointer.axes else (pointer, mask)
    if shape_of(state, axes) != shape_of(state, aligned(state, spread, line)[0]):
        raise Unread(line, "a load whose mask, or 'other', has lanes that its addresses lack")
    held = LoadMask() if mask is None else _taken_apart(state, items[1], line)
    where = held.where
    address = wrapping.under_mask(state, address, where)
    inside = wrapping.unwrapped(state, address.offset)
    if inside.where != TRUE:
        # The index is a remainder by a size. Beyond the end the loaded element does not matter,
        # but the tensor must have one: so that is recorded as a load of its own.
        there = replace(address, offset=inside.outside)
        if held.data or address.data:
            raise Unread(line, "a remainder by a size beside data in an address")
        beyond = both(where, wrapping.beyond(inside))
        _remember(state, CalledAccess("load", there, beyond, axes, line))
        address = replace(address, offset=inside.inside)
    here = both(where, inside.where)
    number_of_load = len(state.accesses) + 1
    if not state.is_valued:
        _note_when_loaded(state, number_of_load, axes, _named_mask(state, held, line))
    array, indices = _remember(state, CalledAccess("load", address, here, axes, line, mask=held))
    at = tuple(name(one) for one in (*lanes_of(axes), *state.loops))
    element: Term = Element(array.name, indices, number_of_load, at)
    if inside.where != TRUE:
        element = choose(inside.where, element, Literal("undefined"))
    others = [] if other is None else [_beside(array.kind, other)]
    meaning("load other" if others else "load", (array.kind, *others), line)
    if array.kind == kinds.BOOL and others not in ([], ["bool"], [kinds.BOOL], [kinds.TRUTH]):
        # A truth is stored as one byte, and the byte of 256, for example, is 0.
        raise Unread(line, "'other' beside truths that is not one: write True or False, or 0 or 1")
    if mask is None:
        return TileValue(axes, element, array.kind)
    missing: Term = Literal("undefined")
    if other is not None:
        if items[-1] == where != TRUE and array.kind != kinds.BOOL:
            missing = Literal("0")  # where the mask is false, the mask as a number is 0
        else:
            missing = brought(as_term(items[-1], line), other.kind, array.kind)
    return TileValue(axes, held.chosen(element, missing), array.kind)


def _note_when_loaded(
    state: KernelState, load_number: int, axes: tuple[str | None, ...], mask: Truth
) -> None:
    """Note the condition under which elements are loaded, over the lanes and loops of the load.

    A load in a branch, or in a loop that has no iteration, may not happen at all.
    """
    around = (state.ranges[one] for one in state.loops if one in state.ranges)
    own = (*lanes_of(axes), *state.loops)
    state.loaded[load_number] = (own, both(mask, state.where, *around))


def store(
    state: KernelState,
    kind: str,
    pointer: TileValue,
    value: TileValue,
    mask: TileValue | None,
    line: int,
) -> None:
    """Remember a store or an atomic operation."""
    given = [one for one in (pointer, value, mask) if one is not None]
    axes, items = aligned(state, given, line)
    if shape_of(state, axes) != shape_of(state, pointer.axes) or not isinstance(
        items[0], PointerValue
    ):
        raise Unread(line, "a store to what is not an address")
    found: LoadMask | None = None
    if not state.is_valued or (items[0].data and kind in ("store", "atomic_add")):
        found = LoadMask() if mask is None else _taken_apart(state, items[2], line)
        where = found.where
    else:
        where = TRUE if mask is None else _mask(items[2], line)
    held = state.arrays[items[0].tensor].kind
    word = kind if kind in ATOMIC else "store"
    meaning(word, (held, _beside(held, value)), line)
    left = brought(as_term(items[1], line), value.kind, held)
    if kind in ("atomic_max", "atomic_min"):
        left = settled(held, left)
    if both(state.where, where) == FALSE:
        return  # it stands in a branch that the numbers of a launch leave out
    address = wrapping.under_mask(state, items[0], where)
    _remember(state, CalledAccess(kind, address, where, axes, line, left, found))


def _beside(held: str, tile: TileValue) -> str:
    """Return the kind of a value that is brought to the type that memory holds.

    If memory holds truths, a 0 or 1 as written counts as False or True: each is the same byte.
    """
    is_bit = isinstance(tile.item, Whole) and tile.item.constant in (0, 1)
    return "bool" if is_bit and held == kinds.BOOL and tile.kind == kinds.WEAK else of_tile(tile)


def barrier(state: KernelState, line: int) -> None:
    """Record a barrier."""
    time = (*state.time, state.tick())
    around = (state.ranges[one] for one in state.loops if one in state.ranges)
    if has_data(state, state.where, *around):
        return  # no one knows whether the program comes by
    state.barriers.append(KernelBarrier(state.where, state.loops, time, line))


def _remember(state: KernelState, call: CalledAccess) -> tuple[KernelTensor, tuple[Index, ...]]:
    """Record an access, and return the tensor and the indices of the element.

    While a loop is being tried out, nothing is recorded and the indices are zeros.
    """
    address, where, mask, line = call.address, call.where, call.mask, call.line
    array = state.arrays[address.tensor]
    if state.trials:
        return array, tuple(number(0) for _ in array.strides)
    if not state.is_valued:
        return array, _remember_named(state, call)
    offset = state.digits.in_coordinates(address.offset, array.shape)
    offset = shifts.along_strides(state.shifts, array, offset)
    known = indices_of(state.run, array, offset, line)
    meant = indices_with(array, known, address.data, line)
    data = named(state, meant)
    indices = tuple(one if isinstance(one, Whole) else name(data[one]) for one in meant)
    if mask is None and data:
        raise Unread(line, "a store at an address that is data")
    plainly = both(state.where, where)
    if mask is not None:
        where = both(where, limits(mask, data, line))
    tests = () if mask is None else mask.data
    scattered = ScatteredStore(meant, plainly, tests, tuple(data.values())) if data else None
    time = (*state.time, state.tick())
    wraps = (one for index in indices for one in names_of(index) if one in state.wraps)
    state.accesses.append(
        KernelAccess(
            call.kind,
            array.name,
            indices=indices,
            where=both(state.where, where),
            lanes=(*lanes_of(call.axes), *dict.fromkeys(wraps), *data.values()),
            loops=state.loops,
            time=time,
            line=line,
            value=call.value,
            load=len(state.accesses) + 1 if call.kind == "load" else 0,
            parts=address.parts,
            scattered=None if call.kind == "load" else scattered,
            shape=shape_of(state, call.axes),
        )
    )
    return array, meant


def _remember_named(state: KernelState, call: CalledAccess) -> tuple[Index, ...]:
    """Record an access where no values are compared: data in it have names."""
    address, mask, line = call.address, call.mask, call.line
    array = state.arrays[address.tensor]
    here = both(state.where, call.where)
    if mask is not None and mask.data:
        here = both(here, _named_mask(state, LoadMask(data=mask.data), line))
    reading = DataReading(state, here, line)
    moved = [reading.added(one, array.name) for one in address.data]
    offset = state.digits.in_coordinates(address.offset, array.shape)
    offset = shifts.along_strides(state.shifts, array, offset)
    for one in moved:
        offset = offset + one
    indices = indices_of(state.run, array, offset, line)
    wraps = (one for index in indices for one in names_of(index) if one in state.wraps)
    lanes = (*lanes_of(call.axes), *dict.fromkeys(wraps))
    around = (state.ranges[one] for one in (*lanes, *state.loops) if one in state.ranges)
    state.accesses.append(
        KernelAccess(
            call.kind,
            array.name,
            indices=indices,
            where=here,
            lanes=lanes,
            loops=state.loops,
            time=(*state.time, state.tick()),
            line=line,
            value=call.value,
            load=len(state.accesses) + 1 if call.kind == "load" else 0,
            parts=(*address.parts, *moved),
            shape=shape_of(state, call.axes),
            data=data_of(state, here, *indices, *around),
        )
    )
    return (address.offset, *address.data) if address.data else indices


def _taken_apart(state: KernelState, item: Item, line: int) -> LoadMask:
    """Return a mask taken apart. Where no values are compared, a number may be one, too."""
    is_term = not isinstance(item, Whole | PointerValue | Radix) and not is_truth(item)
    if state.is_valued or not is_term:
        return mask_of(item, line)
    return LoadMask(data=(as_term(item, line),))


def _named_mask(state: KernelState, mask: LoadMask, line: int) -> Truth:
    """Return all that a mask says as a formula, with names for data."""
    reading = DataReading(state, state.where, line)
    return both(mask.where, *map(reading.truth, mask.data))


def _mask(item: Item, line: int) -> Truth:
    """Return a mask as a formula. A number as a mask is true where it is not 0."""
    if isinstance(item, Whole):
        return compare("!=", item, number(0))
    if is_truth(item):
        return item
    raise Unread(line, "a mask that depends on data")
