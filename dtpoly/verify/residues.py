"""Whole numbers of 32 and 64 bits: wrapped where a value leaves its type, and nowhere before."""

from __future__ import annotations

from dtpoly.verify import kinds
from dtpoly.verify.building import is_held, is_index, rounded
from dtpoly.verify.terms import (
    Apply,
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
from dtpoly.verify.values import Item, Pointer, Radix, Unread, as_term, is_truth
from dtpoly.verify.whole import Whole

# Types whose values are kept as residues: narrower ones are wrapped at once.
LONG = ("tl.int32", "tl.int64", kinds.SIZE, kinds.OFFSET)
# Of these a size, with which callers call, says how many bits there are.
AMBIGUOUS = (kinds.SIZE, kinds.OFFSET)
# Operations of which residues of the operands give that of the result.
RING = ("add", "sub", "mul", "neg", "fma")
# Operations that give a number of a type if their operands are such.
KEEPS = ("maximum", "minimum", "rem", "mod", "or", "and", "xor")


def settled(kind: str, term: Term) -> Term:
    """A value that lives in a type, as the one number that it is there (lemma 7)."""
    if kind not in LONG or _is_one(kind, term):
        return term
    match term:
        case Choose(condition=condition, yes=yes, no=no):
            return choose(condition, settled(kind, yes), settled(kind, no))
        case Apply(operation="where", operands=(condition, yes, no)):
            return Apply("where", (condition, settled(kind, yes), settled(kind, no)))
        case _ if kind in AMBIGUOUS:
            # Triton gives a size 32 bits where these hold it, and so to what is computed with it.
            what = "what may be a number of 32 bits or of 64, in which it wraps"
            raise Unread(0, f"a value that is made of data and of a size: {what}")
        case _:
            return rounded(kind, term)


def _is_one(kind: str, term: Term) -> bool:
    """True for what is a number of the type already, if it lives in it.

    What is loaded is one: where a stored value is put in its place, that is wrapped (see memory).
    """
    match term:
        case Literal(text=text):
            is_digits = text.lstrip("-").isdigit()
            return not is_digits or is_held(text, kind if kind in kinds.LEAST else "tl.int32")
        case Given() | Place() | Element() | Carried() | Stored() | PlaceOf() | ValueOf():
            return True
        case Total(operation=operation):
            return operation in KEEPS
        case Choose(yes=yes, no=no) | Apply(operation="where", operands=(_, yes, no)):
            return _is_one(kind, yes) and _is_one(kind, no)
        case Apply(operation="add", operands=(inner, Literal(text="0"))):
            return _is_one(kind, inner)
        case Apply(operation=operation, operands=operands):
            word, _, other = operation.partition(" ")
            if word in ("round", "cast"):
                return kinds.holds(kind, other)
            if word == "may" or operation in KEEPS:
                return all(_is_one(kind, one) for one in operands)
            return is_index(term)
        case _:
            return False


def leaving(item: Item, kind: str, to: str, word: str) -> Item:
    """An operand of an operation that is done in a type; wrapped, unless residues are enough."""
    is_value = not (isinstance(item, Whole | Pointer | Radix) or is_truth(item))
    if kind not in LONG or not is_value or (word in RING and kind == to):
        return item
    return settled(kind, as_term(item, 0))


def is_less(kind: str, to: str) -> bool:
    """True if residues of one type give those of another: that has at most as many bits."""
    bits = kinds.WIDTHS.get(kind, kinds.LEAST_WIDTH if kind in LONG else 0)
    return 0 < kinds.WIDTHS.get(to, 0) <= bits
