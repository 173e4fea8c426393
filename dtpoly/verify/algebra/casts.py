"""Bring values from one type to another.

If a cast may change the value, the term gets a node for it (`round` or `cast` and the type). If the
other type holds each value anyway, the term stays as it is. The kernel's side and the algorithm's
side both use this, so that equal casts give equal terms.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    Item,
    PointerValue,
    Radix,
    TileValue,
    Unread,
    as_term,
    is_truth,
)
from dtpoly.verify.algebra.numerals import NOT_NUMBERS
from dtpoly.verify.algebra.residues import SHORT, is_less, refuse_opposite, settled
from dtpoly.verify.algebra.term_building import (
    applied,
    is_held,
    is_index,
    literal,
    place,
    plain,
    rounded,
    whole_in,
)
from dtpoly.verify.algebra.terms import AppliedOperation, Literal, Place, Term, choose
from dtpoly.verify.algebra.whole import Whole

# f32 holds all whole numbers of so many binary digits.
SINGLE = kinds.DIGITS["tl.float32"]
TRUTHS: dict[Term, Term] = {Literal("0"): Literal("False"), Literal("1"): Literal("True")}


def cast(tile: TileValue, to: str, line: int) -> TileValue:
    """Cast the value of a tile to another type. Raises Unread if that is not understood."""
    item = tile.item
    if to == kinds.LOST:
        raise Unread(line, "a cast to a type that is not known")
    match item:
        case PointerValue():
            raise Unread(line, "a cast of an address")
        case Radix():
            if to not in (kinds.OFFSET, "tl.int32", "tl.int64"):
                raise Unread(line, "a cast of a program id")
            return replace(tile, kind=to)
        case Whole() if item.constant is None and kinds.is_float(tile.kind) > kinds.is_float(to):
            raise Unread(line, "a whole number that was a float, which may not hold it")
        case Whole() if to == kinds.BOOL and is_lossy(item, tile.kind):
            raise Unread(line, "a whole number that was a float, which may not hold it")
        case Whole() if is_rounded_between(item, tile.kind, to):
            return TileValue(tile.axes, rounded("tl.float32", as_term(item, line)), to)
        case Whole() if not kinds.is_narrow(to) and to != kinds.BOOL and _has(to, item):
            return replace(tile, kind=to)
        case _ if is_truth(item):
            if to == kinds.BOOL:
                return replace(tile, kind=to)
            return TileValue(tile.axes, choose(item, literal(1), literal(0)), to)
        case _:
            return TileValue(tile.axes, as_kind(as_term(item, line), tile.kind, to), to)


def cut(tile: TileValue) -> TileValue:
    """Keep 32 bits of a whole number that may have 64: it wraps if they do not hold it.

    If it is used as an index, 32 bits must hold it (see `uncut`).
    """
    item = tile.item
    if isinstance(item, Whole) and item.constant is None:
        return replace(tile, item=rounded("tl.int32", place(item)), is_cut=True)
    return replace(tile, is_cut=True)


def as_value(term: Term, kind: str, to: str) -> Term:
    """Return a value of one type in another; here an index or size of 64 bits wraps in 32, too."""
    if to == "tl.int32" and kind in (*kinds.MAY_BE_LONG, kinds.WEAK) and is_index(plain(term)):
        return rounded(to, plain(term))
    return as_kind(term, kind, to)


def uncut(item: Item) -> Whole | None:
    """Return the whole number that was cut to 32 bits; the caller must prove that they hold it."""
    match item:
        case AppliedOperation(operation="round tl.int32", operands=(Place(value=value),)):
            return value
        case _:
            return None


def is_lossy(item: Whole, kind: str) -> bool:
    """Return whether a number of indices and sizes is in a float type other than f64.

    Such a type may not hold it.
    """
    return item.constant is None and kinds.is_float(kind) and kind != "tl.float64"


def is_rounded_between(item: Whole, kind: str, to: str) -> bool:
    """Return whether a number was rounded in a float type, and another type would show it.

    Where callers decide whether a type is f32 or f64, it may be f64.
    """
    return kind != to and kinds.may_be_double(to) and is_lossy(item, kind)


def _has(to: str, item: Whole) -> bool:
    """Return whether a type holds a written number. Other numbers are checked at their use."""
    return item.constant is None or not kinds.is_float(to) or is_held(str(item.constant), to)


def as_kind(term: Term, kind: str, to: str) -> Term:
    """Return a value of one type in another one.

    An index or a size stays the exact number also in f32, which may not hold it. It is rounded
    when it leaves f32 for a type where the difference would show.
    """
    if kind == to:
        return term
    kind = kinds.BOOL if kind == kinds.TRUTH else kind
    term = plain(term)
    if kind == SHORT and not is_less(kind, to):
        refuse_opposite(term)
    if not is_less(kind, to):
        term = settled(kind, term)
    is_told = to == kinds.BOOL or kinds.is_whole(to) or kinds.may_be_double(to)
    if isinstance(term, Place) and kind == "tl.float32" and is_told:
        term = rounded(kind, term)
    if to == kinds.BOOL:
        return applied("ne", [term, literal(0)])
    if kind == kinds.BOOL:
        return applied("where", [term, literal(1), literal(0)])
    if kinds.is_whole(to):
        if isinstance(term, Literal) and "/" in term.text:
            term = literal(int(Fraction(term.text)))  # towards 0
        if kinds.holds(to, kind) or fits(term, to):
            return term
        if kinds.is_narrow(to) and (kinds.is_whole(kind) or kind == kinds.WEAK):
            return rounded(to, term)
        if kinds.is_whole(kind):
            return term if is_index(term) else rounded(to, term)
        return applied(f"cast {to}", [term])
    if kinds.is_whole(kind):
        is_short = isinstance(term, Place) or kinds.WIDTHS.get(kind, SINGLE + 1) <= SINGLE
        is_held = not kinds.is_narrow(to) and (to != "tl.float32" or is_short)
        if to == "tl.float64" and kinds.WIDTHS.get(kind, 0) > kinds.DIGITS[to]:
            is_held = isinstance(term, Place)  # f64 has 53 of the 64 binary digits.
        return term if is_held else rounded(to, term)
    return brought(term, kind, to)


def brought(term: Term, kind: str, to: str) -> Term:
    """Return a value of one type in another one; it stays as it is if that type holds it.

    The least number of a type has a special meaning (it changes nothing in `max`) only in its own
    type. So in another type it becomes a plain number.
    """
    if kind == to:
        return term
    term = plain(term)
    if kind == SHORT and not is_less(kind, to):
        refuse_opposite(term)
    if to == kinds.BOOL and kind == kinds.WEAK and term in TRUTHS:
        return TRUTHS[term]  # of any other number Triton would store the last 8 bits
    if kinds.is_whole(to) and kind == kinds.WEAK and isinstance(term, Literal):
        value = whole_in(term)
        constant = None if value is None else value.constant
        extreme_text = None if constant is None else kinds.extreme(constant, to)
        return term if extreme_text is None else Literal(extreme_text)
    if not is_less(kind, to):
        term = settled(kind, term)
    if kind == kinds.WEAK and to == "tl.float32" and isinstance(term, Literal):
        return rounded(to, term)
    if kind == kinds.NUMBER and not kinds.is_narrow(to) and to != "tl.float32":
        # A number that the call passes has 32 bits by then; a literal of this kind is known to
        # need no more.
        term = rounded("tl.float32", term)
    if kinds.holds(to, kind) or (kind == kinds.WEAK and not kinds.is_narrow(to)):
        return term
    if kinds.is_whole(to) and kinds.is_float(kind):
        return applied(f"cast {to}", [term])
    if kinds.is_whole(kind) and kinds.is_float(to):
        return as_kind(term, kind, to)
    if kinds.is_whole(kind) and not kinds.is_narrow(to):
        return term if is_index(term) else rounded(to, term)
    return rounded(to, term)


def fits(term: Term, to: str) -> bool:
    """Return whether a written number, rounded towards 0, is in a type of whole numbers."""
    if not isinstance(term, Literal) or term.text in NOT_NUMBERS or "inf" in term.text:
        return False
    value = int(Fraction(kinds.exact(term.text)))
    return kinds.LEAST.get(to, 1) <= value <= kinds.LARGEST.get(to, 0)


def full(tile: TileValue, to: str, line: int) -> TileValue:
    """Return the value of `tl.full`: a number of a type in every lane.

    The least or largest number of its type is marked as such: `max` or `min` may start with it.
    """
    item = tile.item
    if isinstance(item, Whole) and item.constant is not None:
        extreme = kinds.extreme(item.constant, to)
        if extreme is not None:
            return replace(tile, item=Literal(extreme), kind=to)
        if kinds.is_float(to):
            # Python makes a float of the number first.
            value = brought(literal(float(item.constant)), kinds.WEAK, to)
            return replace(tile, item=value, kind=to)
    made = cast(tile, to, line)
    return cut(made) if tile.kind in kinds.MAY_BE_LONG and to == "tl.int32" else made


def refuse_not_held(item: Whole, kind: str, within: str, line: int) -> None:
    """Raise Unread for a written number beside whole numbers of a type that does not hold it.

    Triton does not compile that. Some versions use the residue of a negative number instead.
    """
    written = item.constant if kind == kinds.WEAK else None
    if written is not None and within in (kinds.SIZE, kinds.OFFSET):
        within = "tl.int32"  # which it may be
    if written is None or within not in kinds.LEAST:
        return
    if written < 0 == kinds.LEAST[within]:
        raise Unread(line, "a negative number beside numbers without a sign")
    if not kinds.LEAST[within] <= written <= kinds.LARGEST[within]:
        raise Unread(line, f"{written} beside numbers of type {within}, which does not hold it")
