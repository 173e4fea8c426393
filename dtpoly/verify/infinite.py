"""An operation on values that are finite, in; where a written infinity decides it, its value, out.

What a masked lane loads is often minus infinity, so that it counts for nothing: `exp(-inf - x)`
is 0, if x is finite. So that is asked: the largest of some values is finite if there is one at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.verify.building import applied
from dtpoly.verify.numerals import LARGEST
from dtpoly.verify.numerals import finite as finite_number
from dtpoly.verify.terms import (
    Apply,
    Choose,
    Element,
    Given,
    Literal,
    Place,
    Term,
    Total,
    choose,
    walk,
)
from dtpoly.verify.whole import FALSE, TRUE, Truth, both, negation, number, one_of, put_truth

OTHER = {"inf": "-inf", "-inf": "inf"}
# What is neither more nor less than all others, and leaves a largest or a smallest value finite.
NOTHING = {"maximum": "-inf", "minimum": "inf"}
# Of finite values these are finite. A sum, a product or an exponential may be too large for its
# type: that it is finite is promised of what the algorithm makes, and not of what a kernel does.
FINITE = ("neg", "abs", "maximum", "minimum")
NO_NUMBERS = ("inf", "-inf", "nan", "undefined")


def decided(operation: str, operands: Sequence[Term]) -> Term:
    """The operation applied; carried out where an operand is infinite, on a side of a choice too.

    Only where inputs, and all that the algorithm makes of them, are promised to be finite.
    """
    known = _decided(operation, operands)
    if known is not None:
        value, where = known
        return choose(where, value, applied(operation, operands))
    for at, one in enumerate(operands):
        match one:
            case Choose(condition=condition, yes=yes, no=no) if _is_infinite(yes, no):
                sides = ([*operands[:at], side, *operands[at + 1 :]] for side in (yes, no))
                first, second = (decided(operation, side) for side in sides)
                return choose(condition, first, second)
            case _:
                pass
    return applied(operation, operands)


def _is_infinite(*terms: Term) -> bool:
    """True if one of them is, or is one of several that may be."""
    return any(
        (isinstance(one, Literal) and one.text in OTHER)
        or (isinstance(one, Choose) and _is_infinite(one.yes, one.no))
        for one in terms
    )


def _decided(operation: str, operands: Sequence[Term]) -> tuple[Term, Truth] | None:
    """What the operation gives, and where that is so."""
    match operation, operands:
        case (("add" | "sub"), [Literal(text=text), other]) if text in OTHER:
            return Literal(text), finite(other)
        case "add", [other, Literal(text=text)] if text in OTHER:
            return Literal(text), finite(other)
        case "sub", [other, Literal(text=text)] if text in OTHER:
            return Literal(OTHER[text]), finite(other)
        case (("exp" | "exp2"), [Literal(text="-inf")]):
            return Literal("0"), TRUE
        case _:
            return None


def finite(term: Term) -> Truth:
    """Where a value is sure to be finite."""
    match term:
        case Element() | Given() | Place():
            return TRUE
        case Literal(text=text):
            value = finite_number(text)
            return TRUE if value is not None and abs(value) <= LARGEST["tl.float32"] else FALSE
        case Choose(condition=condition, yes=yes, no=no):
            return one_of(both(condition, finite(yes)), both(negation(condition), finite(no)))
        case Apply(operation=operation, operands=operands) if operation in FINITE:
            return both(*(finite(one) for one in operands))
        case Total(operation=operation, bound=bound, domain=domain, body=body) if (
            operation in NOTHING and _is_at_most(body, NOTHING[operation])
        ):
            # It is, if the first of them is.
            first = {one: number(0) for one in bound}
            return put_truth(both(domain, finite(body)), first)
        case _:
            return FALSE


def _is_at_most(body: Term, nothing: str) -> bool:
    """True if a value is finite or else the one that counts for nothing."""
    kinds = (Element, Given, Place, Choose, Literal)
    numbers = [one for one in walk(body) if isinstance(one, Literal)]
    return all(isinstance(one, kinds) for one in walk(body)) and all(
        one.text == nothing or one.text not in NO_NUMBERS for one in numbers
    )
