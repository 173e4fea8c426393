"""Recognise values that a loop corrects where a running maximum grows (lemma 13).

In `x = x * exp(m - m_new) + exp(t - m_new)` with `m_new = maximum(m, t)`, x is a sum in the frame
of m: after the loop it is `exp(-m)` times the sum of exp(t). Nothing here needs trust but `_kept`
and what it calls: a value that is not recognised is lost, and its use is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_comparison import OF_START
from dtpoly.verify.algebra.frame_keys import MOST_SIDES, frame_key, sides
from dtpoly.verify.algebra.frames import (
    INFINITIES,
    NATURAL,
    OF_EXP,
    ONE,
    SYMBOL,
    ZERO,
    FramedValue,
    Framing,
    guarded,
    inward,
    is_start,
    sum_of,
    written,
)
from dtpoly.verify.algebra.identities import IDENTITY
from dtpoly.verify.algebra.kernel_values import TileValue, Value, as_term, lanes_of
from dtpoly.verify.algebra.powers_of_two import OF_EXP2, in_base_e, natural, natural_of
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.regions import Region, set_of
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Carried,
    Choose,
    Given,
    Literal,
    Term,
    Total,
    children,
    choose,
    put,
    renamed,
    swapped,
    walk,
)
from dtpoly.verify.algebra.tested_terms import where_all
from dtpoly.verify.algebra.value import difference
from dtpoly.verify.algebra.whole import TRUE, All, Put, Truth, both, names_of, negation

# What stands for the running maximum before an iteration, and for that after it.
OLD, NEW = Given(f"{SYMBOL}before", False), Given(f"{SYMBOL}after", False)


@dataclass(frozen=True, slots=True)
class RunningExtreme:
    """A running maximum or minimum of a loop, at the lanes of a value that is kept in its frame."""

    variable: str
    operation: str
    # What it starts with, what an iteration makes of OLD, and what it reduces then.
    start: Term
    new: Term
    step: Term
    # What it is after the loop, and after the first iteration (a number if there is none).
    final: Term
    first: Term


@dataclass(frozen=True, slots=True)
class AffineUpdate:
    """An iteration changes a value x to `x * factor + more`; without x there is no factor."""

    factor: Term | None
    more: Term


def frames_of(term: Term, one: str, loop: str) -> Carried | None:
    """Return the only other variable of the loop that a term looks at; None if there is no such."""
    others = {
        other
        for other in walk(term)
        if isinstance(other, Carried) and other.loop == loop and other.variable != one
    }
    return others.pop() if len(others) == 1 else None


def extreme_of(
    run: ProofRun, old: Carried, tiles: tuple[Value, Value, Value], first: tuple[Put, Truth]
) -> RunningExtreme | None:
    """Return the running maximum that a variable is, or None.

    `tiles` are the variable before the loop, after an iteration and after the loop; `first` has the
    counters of the first iteration, and whether there is one.
    """
    if not all(isinstance(tile, TileValue) for tile in tiles):
        return None
    start, new, final = (
        put(run, as_term(tile.item, 0), dict(zip(lanes_of(tile.axes), old.lanes, strict=True)))
        for tile in tiles
        if isinstance(tile, TileValue)
    )
    match swapped(new, old, OLD):
        case AppliedOperation(operation="maximum" | "minimum" as operation, operands=(a, b)):
            steps = [two for one, two in ((a, b), (b, a)) if one == OLD]
        case _:
            return None
    if len(steps) != 1 or any(isinstance(one, Carried) for one in walk(steps[0])):
        return None
    counters, is_run = first
    after_first = put(run, swapped(new, old, start), counters)
    return RunningExtreme(
        old.variable,
        operation,
        inward(start),
        swapped(new, old, OLD),
        steps[0],
        inward(final),
        choose(is_run, inward(after_first), ZERO),
    )


def kept(
    run: ProofRun,
    new: Term,
    start: Term,
    extreme: RunningExtreme,
    old: Carried,
    loop: tuple[Carried, tuple[str, ...], Truth, Region],
    has_all: Callable[[Term], bool] = lambda _: True,
) -> Term | None:
    """Return what x is after a loop that keeps it in the frame of a running maximum, or None.

    `loop` has x in an iteration, the names of the counters, their range, and all that is known in
    an iteration. A branch counts as a loop of one iteration, without counters. `has_all` says
    whether a sum of a term over the rounds of the loop is that over the whole range: a loop whose
    bounds are data leaves rounds out.
    """
    me, counters, here, known = loop
    whole_new = swapped(extreme.new, OLD, old)
    body = swapped(swapped(new, whole_new, NEW), old, OLD)
    plain = in_base_e(body)
    update = _affine(plain or body, me)
    if update is None or update.factor is None or _carries(update, me.loop):
        return None
    framing = Framing(run)
    factor, more = framing.value(update.factor), framing.value(update.more)
    if not has_all(more.body):
        return None
    power = _power(factor, more, extreme)
    began = framing.value(start)
    if power is None:
        return None
    (frame,) = more.powers
    first, final = (natural_of(swapped(frame, NEW, one)) for one in (extreme.start, extreme.final))
    if first is None or final is None or not _begins(start, began, extreme, (first, power)):
        return None
    is_safe = all(
        _is_at_most(framing, run, use, extreme, known) for use in _exponents(run, update.more)
    )
    if not is_safe or not _is_correction(framing, update.factor, extreme):
        return None
    run.assume(Lemma.FRAMES, me.variable, extreme.variable, *map(str, _instance(factor, more)))
    run.take(OF_EXP)
    if extreme.start not in INFINITIES and isinstance(extreme.start, Literal):
        run.take(OF_START)
    note_kept(run, extreme.final, final)
    if plain is not None:
        run.take(OF_EXP2)
    bag = Total("add", counters, here, more.body) if counters else more.body
    inside = bag if began.body == ZERO else AppliedOperation("add", (began.body, bag))
    value = written(FramedValue({final: power}, inside))
    needs = [need for term in walk(start) for need in needs_of(term)]
    # A guard asks for -inf, which is what a maximum of nothing is.
    if guarded(frame) is None or extreme.operation == "minimum":
        needs.append(extreme.first)
    return AppliedOperation(RUNNING, (value, *needs))


def note_kept(run: ProofRun, *frames: Term) -> None:
    """Note that values are kept in some frames, whichever sides of branches were taken before."""
    for one in frames:
        ways = islice(sides(guarded(one) or one), MOST_SIDES)
        run.frames |= {frame_key(run, way) for way in ways}


def needs_of(term: Term) -> tuple[Term, ...]:
    """Return what must be finite for a value that is kept in a frame to be that value."""
    match term:
        case AppliedOperation(operation=operation, operands=(_, *needs)) if operation == RUNNING:
            return tuple(needs)
        case _:
            return ()


def symbol_in(frame: Term) -> Term:
    """Return what a frame is made of: a symbol, maybe for exponents of `exp2`, maybe guarded."""
    inner = guarded(frame) or frame
    match inner:
        case AppliedOperation(operation=operation, operands=(symbol,)) if operation == NATURAL:
            return symbol
        case _:
            return inner


def _instance(factor: FramedValue, more: FramedValue) -> tuple[Fraction, Fraction, Fraction]:
    """Return the powers of the frames: in h, and those of new and old in the correction."""
    ((_, power),) = more.powers.items()
    new, old = (
        sum((p for one, p in factor.powers.items() if symbol_in(one) == symbol), Fraction(0))
        for symbol in (NEW, OLD)
    )
    return power, new, old


def _power(factor: FramedValue, more: FramedValue, extreme: RunningExtreme) -> Fraction | None:
    """Return k, where `more` is `exp(k * m_new) * g` and the factor `exp(k * m_new - k * m)`.

    That is the whole of the induction. m_new may be guarded, but m may not: where it is -inf, the
    factor must be 0, as it may be infinite otherwise.
    """
    if factor.body != ONE or len(more.powers) != 1 or factor.over or more.over:
        return None
    ((frame, power),) = more.powers.items()
    if symbol_in(frame) != NEW or any(one in (OLD, NEW) for one in walk(more.body)):
        return None
    old = swapped(guarded(frame) or frame, NEW, OLD)
    is_below = power < 0 if extreme.operation == "maximum" else power > 0
    return power if dict(factor.powers) == {frame: power, old: -power} and is_below else None


def _begins(
    start: Term, began: FramedValue, extreme: RunningExtreme, frame: tuple[Term, Fraction]
) -> bool:
    """Return whether x starts as nothing, or in the frame in which the running maximum starts.

    The second is so after another loop that kept x in a frame.
    """
    if start == ZERO:
        return is_start(extreme.start, extreme.operation)
    is_kept = isinstance(start, AppliedOperation) and start.operation == RUNNING
    return is_kept and dict(began.powers) == dict((frame,))


def _carries(update: AffineUpdate, loop: str) -> bool:
    terms = (update.more, update.factor or ZERO)
    return any(
        (isinstance(one, Carried) and one.loop == loop)
        or (isinstance(one, AppliedOperation) and one.operation == RUNNING)
        for term in terms
        for one in walk(term)
    )


def _affine(term: Term, me: Carried) -> AffineUpdate | None:
    """Return a term as `x * factor + more`; None if it is not of that form."""
    if term == me:
        return AffineUpdate(ONE, ZERO)
    if all(one != me for one in walk(term)):
        return AffineUpdate(None, term)
    match term:
        case AppliedOperation(operation="add", operands=(a, b)):
            first, second = _affine(a, me), _affine(b, me)
            if first is None or second is None or None not in (first.factor, second.factor):
                return None
            return AffineUpdate(first.factor or second.factor, _plus(first.more, second.more))
        case AppliedOperation(operation="mul", operands=(a, b)):
            first, second = _affine(a, me), _affine(b, me)
            if first is None or second is None or None not in (first.factor, second.factor):
                return None
            if first.factor is None:
                first, second = second, first
            assert first.factor is not None
            return AffineUpdate(_times(first.factor, second.more), _times(first.more, second.more))
        case _:
            return None


def _plus(a: Term, b: Term) -> Term:
    if ZERO in (a, b):
        return b if a == ZERO else a
    return AppliedOperation("add", (a, b))


def _times(a: Term, b: Term) -> Term:
    if ZERO in (a, b):
        return ZERO
    if ONE in (a, b):
        return b if a == ONE else a
    return AppliedOperation("mul", (a, b))


@dataclass(frozen=True, slots=True)
class ExponentUse:
    """The operand of an exponential, and the reductions and the conditions that it stands in."""

    operand: Term
    bound: tuple[str, ...] = ()
    domain: Truth = TRUE
    tests: tuple[Term, ...] = ()  # of data


def _exponents(
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
            yield from _exponents(run, new.body, replace(around, bound=bound, domain=domain))
        case Choose(condition=condition, yes=yes, no=no):
            for truth, side in ((condition, yes), (negation(condition), no)):
                inside = replace(around, domain=both(around.domain, truth))
                yield from _exponents(run, side, inside)
        case AppliedOperation(operation="where", operands=(test, yes, no)):
            yield from _exponents(run, test, around)
            tests = tuple(dict.fromkeys((*around.tests, test)))
            yield from _exponents(run, yes, replace(around, tests=tests))
            yield from _exponents(run, no, around)
        case _:
            for one in children(term):
                yield from _exponents(run, one, around)


def _is_at_most(
    framing: Framing, run: ProofRun, use: ExponentUse, extreme: RunningExtreme, known: Region
) -> bool:
    """Return whether the values that an iteration reduces are just those in an exponent.

    So the largest exponent is 0, unless an earlier iteration had a larger one. A frame that is too
    small makes exponentials infinite; one that is too large makes all of them 0.
    """
    x = _value_in(framing, use.operand, extreme.operation)
    if x is None:
        return False
    # Where a mask leaves nothing of a sum, as in a row that is not there, nothing is looked at.
    parts = use.domain.parts if isinstance(use.domain, All) else (use.domain,)
    outer = [part for part in parts if names_of(part).isdisjoint(use.bound)] if use.bound else []
    inner = [part for part in parts if part not in outer]
    nothing = IDENTITY[extreme.operation]
    x = where_all(use.tests, x, nothing)
    largest = (
        Total(extreme.operation, use.bound, both(*inner), x)
        if use.bound
        else choose(use.domain, x, nothing)
    )
    where = known.intersect(set_of(both(*outer)))
    steps = (inward(extreme.step), natural(inward(extreme.step)))
    return any(one and difference(run, one, largest, where) is None for one in steps)


def _value_in(framing: Framing, operand: Term, operation: str) -> Term | None:
    """Return x for `c * (x - m)`, or for `c * (m - x)` of a minimum, c > 0; None for others."""
    match operand:
        case Choose(condition=condition, yes=yes, no=no):
            first, second = (_value_in(framing, side, operation) for side in (yes, no))
            return None if first is None or second is None else choose(condition, first, second)
        case Literal(text="-inf"):
            return IDENTITY[operation]
        case _:
            pass
    exponent = framing.exponent(operand)
    powers = [p for one, p in exponent.frames.items() if symbol_in(one) == NEW]
    if len(powers) != 1 or len(exponent.frames) != 1 or not exponent.rest:
        return None
    if (powers[0] < 0) is not (operation == "maximum"):
        return None
    if any(one in (OLD, NEW) for _, term in exponent.rest for one in walk(term)):
        return None
    return sum_of(exponent.scaled(-1 / powers[0]).rest)


def _is_correction(framing: Framing, factor: Term, extreme: RunningExtreme) -> bool:
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
            if (olds[0] > 0) is not (extreme.operation == "maximum"):
                return False
    return True
