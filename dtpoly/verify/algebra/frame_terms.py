"""Say which terms are frames: maxima and minima that exponents may subtract (see `frames`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dtpoly.verify.algebra.identities import is_identity
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Given,
    Literal,
    Term,
    Total,
    children,
    choose,
    rebuilt,
    walk,
)

ZERO, ONE = Literal("0"), Literal("1")
NOTHING = Literal("-inf")
INFINITIES = (NOTHING, Literal("inf"))
# Names of scalars that stand for a frame before and after an iteration.
SYMBOL = "frame "
# A running maximum may begin with a number that is not above this: it counts as the least number.
LEAST_START = Fraction(-(10**20))
# A frame for exponents of `exp`, where a symbol stands for one for exponents of `exp2`.
NATURAL = "natural"
EXTREME = ("maximum", "minimum")
OF_START = "no value of a running maximum is below the number that it starts with"


def is_frame(term: Term) -> bool:
    """Return whether a term is taken for a frame: a maximum or a minimum of a reduction."""
    match term:
        case Total(operation=operation):
            return operation in EXTREME
        case AppliedOperation(operation=operation, operands=operands) if operation in EXTREME:
            return any(is_frame(side) for one in operands for side in _of_branch(one))
        case Given(name=one):
            return one.startswith(SYMBOL)
        case AppliedOperation(operation=operation, operands=(inner,)) if operation == NATURAL:
            return is_frame(inner)
        case _:
            return guarded(term) is not None


def _of_branch(term: Term) -> tuple[Term, ...]:
    """Return the two values that a term chooses from after a branch, or the term."""
    return children(term) if isinstance(term, Choose) else (term,)


def guarded(term: Term) -> Term | None:
    """Return m, if a term is m where m is finite, and a finite number where m is -inf."""
    match term:
        case AppliedOperation(
            operation="where",
            operands=(
                AppliedOperation(operation="eq", operands=(inner, Literal(text="-inf"))),
                Literal(text=text),
                same,
            ),
        ) if inner == same and is_frame(inner) and finite(text) is not None:
            return inner
        case _:
            return None


def is_start(term: Term, operation: str) -> bool:
    """Return whether a running maximum or minimum may start with a value."""
    sign = 1 if operation == "maximum" else -1
    match term:
        case Literal(text="-inf"):
            return sign == 1
        case Literal(text="inf"):
            return sign == -1
        case Literal(text=text):
            value = finite(text)
            return value is not None and sign * value <= LEAST_START
        case _:
            return False


def inward(term: Term) -> Term:
    """Return a maximum or minimum in which numbers above 0 are factors of what is reduced."""
    match term:
        case AppliedOperation(operation=operation) if operation in EXTREME:
            parts = [
                rebuilt(one, tuple(map(inward, _of_branch(one))))
                if isinstance(one, Choose)
                else _without_identity(inward(one), operation)
                for one in children(term)
            ]
            kept = [one for one in parts if not is_identity(operation, one)]
            return kept[0] if len(kept) == 1 and is_frame(kept[0]) else rebuilt(term, tuple(parts))
        case Total(operation=operation, body=body) if operation in EXTREME:
            return rebuilt(term, (inward(body),))
        case AppliedOperation(operation="mul", operands=(Total() as total, Literal(text=text))) | (
            AppliedOperation(operation="mul", operands=(Literal(text=text), Total() as total))
        ):
            by = finite(text)
            if by is not None and by > 0 and total.operation in EXTREME:
                return rebuilt(total, (scaled(inward(total.body), by),))
        case AppliedOperation(operands=(inner,)) if split(term)[0] == "may":
            if is_frame(inner):
                return inward(inner)
        case _:
            pass
    return term


def _without_identity(term: Term, operation: str) -> Term:
    """Return a maximum inside of another one, without operands that change nothing."""
    match term:
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            inner = tuple(_without_identity(one, operation) for one in operands)
            kept = [one for one in inner if not is_identity(operation, one)]
            return rebuilt(term, inner) if len(kept) == len(inner) else (kept or inner)[0]
        case _:
            return term


def is_written_number(term: Term) -> bool:
    """Return whether a term is a finite number as written, or the larger or smaller one of such."""
    match term:
        case Literal(text=text):
            return finite(text) is not None
        case AppliedOperation(operation=operation, operands=operands) if operation in EXTREME:
            left = [one for one in operands if not is_identity(operation, inward(one))]
            return bool(left) and all(map(is_written_number, left))
        case _:
            return False


def operation_of(term: Term) -> str:
    """Return the operation that a frame reduces by."""
    for one in walk(term):
        match one:
            case AppliedOperation(operation=operation) | Total(operation=operation) if (
                operation in EXTREME
            ):
                return operation
            case _:
                pass
    return "maximum"


def is_taken_away(frame: Term, power: Fraction) -> bool:
    """Return whether a frame makes exponents smaller: a maximum with a factor below 0."""
    return (power < 0) is (operation_of(guarded(frame) or frame) == "maximum")


def unstarted(frame: Term) -> Term:
    """Return a maximum without the numbers that it, or each of its lanes, may start with."""
    match frame:
        case AppliedOperation(operation=operation, operands=(a, b)) if operation in EXTREME:
            for start, other in ((a, b), (b, a)):
                if is_start(start, operation) and start not in INFINITIES:
                    return unstarted(other)
            return AppliedOperation(operation, (unstarted(a), unstarted(b)))
        case Total(operation=operation, body=body) if operation in EXTREME:
            return rebuilt(frame, (unstarted(body),))
        case _:
            return frame


def sum_of(parts: Sequence[tuple[Fraction, Term]]) -> Term:
    """Return a sum of terms, each times a number."""
    total: Term | None = None
    for factor, one in parts:
        if one in INFINITIES and factor < 0:
            factor, one = -factor, INFINITIES[one == NOTHING]
        size = scaled(one, abs(factor))
        if total is None:
            total = size if factor > 0 else AppliedOperation("neg", (size,))
        else:
            total = AppliedOperation("add" if factor > 0 else "sub", (total, size))
    return ZERO if total is None else total


def scaled(term: Term, by: Fraction) -> Term:
    """Return a term times a number that is above 0; an infinity stays as it is."""
    if by == 1:
        return term
    match term:
        case Literal(text="-inf" | "inf"):
            return term
        case Choose(condition=condition, yes=yes, no=no):
            return choose(condition, scaled(yes, by), scaled(no, by))
        case _:
            return AppliedOperation("mul", (term, Literal(str(by))))
