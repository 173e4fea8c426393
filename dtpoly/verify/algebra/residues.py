"""Decide where whole numbers of 32 and 64 bits wrap: only where a value leaves its type.

Sums, differences and products of wrapped numbers are right modulo 2^n without wrapping in between.
So a term keeps the exact number as long as only such operations follow, and it is wrapped once,
when something else looks at the value (lemma 7 of docs/proofs.md).
"""

from __future__ import annotations

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Item, PointerValue, Radix, Unread, as_term, is_truth
from dtpoly.verify.algebra.term_building import is_held, is_index, rounded
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Carried,
    Choose,
    Element,
    Given,
    Literal,
    Place,
    PlaceOf,
    Stored,
    Term,
    Total,
    ValueOf,
    choose,
)
from dtpoly.verify.algebra.whole import Whole

# The types whose values are kept as residues. Values of narrower types are wrapped at once.
LONG = ("tl.int32", "tl.int64", kinds.SIZE, kinds.OFFSET)
# How many bits these types have depends on the sizes that a caller passes.
AMBIGUOUS = (kinds.SIZE, kinds.OFFSET)
# An operation of which nothing is known but the type of its result, which is one number.
UNKNOWN = "unknown"
# Operations where the residues of the operands determine the residue of the result.
RING = ("add", "sub", "mul", "neg", "fma")
# The type whose opposites a GPU does not wrap where they become values of another type.
SHORT = "tl.int16"
# Operations whose result is a number of a type if their operands are numbers of that type.
KEEPS = (
    *("maximum", "minimum", "rem", "mod", "or", "and", "xor"),
    *("bitand", "bitor", "bitxor", "shr", "invert"),
)


def settled(kind: str, term: Term) -> Term:
    """Return a value that lives in a type as the one number that it is there (lemma 7)."""
    if kind not in LONG or _is_one(kind, term):
        return term
    match term:
        case Choose(condition=condition, yes=yes, no=no):
            return choose(condition, settled(kind, yes), settled(kind, no))
        case AppliedOperation(operation="where", operands=(condition, yes, no)):
            return AppliedOperation("where", (condition, settled(kind, yes), settled(kind, no)))
        case _ if kind in AMBIGUOUS:
            # Triton gives a size 32 bits if it fits into them, and then also what is
            # computed with it.
            what = "what may be a number of 32 bits or of 64, in which it wraps"
            raise Unread(0, f"a value that is made of data and of a size: {what}")
        case _:
            return rounded(kind, term)


def _is_one(kind: str, term: Term) -> bool:
    """True if a value that lives in the type already is a number of the type.

    An element that is loaded is such a number: if a stored value is put in its place, `memory`
    wraps that value.
    """
    match term:
        case Literal(text=text):
            is_digits = text.lstrip("-").isdigit()
            return not is_digits or is_held(text, kind if kind in kinds.LEAST else "tl.int32")
        case Given() | Place() | Element() | Carried() | Stored() | PlaceOf() | ValueOf():
            return True
        case Total(operation=operation):
            return operation in KEEPS
        case Choose(yes=yes, no=no) | AppliedOperation(operation="where", operands=(_, yes, no)):
            return _is_one(kind, yes) and _is_one(kind, no)
        case AppliedOperation(operation="add", operands=(inner, Literal(text="0"))):
            return _is_one(kind, inner)
        case AppliedOperation(operation=operation, operands=operands):
            word, _, other = operation.partition(" ")
            if word in ("round", "cast"):
                return kinds.holds(kind, other)
            if word == UNKNOWN:
                return kind in AMBIGUOUS or kinds.holds(kind, other)
            if word == "may" or operation in KEEPS:
                return all(_is_one(kind, one) for one in operands)
            return is_index(term)
        case _:
            return False


def leaving(item: Item, kind: str, to: str, word: str) -> Item:
    """Return an operand of an operation that is done in the type `to`.

    It is wrapped, unless residues are enough for the operation.
    """
    is_value = not (isinstance(item, Whole | PointerValue | Radix) or is_truth(item))
    if kind == SHORT and is_value and (kind != to or word not in (*RING, "where")):
        refuse_opposite(as_term(item, 0))
    if kind not in LONG or not is_value or (word in RING and kind == to):
        return item
    return settled(kind, as_term(item, 0))


def is_less(kind: str, to: str) -> bool:
    """True if residues of one type give those of the other, which then has at most as many bits."""
    bits = kinds.WIDTHS.get(kind, kinds.LEAST_WIDTH if kind in LONG else 0)
    return 0 < kinds.WIDTHS.get(to, 0) <= bits


def refuse_opposite(term: Term) -> None:
    """Refuse an i16 that may be an opposite where it becomes another type. Raises Unread.

    A GPU converts and negates in one instruction, so the opposite of -32768 becomes 32768 there.
    """
    if _is_opposite(term):
        what = "the opposite or the size of an i16 as another value, which a GPU does not wrap"
        raise Unread(0, f"{what}: bring it to 32 bits first")


def _is_opposite(term: Term) -> bool:
    """True if Triton's compiler may compute the term by negating, or by `abs`, in 16 bits."""
    match term:
        case Choose(yes=yes, no=no) | AppliedOperation(operation="where", operands=(_, yes, no)):
            return _is_opposite(yes) or _is_opposite(no)
        case AppliedOperation(operation="neg" | "abs"):
            return True
        case AppliedOperation(operation="mul", operands=operands):
            texts = (one.text for one in operands if isinstance(one, Literal))
            return any(one.startswith(("-", "least")) for one in texts)
        case AppliedOperation(operation="sub", operands=(Literal(), _)):
            return True
        case AppliedOperation(operation=operation, operands=operands):
            is_same = operation.partition(" ")[0] in ("round", "may") or operation in KEEPS
            return is_same and any(map(_is_opposite, operands))
        case _:
            return False
