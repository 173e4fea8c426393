"""Read operations on the bits of numbers whose width is not known, where no values are compared.

A number that callers pass has 32 bits or 64, and so may what is computed from it. The bits of such
a number are not followed. What an operation on them gives is an unknown number, which may need 64
bits. The same is true of a shift by a number that is computed: only that it is below the width is
proved, because hardware does not agree on what a longer shift gives.
"""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Item, TileValue, Unread, as_term, lanes_of
from dtpoly.verify.algebra.terms import AppliedOperation, Term
from dtpoly.verify.algebra.whole import Whole, number
from dtpoly.verify.triton.access import Dividend
from dtpoly.verify.triton.data_names import MOST_SHIFT, WIDE, DataReading, unknown
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.whole_operators import OF_BITS, of_bits

FAR = "shifts by what may be below 0, or not below the width of the number"
SHIFTS = ("shl", "shr")


def bits_of(
    state: KernelState,
    word: str,
    kind: str,
    tiles: Sequence[TileValue],
    items: Sequence[Item],
    line: int,
) -> str | Term | Whole:
    """Return what terms call an operation on bits, or its result.

    That is a number if Python computes it, or an unknown number where no values are compared.
    Raises Unread for all else.
    """
    if kind == kinds.WEAK and word in SHIFTS and (found := _shifted(word, items)) is not None:
        return found
    try:
        return of_bits(word, kind, tiles, items, line)
    except Unread:
        is_known = kinds.is_whole(kind) and all(map(_is_whole, tiles))
        if state.is_valued or not is_known or not all(_fits(kind, one) for one in items):
            raise
    terms = [as_term(one, line) for one in items]
    if word in SHIFTS:
        _note_amount(state, kind, tiles, items[1], line)
    if word == "and" and any(_is_mask(one) for one in items):
        return AppliedOperation(OF_BITS[word], tuple(terms))
    axes = max((one.axes for one in tiles), key=len)
    return unknown(state, WIDE if kind not in kinds.WIDTHS else kind, lanes_of(axes), terms)


def _shifted(word: str, items: Sequence[Item]) -> Whole | None:
    """Return what Python computes for a shift of two written numbers; None for others."""
    first, by = (one.constant if isinstance(one, Whole) else None for one in items)
    if first is None or by is None or not 0 <= by <= MOST_SHIFT:
        return None
    return number(first << by if word == "shl" else first >> by)


def _is_whole(tile: TileValue) -> bool:
    return kinds.is_whole(tile.kind) or tile.kind == kinds.WEAK


def _fits(kind: str, item: Item) -> bool:
    """Return whether a type holds a written number, as Triton demands; True for all else.

    Of what may have 32 bits or 64, 32 must hold it.
    """
    by = item.constant if isinstance(item, Whole) else None
    return by is None or kinds.LEAST.get(kind, -kinds.HALF) <= by < min(
        kinds.LARGEST.get(kind, kinds.HALF - 1) + 1, kinds.HALF
    )


def _is_mask(item: Item) -> bool:
    by = item.constant if isinstance(item, Whole) else None
    return by is not None and by >= 0


def _note_amount(
    state: KernelState, kind: str, tiles: Sequence[TileValue], amount: Item, line: int
) -> None:
    """Note that a number of bits must be from 0 to below the width of what is shifted."""
    if not isinstance(amount, Whole):
        held = tiles[1].kind if tiles[1].kind in kinds.LEAST else WIDE
        amount = DataReading(state, state.where, line).number(as_term(amount, line), held)
    width = kinds.WIDTHS.get(kind, kinds.LEAST_WIDTH)
    for one in (amount, number(width - 1) - amount):
        state.divided.append(Dividend(one, None, state.here(), line, FAR))
