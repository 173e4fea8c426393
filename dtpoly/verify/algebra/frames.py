"""Take factors out of sums: `exp(x - m)` is `exp(-m) * exp(x)`, and m may be the same in a sum.

Here m is called a frame; it is a maximum or minimum. A value in a frame is `exp(c * m) * g`, where
g does not look at m. Two values that differ in their frames alone become equal in quotients, where
the frames cancel. That this form equals the value is only true where m is finite:
`frame_comparison` proves that.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.frame_terms import (
    INFINITIES,
    NOTHING,
    ONE,
    ZERO,
    inward,
    is_frame,
    is_written_number,
    sum_of,
)
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Choose,
    Literal,
    Term,
    Total,
    children,
    choose,
    names,
    rebuilt,
    sources,
    walk,
)
from dtpoly.verify.algebra.tested_terms import Tested, tested
from dtpoly.verify.algebra.whole import Truth

OF_EXP = "exp(a + b) is exp(a) * exp(b)"
OF_DIVISOR = "what all operands of a sum are divided by divides the sum"
OF_DIVISION = "a * (b / c) is a * b / c"
OF_ROUNDING = "a factor exp(c * m) passes a rounding to '{}'"
OF_MASKED = "0 times a masked value is 0"
ODD = ("inf", "-inf", "nan", "undefined")
Powers = Mapping[Term, Fraction]


@dataclass(frozen=True, slots=True)
class FramedValue:
    """A value as `exp(the sum of power * frame) * body`, divided by each of `over`, sums too."""

    powers: Powers
    body: Term
    over: tuple[Term, ...] = ()

    @property
    def bare(self) -> tuple[Term, tuple[Term, ...]]:
        """Return the value without its frames."""
        return self.body, self.over

    def with_body(self, body: Term) -> FramedValue:
        """Return another value in the same frames."""
        return FramedValue(self.powers, body, self.over)

    def is_apart(self) -> bool:
        """Return whether there is anything in front of the body."""
        return bool(self.powers or self.over)

    def is_nothing(self) -> bool:
        """Return whether the value is 0; what is divided may be 0 / 0, which is a nan."""
        return self.body == ZERO and not self.over

    def is_nothing_beside(self, other: FramedValue) -> bool:
        """Return whether the value is 0 in front of the other's frames; its divisors may be 0."""
        return self.is_nothing() and not other.over

    def is_beside(self, other: FramedValue) -> bool:
        """Return whether two values have the same in front of their bodies."""
        return self.powers == other.powers and self.over == other.over


@dataclass(frozen=True, slots=True)
class Exponent:
    """A sum as frames with their factors, and all other summands with theirs."""

    frames: Powers
    rest: tuple[tuple[Fraction, Term], ...]

    def scaled(self, by: Fraction) -> Exponent:
        """Return the sum times a number."""
        frames = {one: factor * by for one, factor in self.frames.items()}
        return Exponent(frames, tuple((factor * by, one) for factor, one in self.rest))

    def plus(self, other: Exponent, sign: int = 1) -> Exponent:
        """Return the sum of both, or their difference."""
        more = other.scaled(Fraction(sign))
        rest = _without_opposites((*self.rest, *more.rest))
        return Exponent(_together(self.frames, more.frames), rest)


def _together(one: Powers, other: Powers) -> Powers:
    found = dict(one)
    for frame, power in other.items():
        found[frame] = found.get(frame, Fraction(0)) + power
    return {frame: power for frame, power in found.items() if power}


def _without_opposites(
    rest: tuple[tuple[Fraction, Term], ...],
) -> tuple[tuple[Fraction, Term], ...]:
    """Return summands without a written number that is added as often as it is taken away.

    So it is in `(t - 3) - (m - 3)`, where a part is brought to the frame of the whole. Nothing
    else is left out: a value of data may be infinite.
    """
    often = dict[Term, Fraction]()
    for factor, one in rest:
        often[one] = often.get(one, Fraction(0)) + factor
    return tuple((factor, one) for factor, one in rest if often[one] or not _is_finite_number(one))


def _is_finite_number(term: Term) -> bool:
    return isinstance(term, Literal) and finite(term.text) is not None


