"""Look at the exponents of what a loop adds to a sum in the frame of a running maximum (lemma 13).

Over the reals, any frame is right. Numbers of a machine need exponents that are not far above 0,
and in each sum one that is not far below 0. This file asks the first and, in the best case, the
second, too: then the running maximum is the largest of just these exponents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_comparison import MOST_SUMMANDS, adds_nothing
from dtpoly.verify.algebra.frame_terms import NATURAL, SYMBOL, guarded, inward, sum_of
from dtpoly.verify.algebra.frames import Framing
from dtpoly.verify.algebra.identities import IDENTITY
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

# What stands for the running maximum before an iteration, and for that after it.
OLD, NEW = Given(f"{SYMBOL}before", False), Given(f"{SYMBOL}after", False)
OF_BESIDE = "what stands beside x - m in an exponent is not too large for exp"
Summands = tuple[tuple[Fraction, Term], ...]


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
    if all(one not in (OLD, NEW) for one in walk(term)):
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


def is_largest(framing: Framing, use: ExponentUse, step: FrameStep) -> bool:
    """Return whether the values that an iteration reduces are just those in an exponent.

    So the largest exponent is 0, unless an earlier iteration had a larger one. A frame that is too
    small makes exponentials infinite; one that is too large makes all of them 0.
    """
    x = _value_in(framing, use.operand, step.operation)
    if x is None:
        return False
    largest, where = _reduced(use, x, step)
    return any(difference(framing.run, one, largest, where) is None for one in step.steps)


def is_below(framing: Framing, use: ExponentUse, step: FrameStep) -> bool:
    """Return whether an exponent is at most 0, but for what stands beside x - m in it.

    If it is, a test of data may still leave out more of the sum than of the maximum.
    """
    return all(_is_side_below(framing, side, step) for side in _sides(use))


def _is_side_below(framing: Framing, use: ExponentUse, step: FrameStep) -> bool:
    rest = _rest_in(framing, use.operand, step.operation)
    if rest is None or len(rest) > MOST_SUMMANDS:
        return False
    for count in range(len(rest), 0, -1):
        for parts in combinations(rest, count):
            x = sum_of(parts)
            if not sources(x) <= sources(step.step):
                continue
            for tests in dict.fromkeys((use.tests, ())):
                more, where = _reduced(replace(use, tests=tests), x, step)
                run, word = framing.run, step.operation
                if any(_is_reduced(run, word, one, more, where) for one in step.steps):
                    if count < len(rest):
                        run.take(OF_BESIDE)
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


def _value_in(framing: Framing, operand: Term, operation: str) -> Term | None:
    """Return x for `c * (x - m)`, or for `c * (m - x)` of a minimum, c > 0; None for others."""
    match operand:
        case Choose(condition=condition, yes=yes, no=no):
            first, second = (_value_in(framing, side, operation) for side in (yes, no))
            return None if first is None or second is None else choose(condition, first, second)
        case Literal(text="-inf"):
            return IDENTITY[operation]
        case _:
            rest = _rest_in(framing, operand, operation)
            return None if rest is None else sum_of(rest)


def _rest_in(framing: Framing, operand: Term, operation: str) -> Summands | None:
    """Return the summands of x for `c * (x - m)`, or for `c * (m - x)` of a minimum, c > 0."""
    exponent = framing.exponent(operand)
    powers = [p for one, p in exponent.frames.items() if symbol_in(one) == NEW]
    if len(powers) != 1 or len(exponent.frames) != 1 or not exponent.rest:
        return None
    if (powers[0] < 0) is not (operation == "maximum"):
        return None
    if any(one in (OLD, NEW) for _, term in exponent.rest for one in walk(term)):
        return None
    return exponent.scaled(-1 / powers[0]).rest


def is_correction(framing: Framing, factor: Term, operation: str) -> bool:
    """Return whether each exponent of a correction is the old maximum less the new one.

    Such an exponent is at most 0.
    """
    for part in walk(factor):
        if isinstance(part, AppliedOperation) and part.operation == "exp":
            exponent = framing.exponent(part.operands[0])
            olds = [p for one, p in exponent.frames.items() if symbol_in(one) == OLD]
            news = [p for one, p in exponent.frames.items() if symbol_in(one) == NEW]
            if exponent.rest or len(olds) != 1 or len(news) != 1 or olds[0] != -news[0]:
                return False
            if (olds[0] > 0) is not (operation == "maximum"):
                return False
    return True
