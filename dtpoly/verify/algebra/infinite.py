"""Carry out operations on a written infinity or 0, where values are promised to be finite.

A masked lane often loads minus infinity, so that it counts for nothing: `exp(-inf - x)` is 0 if x
is finite. So the question is where a value is sure to be finite. Inputs are, by the promise. The
largest of some finite values is finite if there is at least one of them. A masked lane that loads 0
counts for nothing in a sum, as 0 times a finite value is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.verify.algebra.numerals import LARGEST
from dtpoly.verify.algebra.numerals import finite as finite_number
from dtpoly.verify.algebra.term_building import applied
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
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
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Truth,
    both,
    negation,
    number,
    one_of,
    put_truth,
)

ZERO = Literal("0")
OTHER = {"inf": "-inf", "-inf": "inf"}
# The infinity that counts for nothing in a maximum or minimum: the result stays finite.
NOTHING = {"maximum": "-inf", "minimum": "inf"}
# Operations that give finite results for finite operands. A sum, a product or an exponential may be
# too large for its type: the promise is only about the values of the algorithm, and not about the
# intermediate values of a kernel.
FINITE = ("neg", "abs", "maximum", "minimum")
NO_NUMBERS = ("inf", "-inf", "nan", "undefined")


def decided(operation: str, operands: Sequence[Term]) -> Term:
    """Return the term of an operation, carried out where a written infinity or 0 decides it.

    If an operand is a choice with an infinite side, the operation is applied to each side. This
    may be called only if inputs, and all values that the algorithm computes from them, are promised
    to be finite.
    """
    known = _decided(operation, operands)
    if known is not None:
        value, where = known
        return choose(where, value, applied(operation, operands))
    for at, one in enumerate(operands):
        match one:
            case Choose(condition=condition, yes=yes, no=no) if _is_infinite(yes, no) or (
                operation == "mul" and ZERO in (yes, no) and finite(operands[1 - at]) == TRUE
            ):
                sides = ([*operands[:at], side, *operands[at + 1 :]] for side in (yes, no))
                first, second = (decided(operation, side) for side in sides)
                return choose(condition, first, second)
            case _:
                pass
    return applied(operation, operands)


def _is_infinite(*terms: Term) -> bool:
    """Return whether one of the terms is infinite, or is a choice with an infinite side."""
    return any(
        (isinstance(one, Literal) and one.text in OTHER)
        or (isinstance(one, Choose) and _is_infinite(one.yes, one.no))
        for one in terms
    )


def _decided(operation: str, operands: Sequence[Term]) -> tuple[Term, Truth] | None:
    """Return what an operation with a written infinity gives, and the condition for that."""
    match operation, operands:
        case (("add" | "sub"), [Literal(text=text), other]) if text in OTHER:
            return Literal(text), finite(other)
        case "add", [other, Literal(text=text)] if text in OTHER:
            return Literal(text), finite(other)
        case "sub", [other, Literal(text=text)] if text in OTHER:
            return Literal(OTHER[text]), finite(other)
        case (("exp" | "exp2"), [Literal(text="-inf")]):
            return ZERO, TRUE
        case ("mul", [Literal(text="0"), other] | [other, Literal(text="0")]) if (
            finite(other) == TRUE
        ):
            return ZERO, TRUE
        case _:
            return None


def finite(term: Term) -> Truth:
    """Return a condition under which a value is sure to be finite."""
    match term:
        case Element() | Given() | Place():
            return TRUE
        case Literal(text=text):
            value = finite_number(text)
            return TRUE if value is not None and abs(value) <= LARGEST["tl.float32"] else FALSE
        case Choose(condition=condition, yes=yes, no=no):
            return one_of(both(condition, finite(yes)), both(negation(condition), finite(no)))
        case AppliedOperation(operation=operation, operands=operands) if operation in FINITE:
            return both(*(finite(one) for one in operands))
        case Total(operation=operation, bound=bound, domain=domain, body=body) if (
            operation in NOTHING and _is_at_most(body, NOTHING[operation])
        ):
            # It is finite if the reduction has an element at index 0 of each label, and that
            # element is finite: all others are finite or count for nothing.
            first = {one: number(0) for one in bound}
            return put_truth(both(domain, finite(body)), first)
        case _:
            return FALSE


def _is_at_most(body: Term, nothing: str) -> bool:
    """Return whether a value is always finite or the infinity that counts for nothing."""
    kinds = (Element, Given, Place, Choose, Literal)
    numbers = [one for one in walk(body) if isinstance(one, Literal)]
    return all(isinstance(one, kinds) for one in walk(body)) and all(
        one.text == nothing or one.text not in NO_NUMBERS for one in numbers
    )
