"""Rules for operators on whole numbers: on their bits, and what they may be divided by."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Item, TileValue, Unread, is_truth
from dtpoly.verify.algebra.numerals import finite, nearest
from dtpoly.verify.algebra.terms import AppliedOperation, Literal, Term
from dtpoly.verify.algebra.whole import Whole

BITWISE = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}
# What terms call these operations where they combine the bits of whole numbers.
OF_BITS = {"and": "bitand", "or": "bitor", "xor": "bitxor", "shl": "shl", "shr": "shr"}


def of_bits(
    word: str, kind: str, tiles: Sequence[TileValue], items: Sequence[Item], line: int
) -> str:
    """Return what terms call an operation on bits. Raises Unread for a shift by what may be far.

    Hardware does not agree on shifts by the width or more. Constants of Python are computed.
    """
    if kind == kinds.BOOL and word == "xor" and not all(map(is_truth, items)):
        return "ne"
    if not kinds.is_whole(kind) or (word in BITWISE and all(map(_is_written, items))):
        return word
    if kind not in kinds.WIDTHS:
        raise Unread(line, f"'{word}' of what may be a number of 32 bits or of 64")
    if not all(_holds(kind, one) for one in items):
        raise Unread(line, "a written number beside numbers of a type that does not hold it")
    if word in ("shl", "shr"):
        by = items[1].constant if isinstance(items[1], Whole) else None
        if by is None or not 0 <= by < kinds.WIDTHS[kind]:
            raise Unread(line, "a shift by what is no written number below the width")
        if tiles[0].kind != kind:
            # Which bits come in from above depends on the type before the operands meet.
            raise Unread(line, "a shift of a number that gets another type by it")
    return OF_BITS[word]


def _is_written(item: Item) -> bool:
    return isinstance(item, Whole) and item.constant is not None


def _holds(kind: str, item: Item) -> bool:
    """Return whether a type of whole numbers holds a written number; True for all else."""
    by = item.constant if isinstance(item, Whole) else None
    return by is None or kinds.LEAST[kind] <= by <= kinds.LARGEST[kind]


def refuse_zero(divisor: Term, line: int) -> None:
    """Refuse to divide whole numbers by what may be 0, also if nobody uses the quotient.

    Compilers assume that no divisor is 0, and remove tests that ask whether it is. They also assume
    that the least number is never divided by -1. Raises Unread.
    """
    match divisor:
        case Literal(text=text) if text.lstrip("-").isdigit() and int(text) not in (0, -1):
            return
        case AppliedOperation(
            operation="where", operands=(condition, Literal(text=text), kept)
        ) if text.isdigit() and int(text) and condition in (_is_0(kept), _is_0(kept, turned=True)):
            return
        case AppliedOperation(operation="maximum", operands=operands) if any(
            isinstance(one, Literal) and one.text.isdigit() and int(one.text) for one in operands
        ):
            return
        case _:
            what = "a division of whole numbers by what may be 0, of which compilers make anything"
            raise Unread(line, f"{what}: divide by tl.where(b == 0, 1, b)")


def _is_0(term: Term, *, turned: bool = False) -> Term:
    operands = (Literal("0"), term) if turned else (term, Literal("0"))
    return AppliedOperation("eq", operands)


def fits_f32(item: Item) -> bool:
    """Return whether f32 holds a written number; True for all else."""
    match item:
        case Literal(text=text):
            value = finite(text)
        case Whole() if item.constant is not None:
            value = Fraction(item.constant)
        case _:
            return True
    return value is not None and nearest(value, "tl.float32") == value