class Framing:
    """The rewriting of the terms of one proof; each term is rewritten once."""

    def __init__(self, run: ProofRun) -> None:
        self.run = run
        self.done: dict[Term, FramedValue] = {}

    def framed(self, term: Term) -> Term:
        """Return the term with frames in front of sums, and without those that cancel."""
        if split(term)[0]:
            return rebuilt(term, tuple(map(self.framed, children(term))))
        return written(self.value(inward(term)))

    def value(self, term: Term) -> FramedValue:
        """Return a value with its frames apart."""
        found = self.done.get(term)
        if found is None:
            check_time()
            found = self.done[term] = self._value(term)
        return found

    def divisors(self, body: Term, bound: tuple[str, ...]) -> tuple[Term, ...]:
        """Return what divides each operand of a sum, and is taken out of the sum."""
        return tuple(one for one in self.value(body).over if names(one).isdisjoint(bound))

    def beside_nothing(self, term: Term) -> tuple[Term, ...]:
        """Return the frames of a sum that has the logarithm of nothing in it, which is -inf.

        So is the sum, where the frames are finite.
        """
        exponent = self.exponent(term)
        return tuple(exponent.frames) if self._has_low(exponent) else ()

    def _has_low(self, of: Exponent) -> bool:
        return any(
            factor > 0
            and isinstance(one, AppliedOperation)
            and one.operation == "log"
            and self.value(one.operands[0]).is_nothing()
            for factor, one in of.rest
        )

    def exponent(self, term: Term) -> Exponent:
        """Return a sum with its frames apart."""
        if is_frame(term):
            return Exponent({inward(term): Fraction(1)}, ())
        match term:
            case AppliedOperation(operation="add" | "sub" as operation, operands=(a, b)):
                sign = 1 if operation == "add" else -1
                return self.exponent(a).plus(self.exponent(b), sign)
            case AppliedOperation(operation="neg", operands=(a,)):
                return self.exponent(a).scaled(Fraction(-1))
            case AppliedOperation(operation="mul", operands=(a, Literal(text=text))) | (
                AppliedOperation(operation="mul", operands=(Literal(text=text), a))
            ):
                if (times := self._times(a, finite(text))) is not None:
                    return times
            case AppliedOperation(operation="div", operands=(a, Literal(text=text))):
                by = finite(text)
                if (times := self._times(a, 1 / by if by else None)) is not None:
                    return times
            case AppliedOperation(operation="log", operands=(a,)):
                inside = self.value(a)
                if inside.powers:
                    self.run.take(OF_EXP)
                    log = AppliedOperation("log", (written(FramedValue({}, *inside.bare)),))
                    return Exponent(inside.powers, ((Fraction(1), log),))
            case AppliedOperation(operation=operation, operands=(a, *_)) if operation == RUNNING:
                return self.exponent(a)
            case AppliedOperation(operands=(a,)) if split(term)[0] == "may":
                # A permission need not be used.
                inner = self.exponent(a)
                if inner.frames:
                    return inner
            case Choose(condition=condition, yes=yes, no=no):
                first, second = self.exponent(yes), self.exponent(no)
                if first.frames == second.frames:
                    rest = choose(condition, sum_of(first.rest), sum_of(second.rest))
                    return Exponent(first.frames, ((Fraction(1), rest),))
            case _:
                pass
        return Exponent({}, ((Fraction(1), term),))

    def _times(self, term: Term, by: Fraction | None) -> Exponent | None:
        """Return a term times a number; None where that keeps neither frames nor an order."""
        inner = self.exponent(term)
        if by and inner.frames:
            return inner.scaled(by)
        if by is None or by <= 0:
            return None
        return Exponent({}, ((Fraction(1), term) if term in INFINITIES else (by, term),))

    def _value(self, term: Term) -> FramedValue:
        match term:
            case AppliedOperation(operation=operation, operands=(a, *_)) if operation == RUNNING:
                return FramedValue({}, ZERO) if _is_of_nothing(a) else self.value(a)
            case AppliedOperation(operation="exp", operands=(Choose() as a,)):
                sides = (AppliedOperation("exp", (side,)) for side in (a.yes, a.no))
                return self._choice(a, *map(self.value, sides))
            case AppliedOperation(operation="exp", operands=(a,)):
                return self._exp(a)
            case AppliedOperation(operation="mul", operands=(a, b)) if ZERO not in (a, b):
                first, second = self.value(a), self.value(b)
                powers = _together(first.powers, second.powers)
                body = self._product(first.body, second.body)
                if first.over or second.over:
                    self.run.take(OF_DIVISION)
                return FramedValue(powers, body, (*first.over, *second.over))
            case AppliedOperation(operation="div", operands=(a, b)):
                first, second = self.value(a), self.value(b)
                minus = {one: -power for one, power in second.powers.items()}
                powers = _together(first.powers, minus)
                if _is_of_sums(second.body) and not second.over:
                    return FramedValue(powers, first.body, (*first.over, second.body))
                body = _divided(first.body, written(FramedValue({}, second.body, second.over)))
                return FramedValue(powers, body, first.over)
            case AppliedOperation(operation="neg", operands=(a,)):
                inner = self.value(a)
                return inner.with_body(AppliedOperation("neg", (inner.body,)))
            case AppliedOperation(operation="add" | "sub", operands=(a, b)):
                return self._sum(term, self.value(a), self.value(b))
            case AppliedOperation(operands=(a,)) if split(term)[0]:
                return self._rounded(term, self.value(a))
            case Choose(yes=yes, no=no):
                return self._choice(term, self.value(yes), self.value(no))
            case AppliedOperation(operation="where", operands=(test, yes, no)):
                return self._tested(self.framed(test), self.value(yes), self.value(no))
            case Total(operation="add", bound=bound, domain=domain, body=body):
                return self._total(bound, domain, body)
            case _:
                return FramedValue({}, rebuilt(term, tuple(map(self.framed, children(term)))))

    def _total(self, bound: tuple[str, ...], domain: Truth, operand: Term) -> FramedValue:
        """Return a sum, with what is the same for all of its operands in front of it."""
        inner, over = self.value(operand), self.divisors(operand, bound)
        powers = {one: p for one, p in inner.powers.items() if names(one).isdisjoint(bound)}
        if over:
            self.run.take(OF_DIVISOR)
        left = {one: p for one, p in inner.powers.items() if one not in powers}
        rest = tuple(one for one in inner.over if one not in over)
        body = written(FramedValue(left, inner.body, rest))
        return FramedValue(powers, Total("add", bound, domain, body), over)

    def _exp(self, of: Term) -> FramedValue:
        exponent = self.exponent(of)
        if not exponent.frames:
            return FramedValue({}, exp_of(self.framed(of)))
        self.run.take(OF_EXP)
        body = exp_of(self.framed(sum_of(exponent.rest))) if exponent.rest else ONE
        return FramedValue(exponent.frames, body)

    def _sum(self, term: Term, first: FramedValue, second: FramedValue) -> FramedValue:
        assert isinstance(term, AppliedOperation)
        for one, other in ((first, second), (second, first)):
            if other.is_nothing() and other.is_apart() and term.operation == "add":
                return one
        if first.is_beside(second):
            if first.is_apart():
                return first.with_body(_added(term.operation, first.body, second.body))
        elif first.is_nothing() and term.operation == "add":
            return second
        elif second.is_nothing():
            return first
        # The logarithm of a factor may cancel with a frame beside it.
        exponent = self.exponent(term)
        if any(one.operation == "log" for one in walk(term) if isinstance(one, AppliedOperation)):
            rest = [(factor, self.framed(one)) for factor, one in exponent.rest]
            frames = [(power, one) for one, power in exponent.frames.items()]
            if self._has_low(exponent):
                frames, rest = [], [one for one in rest if not is_written_number(one[1])]
            return FramedValue({}, sum_of([*rest, *frames]))
        return FramedValue({}, rebuilt(term, (written(first), written(second))))

    def _rounded(self, term: Term, inner: FramedValue) -> FramedValue:
        word, kind = split(term)
        is_small = not kinds.may_be_eight(kind) or self._is_weight(children(term)[0])
        is_through = not kinds.is_whole(kind) and is_small
        if word == "may" and inner.is_apart() and not is_through:
            return inner  # a permission need not be used
        if not inner.is_apart() or not is_through:
            return FramedValue({}, rebuilt(term, (written(inner),)))
        self.run.take(OF_ROUNDING.format(kind))
        return inner.with_body(_round(term, inner.body))

    def _is_weight(self, term: Term) -> bool:
        """Return whether a value is an exponential in a frame, 0, or a product of such values.

        It is at most 1. Types of 8 bits hold little more. While the maximum is smaller than in the
        end, a weight is larger than in the end, so that no more of it is lost.
        """
        match term:
            case AppliedOperation(operation="exp", operands=(a,)):
                return bool(self.exponent(a).frames)
            case AppliedOperation(operation="mul", operands=operands):
                return all(map(self._is_weight, operands))
            case (
                Choose(yes=yes, no=no) | AppliedOperation(operation="where", operands=(_, yes, no))
            ):
                return all(one == ZERO or self._is_weight(one) for one in (yes, no))
            case _:
                return False

    def _choice(self, term: Choose, yes: FramedValue, no: FramedValue) -> FramedValue:
        if yes.is_beside(no) or no.is_nothing_beside(yes) or yes.is_nothing_beside(no):
            one = no if yes.is_nothing_beside(no) else yes
            return one.with_body(choose(term.condition, yes.body, no.body))
        return FramedValue({}, choose(term.condition, written(yes), written(no)))

    def _tested(self, test: Term, yes: FramedValue, no: FramedValue) -> FramedValue:
        """Return a choice by a test of data, with what both values have in front before it."""
        if yes.is_beside(no) or no.is_nothing_beside(yes):
            return yes.with_body(Tested(test, yes.body, no.body).term)
        return FramedValue({}, Tested(test, written(yes), written(no)).term)

    def _product(self, a: Term, b: Term) -> Term:
        if ONE in (a, b):
            return b if a == ONE else a
        for one, other in ((a, b), (b, a)):
            if one == ZERO:
                return self._nothing(other)
        for at, one, other in ((0, a, b), (1, b, a)):
            if isinstance(one, Choose) and _is_masked(one):
                pairs = ((side, other) if at == 0 else (other, side) for side in (one.yes, one.no))
                return choose(one.condition, *(self._product(*pair) for pair in pairs))
            weight = tested(one)
            if weight is not None and weight.no == ZERO and _has_exponential(one):
                sides = weight.sides_of(other)
                yes = (weight.yes, sides[0]) if at == 0 else (sides[0], weight.yes)
                return Tested(weight.test, self._product(*yes), self._nothing(sides[1])).term
        return AppliedOperation("mul", (a, b))

    def _nothing(self, other: Term) -> Term:
        """Return 0 times a value: 0, if the value is that of an element, and not left open."""
        if isinstance(other, Choose):
            sides = (self._nothing(side) for side in (other.yes, other.no))
            return choose(other.condition, *sides)
        if any(isinstance(one, Literal) and one.text in ODD for one in walk(other)):
            return AppliedOperation("mul", (ZERO, other))
        if sources(other):
            self.run.take(OF_MASKED)
        return ZERO


