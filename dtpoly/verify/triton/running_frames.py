"""Recognise values that a loop corrects where a running maximum grows (lemma 13).

In `x = x * exp(m - m_new) + exp(t - m_new)` with `m_new = maximum(m, t)`, x is a sum in the frame
of m: after the loop it is `exp(-m)` times the sum of exp(t). Nothing here needs trust but `_kept`
and what it calls: a value that is not recognised is lost, and its use is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_keys import MOST_SIDES, frame_key, sides
from dtpoly.verify.algebra.frame_terms import (
    INFINITIES,
    OF_START,
    ONE,
    ZERO,
    guarded,
    inward,
    is_start,
)
from dtpoly.verify.algebra.frames import OF_EXP, FramedValue, Framing, written
from dtpoly.verify.algebra.kernel_values import TileValue, Value, as_term, lanes_of
from dtpoly.verify.algebra.powers_of_two import OF_EXP2, in_base_e, natural_of
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.algebra.sums_of_algorithm import for_sum_of_algorithm, is_for_sum_of_algorithm
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Carried,
    Literal,
    Term,
    Total,
    choose,
    put,
    swapped,
    walk,
)
from dtpoly.verify.algebra.whole import Put, Truth
from dtpoly.verify.triton.frame_exponents import (
    NEW,
    OLD,
    FrameStep,
    exponents,
    is_below,
    is_correction,
    is_largest,
    symbol_in,
)


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
    step = FrameStep(extreme.operation, extreme.step, known)
    uses = list(exponents(run, update.more))
    are_largest = all(is_largest(framing, use, step) for use in uses)
    if not are_largest and not all(is_below(framing, use, step) for use in uses):
        return None
    if not is_correction(framing, update.factor, extreme.operation):
        return None
    run.assume(Lemma.FRAMES, me.variable, extreme.variable, *map(str, _instance(factor, more)))
    run.take(OF_EXP)
    if extreme.start not in INFINITIES and isinstance(extreme.start, Literal):
        run.take(OF_START)
    note_kept(run, extreme.final, final, are_reached=are_largest)
    if plain is not None:
        run.take(OF_EXP2)
    bag = Total("add", counters, here, more.body) if counters else more.body
    inside = bag if began.body == ZERO else AppliedOperation("add", (began.body, bag))
    value = written(FramedValue({final: power}, inside))
    needs = [need for term in walk(start) for need in needs_of(term)]
    # A guard asks for -inf, which is what a maximum of nothing is.
    if guarded(frame) is None or extreme.operation == "minimum":
        needs.append(extreme.first)
    return running(value, needs, is_for_algorithm=not are_largest)


def running(value: Term, needs: Sequence[Term], *, is_for_algorithm: bool) -> Term:
    """Return a kept value with what it needs; it may have to be a sum of the algorithm (lemma 23).

    If a part of it has to be one, such as what another loop left, the whole has to be one.
    """
    finite = [need for need in needs if not is_for_sum_of_algorithm(need)]
    if is_for_algorithm or len(finite) < len(needs):
        finite.append(for_sum_of_algorithm(value))
    return AppliedOperation(RUNNING, (value, *finite))


def note_kept(run: ProofRun, *frames: Term, are_reached: bool) -> None:
    """Note that values are kept in some frames, whichever sides of branches were taken before.

    A frame is reached if it is the largest exponent of a sum.
    """
    for one in frames:
        ways = islice(sides(guarded(one) or one), MOST_SIDES)
        keys = {frame_key(run, way) for way in ways}
        run.frames |= keys
        if are_reached:
            run.reached |= keys


def needs_of(term: Term) -> tuple[Term, ...]:
    """Return what must be finite for a value that is kept in a frame to be that value."""
    match term:
        case AppliedOperation(operation=operation, operands=(_, *needs)) if operation == RUNNING:
            return tuple(needs)
        case _:
            return ()


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
