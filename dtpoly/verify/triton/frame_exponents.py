"""Look at the exponents of what a loop adds to a sum in the frame of a running maximum (lemma 13).

Over the reals, any frame is right. Numbers of a machine need exponents that are not far above 0,
and in each sum one that is not far below 0. This file asks the first and, in the best case, the
second, too: then the running maximum is the largest of just these exponents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_comparison import MOST_SUMMANDS, adds_nothing
from dtpoly.verify.algebra.frame_terms import NATURAL, SYMBOL, guarded, inward, sum_of
from dtpoly.verify.algebra.frames import Exponent, Framing
from dtpoly.verify.algebra.identities import IDENTITY
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.powers_of_two import natural
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Given,
    Literal,
    Term,
    Total,
    children,
    choose,
    renamed,
    sources,
    walk,
)
from dtpoly.verify.algebra.tested_terms import where_all
from dtpoly.verify.algebra.value import difference
from dtpoly.verify.algebra.whole import TRUE, All, Truth, both, names_of, negation

OF_BESIDE = "what stands beside x - m in an exponent is not too large for exp"
# exp of this, and of its negative, is neither too large nor too small for a number of 8 bits.
MOST_BESIDE = 5
Summands = tuple[tuple[Fraction, Term], ...]


@dataclass(frozen=True, slots=True)
class FrameSymbols:
    """The symbols for a running maximum before an iteration, and after it."""

    old: Given
    new: Given


def symbols(number: int) -> FrameSymbols:
    """Return what stands for one of the running maxima in whose frames a sum is kept."""
    return FrameSymbols(
        Given(f"{SYMBOL}before {number}", False), Given(f"{SYMBOL}after {number}", False)
    )


def has_symbol(term: Term) -> bool:
    """Return whether a term looks at a running maximum that a symbol stands for."""
    return any(isinstance(one, Given) and one.name.startswith(SYMBOL) for one in walk(term))


def symbol_in(frame: Term) -> Term:
    """Return what a frame is made of: a symbol, maybe for exponents of `exp2`, maybe guarded."""
    inner = guarded(frame) or frame
    match inner:
        case AppliedOperation(operation=operation, operands=(symbol,)) if operation == NATURAL:
            return symbol
        case _:
            return inner


@dataclass(frozen=True, slots=True)
class ExponentUse:
    """The operand of an exponential, and the reductions and the conditions that it stands in."""

    operand: Term
    bound: tuple[str, ...] = ()
    domain: Truth = TRUE
    tests: tuple[Term, ...] = ()  # of data


def exponents(
    run: ProofRun, term: Term, around: ExponentUse | None = None
) -> Iterator[ExponentUse]:
    """Yield the operands of all exponentials in a term that look at the running maximum."""
    around = around or ExponentUse(term)
    if not has_symbol(term):
        return
    match term:
        case AppliedOperation(operation="exp", operands=(a,)):
            yield replace(around, operand=a)
        case Total():
            new = renamed(run, term)
            bound, domain = (*around.bound, *new.bound), both(around.domain, new.domain)
            yield from exponents(run, new.body, replace(around, bound=bound, domain=domain))
        case Choose(condition=condition, yes=yes, no=no):
            for truth, side in ((condition, yes), (negation(condition), no)):
                inside = replace(around, domain=both(around.domain, truth))
                yield from exponents(run, side, inside)
        case AppliedOperation(operation="where", operands=(test, yes, no)):
            yield from exponents(run, test, around)
            tests = tuple(dict.fromkeys((*around.tests, test)))
            yield from exponents(run, yes, replace(around, tests=tests))
            yield from exponents(run, no, around)
        case _:
            for one in children(term):
                yield from exponents(run, one, around)


@dataclass(frozen=True, slots=True)
class FrameStep:
    """The value that a running maximum or minimum takes in, and the facts of that iteration."""

    operation: str
    step: Term
    known: Region

    @property
    def steps(self) -> tuple[Term, ...]:
        """Return what is reduced, for exponents of `exp`, and of `exp2` if they may be meant."""
        of_exp2 = natural(inward(self.step))
        return (inward(self.step), *(() if of_exp2 is None else (of_exp2,)))


# The step of each running maximum, by what stands for it after an iteration.
Steps = Mapping[Term, FrameStep]


def is_largest(framing: Framing, use: ExponentUse, steps: Steps) -> bool:
    """Return whether the values that an iteration reduces are just those in an exponent.

    So the largest exponent is 0, unless an earlier iteration had a larger one. A frame that is too
    small makes exponentials infinite; one that is too large makes all of them 0.
    """
    if len(steps) != 1:
        return False
    ((symbol, step),) = steps.items()
    x = _value_in(framing, use.operand, symbol, step.operation)
    if x is None:
        return False
    largest, where = _reduced(use, x, step)
    return any(difference(framing.run, one, largest, where) is None for one in step.steps)


def is_below(framing: Framing, use: ExponentUse, steps: Steps) -> bool:
    """Return whether an exponent is at most 0, but for what stands beside x - m in it.

    If it is, a test of data may still leave out more of the sum than of the maximum.
    """
    return all(_is_side_below(framing, side, steps) for side in _sides(use))


def _is_side_below(framing: Framing, use: ExponentUse, steps: Steps) -> bool:
    exponent = framing.exponent(use.operand)
    frames = [(symbol_in(one), power) for one, power in exponent.frames.items()]
    known = [(power, steps[one]) for one, power in frames if one in steps]
    if not known or len({one for one, _ in frames if one in steps}) < len(frames):
        return False
    if len(exponent.rest) > MOST_SUMMANDS:
        return False
    if any((power < 0) is not (step.operation == "maximum") for power, step in known):
        return False
    if any(has_symbol(term) for _, term in exponent.rest):
        return False
    return _is_split(framing.run, use, exponent.rest, known)


def _is_split(
    run: ProofRun, use: ExponentUse, rest: Summands, frames: Sequence[tuple[Fraction, FrameStep]]
) -> bool:
    """Return whether each maximum that is subtracted has summands of its own that it is above."""
    (power, step), *others = frames
    for count in range(len(rest), 0, -1):
        for parts in combinations(rest, count):
            x = sum_of([(factor / -power, term) for factor, term in parts])
            left = tuple(one for one in rest if one not in parts)
            if not sources(x) <= sources(step.step) or not _is_step_above(run, use, x, step):
                continue
            if others and left and _is_split(run, use, left, others):
                return True
            if not others:
                if left:
                    run.take(OF_BESIDE)
                return True
    return False


def _is_step_above(run: ProofRun, use: ExponentUse, x: Term, step: FrameStep) -> bool:
    """Return whether what an iteration reduces is at least x, where no test leaves it out."""
    for tests in dict.fromkeys((use.tests, ())):
        more, where = _reduced(replace(use, tests=tests), x, step)
        if any(_is_reduced(run, step.operation, one, more, where) for one in step.steps):
            return True
    return False


def _is_reduced(run: ProofRun, operation: str, step: Term, x: Term, where: Region) -> bool:
    """Return whether what an iteration reduces has all of x in it."""
    both_of = AppliedOperation(operation, (step, x))
    return any(difference(run, step, one, where) is None for one in (x, both_of)) or adds_nothing(
        run, operation, step, x, where
    )


def _reduced(use: ExponentUse, x: Term, step: FrameStep) -> tuple[Term, Region]:
    """Return the largest x of the reductions that an exponential stands in, and where it is asked.

    Where a mask leaves nothing of a sum, as in a row that is not there, nothing is looked at.
    """
    parts = use.domain.parts if isinstance(use.domain, All) else (use.domain,)
    outer = [part for part in parts if names_of(part).isdisjoint(use.bound)] if use.bound else []
    inner = [part for part in parts if part not in outer]
    nothing = IDENTITY[step.operation]
    x = where_all(use.tests, x, nothing)
    where = step.known.intersect(set_of(both(*outer)))
    if use.bound:
        return Total(step.operation, use.bound, both(*inner), x), where
    return choose(use.domain, x, nothing), where


def _sides(use: ExponentUse) -> Iterator[ExponentUse]:
    """Yield an exponent on each side of a choice, without those that are -inf."""
    match use.operand:
        case Choose(condition=condition, yes=yes, no=no):
            for truth, side in ((condition, yes), (negation(condition), no)):
                yield from _sides(replace(use, operand=side, domain=both(use.domain, truth)))
        case Literal(text="-inf"):
            return
        case _:
            yield use


def _value_in(framing: Framing, operand: Term, symbol: Term, operation: str) -> Term | None:
    """Return x for `c * (x - m)`, or for `c * (m - x)` of a minimum, c > 0; None for others."""
    match operand:
        case Choose(condition=condition, yes=yes, no=no):
            first, second = (_value_in(framing, one, symbol, operation) for one in (yes, no))
            return None if first is None or second is None else choose(condition, first, second)
        case Literal(text="-inf"):
            return IDENTITY[operation]
        case _:
            rest = _rest_in(framing, operand, symbol, operation)
            return None if rest is None else sum_of(rest)


def _rest_in(framing: Framing, operand: Term, symbol: Term, operation: str) -> Summands | None:
    """Return the summands of x for `c * (x - m)`, or for `c * (m - x)` of a minimum, c > 0."""
    exponent = _without_small_number(framing, framing.exponent(operand))
    powers = [p for one, p in exponent.frames.items() if symbol_in(one) == symbol]
    if len(powers) != 1 or len(exponent.frames) != 1 or not exponent.rest:
        return None
    if (powers[0] < 0) is not (operation == "maximum"):
        return None
    if any(has_symbol(term) for _, term in exponent.rest):
        return None
    return exponent.scaled(-1 / powers[0]).rest


def _without_small_number(framing: Framing, exponent: Exponent) -> Exponent:
    """Return an exponent without a small number that is written in it, as in `x - (m - 3)`.

    With it, all exponentials have one more factor, which makes them neither infinite nor 0.
    """
    rest = [one for one in exponent.rest if _number_in(one) is None]
    total = sum((number for one in exponent.rest if (number := _number_in(one))), Fraction(0))
    if len(rest) in (0, len(exponent.rest)) or abs(total) > MOST_BESIDE:
        return exponent
    if total:
        framing.run.take(OF_BESIDE)
    return replace(exponent, rest=tuple(rest))


def _number_in(summand: tuple[Fraction, Term]) -> Fraction | None:
    """Return the number that a summand is, if it is written as one."""
    factor, one = summand
    number = finite(one.text) if isinstance(one, Literal) else None
    return None if number is None else factor * number


def is_correction(framing: Framing, factor: Term, operations: Mapping[FrameSymbols, str]) -> bool:
    """Return whether each exponent of a correction is an old maximum less the new one, or several.

    Such an exponent is at most 0.
    """
    for part in walk(factor):
        if isinstance(part, AppliedOperation) and part.operation == "exp":
            exponent = framing.exponent(part.operands[0])
            powers = {symbol_in(one): power for one, power in exponent.frames.items()}
            if exponent.rest or not powers or len(powers) < len(exponent.frames):
                return False
            for of, operation in operations.items():
                old, new = powers.pop(of.old, Fraction(0)), powers.pop(of.new, Fraction(0))
                if old != -new or (old and (old > 0) is not (operation == "maximum")):
                    return False
            if powers:
                return False
    return True
