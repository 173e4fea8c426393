"""Say which value changes nothing in an operation that may be done in any order."""

from __future__ import annotations

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.listed import LISTS, is_nothing
from dtpoly.verify.algebra.term_building import plain
from dtpoly.verify.algebra.terms import EXTREMES, Literal, Pair, Term

# Operations that may be done in any order, each with the value that changes nothing.
IDENTITY: dict[str, Term] = {
    "add": Literal("0"),
    "mul": Literal("1"),
    "maximum": Literal("-inf"),
    "minimum": Literal("inf"),
    "or": Literal("False"),
    "and": Literal("True"),
    "argmax": Pair(Literal("-inf"), Literal("inf")),
    "argmin": Pair(Literal("inf"), Literal("inf")),
    "argany": Pair(Literal("False"), Literal("inf")),
    "argall": Pair(Literal("True"), Literal("inf")),
    **dict.fromkeys(LISTS, Pair(Literal("-inf"), Literal("inf"))),
}
# `and` and `or` count as reductions only for values of these kinds. On numbers they work bit by
# bit, and there IDENTITY does not say what leaves every bit as it is.
TRUTHS = (kinds.BOOL, kinds.TRUTH)
STARTS = {"maximum": "least ", "minimum": "most "}
NO_PLACE = ("inf", str(2**63 - 1), "most tl.int64")


def has_identity(operation: str, kind: str) -> bool:
    """Return whether IDENTITY says what changes nothing in an operation on values of a kind."""
    return operation in IDENTITY and (operation not in ("and", "or") or kind in TRUTHS)


def is_identity(operation: str, term: Term) -> bool:
    """Return whether a term changes nothing as an operand of an operation.

    For pairs of value and place, the place must be one that is not before any other. The least
    number of a type changes nothing in `max`, since all operands of `max` have the same type.
    """
    match term:
        case Pair() if operation in LISTS:
            return is_nothing(operation, term, NO_PLACE)
        case Pair(value=value, place=Literal(text=text)) if operation in EXTREMES:
            return is_identity(EXTREMES[operation], value) and text in NO_PLACE
        case Literal(text=text) if operation in STARTS and text.startswith(STARTS[operation]):
            return True
        case Literal(text="0") if operation == "or":
            return True
        case _:
            return plain(term) == IDENTITY.get(operation)
