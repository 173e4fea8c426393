"""Quotients that are nan where a maximum reduces nothing but masked elements (lemma 24).

In such a row the maximum m is -inf, and so is each masked x; so `exp(x - m)` is a nan. A sum of
such exponentials is a nan, too, or 0 if it sums nothing. The quotient of two such sums is a nan in
any case, and it still is one if m is taken out of both of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_terms import INFINITIES, ZERO, is_taken_away
from dtpoly.verify.algebra.frames import FramedValue, Framing
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.terms import AppliedOperation, Choose, Term, Total, walk
from dtpoly.verify.algebra.whole import Truth, negation


@dataclass(frozen=True, slots=True)
class BareExponent:
    """An exponent where it is not -inf: the conditions and tests for that, and its summands."""

    conditions: tuple[Truth, ...]
    tests: tuple[Term, ...]
    rest: tuple[tuple[Fraction, Term], ...]


def unmasked(rest: Sequence[tuple[Fraction, Term]]) -> BareExponent:
    """Return the summands of an exponent where no mask makes it -inf."""
    conditions: list[Truth] = []
    tests: list[Term] = []
    found: list[tuple[Fraction, Term]] = []
    for factor, term in rest:
        low = INFINITIES[factor < 0]
        one = term
        while True:
            match one:
                case Choose(condition=condition, yes=yes, no=no) if no == low:
                    conditions.append(condition)
                    one = yes
                case Choose(condition=condition, yes=yes, no=no) if yes == low:
                    conditions.append(negation(condition))
                    one = no
                case AppliedOperation(operation="where", operands=(test, yes, no)) if no == low:
                    tests.append(test)
                    one = yes
                case _:
                    break
        found.append((factor, one))
    return BareExponent(tuple(conditions), tuple(tests), tuple(found))


def is_nan_of_nothing(framing: Framing, term: Term) -> bool:
    """Return whether a product is a nan where the maximum of its exponentials is -inf.

    A factor of it is 0 or a nan there, and so is one by which it is divided.
    """
    if not isinstance(term, AppliedOperation) or term.operation not in ("mul", "div"):
        return False
    above, below = _factors(term)
    return (
        any(_is_nothing(framing, one) for one in above)
        and any(_is_nothing(framing, one) for one in below)
        and len(frames := _frames(framing, term)) == 1
        and _is_without(framing.value(term), frames)
    )


def _is_without(value: FramedValue, frames: set[Term]) -> bool:
    """Return whether frames have cancelled in a value, and are nowhere else in it."""
    return not value.powers and all(
        frames.isdisjoint(walk(one)) for one in (value.body, *value.over)
    )


def _frames(framing: Framing, term: Term) -> set[Term]:
    """Return the frames of all exponentials in a term."""
    operands = (
        one.operands[0]
        for one in walk(term)
        if isinstance(one, AppliedOperation) and one.operation == "exp"
    )
    return {frame for one in operands for frame in framing.exponent(one).frames}


def _factors(term: Term) -> tuple[list[Term], list[Term]]:
    """Return the factors of a product, and those by which it is divided."""
    match term:
        case AppliedOperation(operation="mul" | "div" as operation, operands=(a, b)):
            (above, below), (other, under) = _factors(a), _factors(b)
            if operation == "div":
                other, under = under, other
            return [*above, *other], [*below, *under]
        case AppliedOperation(operation="neg", operands=(a,)):
            return _factors(a)
        case AppliedOperation(operands=(a,)) if split(term)[0]:
            return _factors(a)
        case _:
            return [term], []


def _is_less_frame(framing: Framing, operand: Term) -> bool:
    """Return whether an exponent is a value less a maximum, or a minimum less a value."""
    if any(
        isinstance(o, AppliedOperation) and o.operation in ("log", "log2") for o in walk(operand)
    ):
        return False
    frames = framing.exponent(operand).frames
    return len(frames) == 1 and all(is_taken_away(one, power) for one, power in frames.items())


def _is_nothing(framing: Framing, term: Term) -> bool:
    """Return whether a value is 0 or a nan where the frame of its exponentials is infinite."""
    match term:
        case AppliedOperation(operation="exp", operands=(a,)):
            return _is_less_frame(framing, a)
        case AppliedOperation(operation="mul", operands=operands):
            return any(_is_nothing(framing, one) for one in operands)
        case AppliedOperation(operation="div", operands=(a, _)):
            return _is_nothing(framing, a)
        case AppliedOperation(operation="add" | "sub" | "neg", operands=operands):
            return all(_is_nothing(framing, one) for one in operands)
        case Choose(yes=yes, no=no) | AppliedOperation(operation="where", operands=(_, yes, no)):
            return all(one == ZERO or _is_nothing(framing, one) for one in (yes, no))
        case Total(operation="add", body=body):
            return _is_nothing(framing, body)
        case AppliedOperation(operands=(a,)) if split(term)[0]:
            return _is_nothing(framing, a)
        case _:
            return False
