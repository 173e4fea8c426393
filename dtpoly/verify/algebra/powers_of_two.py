"""Read `exp2` of a number times log2(e) as `exp` of the number.

Kernels fold log2(e) into a factor that they have anyway. The factor is the number of f32, or of
f64, that is nearest to `k * log2(e)` for a short k; Triton computes `exp` with such a factor, too.
A running maximum of numbers that have the factor is, without it, that of the numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from dtpoly.verify.algebra.frame_terms import (
    EXTREME,
    INFINITIES,
    NATURAL,
    SYMBOL,
    ZERO,
    guarded,
    is_frame,
    is_start,
    sum_of,
)
from dtpoly.verify.algebra.numerals import finite, nearest
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Carried,
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
from dtpoly.verify.algebra.tested_terms import Tested

OF_EXP2 = "exp2(x * log2(e)) is exp(x), with the number that is nearest to log2(e)"
LOG2_E = Fraction("1.44269504088896340735992468100189213742664595415298593413544940693")
# A factor k is looked for among numbers with denominators up to this. They are so far apart that
# none is near to another number by accident.
LARGEST_DENOMINATOR = 128
Parts = list[tuple[Fraction, Term]]


@cache
def without_factor(of: Fraction) -> Fraction | None:
    """Return k for the number that is nearest to `k * log2(e)`; None if there is no short k."""
    k = (of / LOG2_E).limit_denominator(LARGEST_DENOMINATOR)
    exact = k * LOG2_E
    ways = (nearest(exact, "tl.float32"), nearest(exact, "tl.float64"), Fraction(float(exact)))
    folded = Fraction(float(k) * math.log2(math.e))
    return k if k and (of in ways or of in (folded, nearest(folded, "tl.float32"))) else None


@cache
def _beside_factor(of: Fraction) -> Fraction | None:
    """Return c for a product `c * log2(e)` of two written numbers; None if it is no such product.

    As it is written, log2(e) is a number of f32 or f64. No other number has its digits by accident.
    """
    for kind in ("tl.float64", "tl.float32"):
        written = nearest(LOG2_E, kind)
        if written is not None and of:
            c = of / written
            if math.gcd(c.denominator, written.numerator) == 1:
                return c
    return None


def in_base_e(term: Term) -> Term | None:
    """Return a term with `exp` in the place of `exp2`; None if no `exp2` in it allows that."""
    if not any(isinstance(o, AppliedOperation) and o.operation == "exp2" for o in walk(term)):
        return None
    done: dict[Term, Term] = {}

    def go(one: Term) -> Term:
        if one not in done:
            new = rebuilt(one, tuple(map(go, children(one))))
            if isinstance(new, AppliedOperation) and new.operation == "exp2":
                inner = natural(new.operands[0])
                new = new if inner is None else AppliedOperation("exp", (inner,))
            done[one] = new
        return done[one]

    found = go(term)
    return None if found == term else found


def natural(term: Term) -> Term | None:
    """Return x for a term that is `x * log2(e)`, or None."""
    match term:
        case Choose(condition=condition, yes=yes, no=no):
            first, second = natural(yes), natural(no)
            return None if first is None or second is None else choose(condition, first, second)
        case _:
            pass
    found: Parts = []
    for factor, one in _parts(term):
        part = _natural(factor, one)
        if part is None:
            return None
        found.append(part)
    return sum_of(found)


def _natural(factor: Fraction, term: Term) -> tuple[Fraction, Term] | None:
    """Return a summand without log2(e), which is a factor before it or in it."""
    if term in (*INFINITIES, ZERO):
        return factor, term
    k = without_factor(factor) or _beside_factor(factor)
    if k is not None:
        return k, term
    inner = _inside(term)
    return None if inner is None else (factor, inner)


def _inside(term: Term) -> Term | None:
    """Return what is reduced, or chosen, without log2(e)."""
    match term:
        case Given(name=one) if one.startswith(SYMBOL):
            return AppliedOperation(NATURAL, (term,))
        case Carried():
            # What an outer loop carries: that loop has a symbol for it.
            return AppliedOperation(NATURAL, (term,))
        case Choose():
            return natural(term)
        case Total(operation=operation, body=body) if operation in EXTREME:
            inner = natural(body)
            return None if inner is None else rebuilt(term, (inner,))
        case AppliedOperation(operation=operation, operands=operands) if operation in EXTREME:
            parts = [one if is_start(one, operation) else natural(one) for one in operands]
            known = tuple(one for one in parts if one is not None)
            return rebuilt(term, known) if len(known) == len(parts) else None
        case _ if (frame := guarded(term)) is not None:
            inner = natural(frame)
            return None if inner is None else guard_of(inner)
        case AppliedOperation(operation="where", operands=(test, yes, no)):
            first, second = natural(yes), natural(no)
            if first is None or second is None:
                return None
            return Tested(test, first, second).term
        case _:
            return None


def guard_of(frame: Term) -> Term:
    """Return m where it is finite, and 0 where it is -inf."""
    is_infinite = AppliedOperation("eq", (frame, Literal("-inf")))
    return AppliedOperation("where", (is_infinite, Literal("0"), frame))


def _parts(term: Term) -> Parts:
    """Return a sum as its summands with their factors; a frame is one summand."""
    if is_frame(term):
        return [(Fraction(1), term)]
    match term:
        case AppliedOperation(operation="add" | "sub" as operation, operands=(a, b)):
            sign = 1 if operation == "add" else -1
            return [*_parts(a), *((sign * factor, one) for factor, one in _parts(b))]
        case AppliedOperation(operation="neg", operands=(a,)):
            return [(-factor, one) for factor, one in _parts(a)]
        case AppliedOperation(operation="mul", operands=(a, b)):
            for one, other in ((a, b), (b, a)):
                by = _number(other)
                if by:  # 0 times an infinity, which a mask may leave in a sum, is a nan
                    return [(factor * by, part) for factor, part in _parts(one)]
            found = _factored(term)
            if found is not None:
                return [found]
        case _:
            pass
    return [(Fraction(1), term)]


def _factored(term: Term) -> tuple[Fraction, Term] | None:
    """Return a number near to log2(e), or to a short multiple of it, and the product without it.

    In `acc * (scale * 1.4427)`, the number stands beside a scale that is no number.
    """
    match term:
        case AppliedOperation(operation="mul", operands=(a, b)):
            for one, other in ((a, b), (b, a)):
                by = _number(other)
                if by is not None and without_factor(by) is not None:
                    return by, one
            if (found := _factored(a)) is not None:
                return found[0], AppliedOperation("mul", (found[1], b))
            if (found := _factored(b)) is not None:
                return found[0], AppliedOperation("mul", (a, found[1]))
            return None
        case _:
            return None


def _number(term: Term) -> Fraction | None:
    """Return a written number, or a product of such numbers."""
    match term:
        case Literal(text=text):
            return finite(text)
        case AppliedOperation(operation="mul", operands=(a, b)):
            first, second = _number(a), _number(b)
            return None if first is None or second is None else first * second
        case _:
            return None


def natural_of(frame: Term) -> Term | None:
    """Return a frame in which a symbol for exponents of `exp2` has become a maximum; or None."""
    match frame:
        case AppliedOperation(operation=operation, operands=(inner,)) if operation == NATURAL:
            return inner if any(is_start(inner, one) for one in EXTREME) else natural(inner)
        case _ if (bare := guarded(frame)) is not None:
            found = natural_of(bare)
            return frame if found == bare else None if found is None else guard_of(found)
        case _:
            return frame