def written(of: FramedValue) -> Term:
    """Return the value as a term."""
    if of.body == ZERO and not of.over:
        return ZERO
    value = of.body
    if of.powers:
        factor = AppliedOperation("exp", (sum_of([(p, one) for one, p in of.powers.items()]),))
        value = factor if value == ONE else AppliedOperation("mul", (factor, value))
    for one in of.over:
        value = _divided(value, one)
    return value


def exp_of(term: Term) -> Term:
    """Return exp of a term: 0 of -inf, and of a choice the choice."""
    match term:
        case Literal(text="-inf"):
            return ZERO
        case Choose(condition=condition, yes=yes, no=no) if NOTHING in (yes, no):
            return choose(condition, exp_of(yes), exp_of(no))
        case Choose(condition=condition, yes=yes, no=no) if isinstance(yes, Choose) or isinstance(
            no, Choose
        ):
            return choose(condition, exp_of(yes), exp_of(no))
        case AppliedOperation(operation="where", operands=(test, yes, no)) if no == NOTHING:
            return Tested(test, exp_of(yes), ZERO).term
        case _:
            return AppliedOperation("exp", (term,))


def _is_of_nothing(term: Term) -> bool:
    """Return whether a value in a frame is that of a sum of nothing."""
    match term:
        case AppliedOperation(operation="mul", operands=(_, factor)):
            return factor == ZERO
        case _:
            return False


def _is_of_sums(term: Term) -> bool:
    """Return whether a divisor is computed from sums, which a kernel may add up in parts.

    Other divisors stay where they are: it does not matter for frames what they are.
    """
    return any(isinstance(one, Total) and one.operation == "add" for one in walk(term))


def _is_masked(term: Choose) -> bool:
    """Return whether a term is an exponential that is 0 where a mask does not hold."""
    return ZERO in (term.yes, term.no) and _has_exponential(term)


def _has_exponential(term: Term) -> bool:
    return any(isinstance(one, AppliedOperation) and one.operation == "exp" for one in walk(term))


def _divided(a: Term, b: Term) -> Term:
    return a if b == ONE else AppliedOperation("div", (a, b))


def _added(operation: str, a: Term, b: Term) -> Term:
    if b == ZERO:
        return a
    return b if a == ZERO and operation == "add" else AppliedOperation(operation, (a, b))


def _round(term: Term, body: Term) -> Term:
    """Return a body that is rounded as a term says; 0 stays as it is."""
    match body:
        case Literal(text="0"):
            return body
        case Choose(condition=condition, yes=yes, no=no) if ZERO in (yes, no):
            return choose(condition, _round(term, yes), _round(term, no))
        case AppliedOperation(operation="where", operands=(test, yes, no)) if no == ZERO:
            return Tested(test, _round(term, yes), ZERO).term
        case _:
            return rebuilt(term, (body,))
