"""Recognise values that a loop corrects where a running maximum grows (lemma 13).

In `x = x * exp(m - m_new) + exp(t - m_new)` with `m_new = maximum(m, t)`, x is a sum in the frame
of m: after the loop it is `exp(-m)` times the sum of exp(t). Nothing here needs trust but `_kept`
and what it calls: a value that is not recognised is lost, and its use is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_keys import frame_key
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
    FrameStep,
    FrameSymbols,
    exponents,
    has_symbol,
    is_below,
    is_correction,
    is_largest,
    symbol_in,
    symbols,
)
from dtpoly.verify.triton.loaded_twice import note_loaded_twice
from dtpoly.verify.triton.open_frames import OPEN, is_open, moved, starts_finite, unwrapped

# A sum is kept in the frames of so many running maxima.
MOST_FRAMES = 3


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
    # What it starts with, and what it is after the loop, as the kernel has it.
    begun: Term
    ended: Term


@dataclass(frozen=True, slots=True)
class KeptLoop:
    """A loop in which a value x may be kept: x in an iteration, the counters, and what is known.

    A branch counts as a loop of one iteration, without counters. `has_all` says whether a sum of a
    term over the rounds of the loop is that over the whole range: a loop whose bounds are data
    leaves rounds out.
    """

    me: Carried
    counters: tuple[str, ...]
    here: Truth
    known: Region
    has_all: Callable[[Term], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class AffineUpdate:
    """An iteration changes a value x to `x * factor + more`; without x there is no factor."""

    factor: Term | None
    more: Term


def frames_of(term: Term, one: str, loop: str) -> tuple[Carried, ...]:
    """Return the few other variables of the loop that a term looks at, each at the same lanes."""
    others = {
        other
        for other in walk(term)
        if isinstance(other, Carried) and other.loop == loop and other.variable != one
    }
    apart = {other.variable for other in others}
    if len(apart) < len(others) or len(others) > MOST_FRAMES:
        return ()
    return tuple(sorted(others, key=lambda other: other.variable))


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
    found = _step_of(new, old)
    if found is None or any(isinstance(one, Carried) for one in walk(found[1])):
        return None
    operation, step = found
    counters, is_run = first
    after_first = put(run, swapped(new, old, start), counters)
    return RunningExtreme(
        old.variable,
        operation,
        inward(start),
        new,
        step,
        inward(final),
        choose(is_run, inward(after_first), ZERO),
        begun=start,
        ended=final,
    )


def _step_of(new: Term, old: Carried) -> tuple[str, Term] | None:
    """Return the operation of a running maximum or minimum, and all that it takes in at once."""
    match new:
        case AppliedOperation(operation="maximum" | "minimum" as operation):
            pass
        case _:
            return None
    operands = _operands(new, operation)
    rest = [one for one in operands if one != old]
    if len(rest) != len(operands) - 1:
        return None
    step = rest[0]
    for one in rest[1:]:
        step = AppliedOperation(operation, (step, one))
    return operation, step


def _operands(term: Term, operation: str) -> list[Term]:
    """Return the operands of a maximum of maxima."""
    match term:
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            return [part for one in operands for part in _operands(one, operation)]
        case _:
            return [term]


@dataclass(frozen=True, slots=True)
class _KeptUpdate:
    """An update `x * factor + more` of a value in the frames of some running maxima."""

    # As the kernel has it, and in exponentials of base e.
    whole: Term
    factor: Term
    more: Term
    # The sum of `more` without its frames, and the power of each frame.
    body: Term
    powers: Mapping[Term, Fraction]
    of: Mapping[FrameSymbols, RunningExtreme]

    def at(self, *, is_end: bool) -> dict[Term, Fraction] | None:
        """Return the powers of the frames as they are before, or after, the loop."""
        found: dict[Term, Fraction] = {}
        for symbol, extreme in self.of.items():
            for frame, power in self.powers.items():
                if symbol_in(frame) == symbol.new:
                    of = extreme.final if is_end else extreme.start
                    natural = natural_of(swapped(frame, symbol.new, of))
                    if natural is None:
                        return None
                    found[natural] = power
        return found


def kept(
    run: ProofRun,
    new: Term,
    start: Term,
    extremes: Mapping[Carried, RunningExtreme],
    loop: KeptLoop,
) -> Term | None:
    """Return what x is after a loop that keeps it in the frames of running maxima, or None.

    `extremes` has the maxima by what they are in an iteration. Where x starts with what an outer
    loop carries, its value is left open until that loop is read to its end.
    """
    new, inner = unwrapped(new, loop.me)
    closes = not is_open(start, loop.me)
    if inner and closes and not all(starts_finite(one.start) for one in extremes.values()):
        return None
    body, of = _with_symbols(new, extremes)
    plain = in_base_e(body)
    framing = Framing(run)
    update = _update(framing, (body, plain or body), loop, of)
    if update is None or not loop.has_all(update.body):
        return None
    steps: dict[Term, FrameStep] = {
        symbol.new: FrameStep(one.operation, one.step, loop.known) for symbol, one in of.items()
    }
    uses = list(exponents(run, update.more))
    are_largest = all(is_largest(framing, use, steps) for use in uses)
    if not are_largest and not all(is_below(framing, use, steps) for use in uses):
        return None
    if not is_correction(framing, update.factor, {s: one.operation for s, one in of.items()}):
        return None
    looked_at = (*(one.step for one in of.values()), *(use.operand for use in uses))
    note_loaded_twice(run, run.line, *looked_at)
    are_largest = are_largest and not any(map(is_for_sum_of_algorithm, inner))
    value = (_closed if closes else _opened)(framing, update, start, loop)
    if value is None:
        return None
    _note(run, update, loop.me, are_reached=are_largest and closes)
    if plain is not None:
        run.take(OF_EXP2)
    needs = [need for term in walk(start) for need in needs_of(term)]
    if closes:
        # A guard asks for -inf, which is what a maximum of nothing is.
        guards = {symbol_in(one) for one in update.powers if guarded(one) is not None}
        needs += [
            one.first
            for symbol, one in of.items()
            if symbol.new not in guards or one.operation == "minimum"
        ]
    elif OPEN not in needs:
        needs.append(OPEN)
    return running(value, needs, is_for_algorithm=not are_largest)


def _with_symbols(
    new: Term, extremes: Mapping[Carried, RunningExtreme]
) -> tuple[Term, dict[FrameSymbols, RunningExtreme]]:
    """Return a value with symbols for the maxima before and after an iteration."""
    of = {symbols(number): one for number, one in enumerate(extremes.values())}
    for symbol, one in of.items():
        new = swapped(new, one.new, symbol.new)
    for symbol, old in zip(of, extremes, strict=True):
        new = swapped(new, old, symbol.old)
    return new, of


def _update(
    framing: Framing,
    bodies: tuple[Term, Term],
    loop: KeptLoop,
    of: Mapping[FrameSymbols, RunningExtreme],
) -> _KeptUpdate | None:
    """Return the update of a value, if it has the form of lemma 13; None for others.

    `bodies` are the value after an iteration as the kernel has it, and in exponentials of base e.
    """
    update = _affine(bodies[1], loop.me)
    if update is None or update.factor is None or _carries(update, loop.me.loop):
        return None
    factor, more = framing.value(update.factor), framing.value(update.more)
    powers = _powers(factor, more, of)
    if powers is None:
        return None
    return _KeptUpdate(bodies[0], update.factor, update.more, more.body, powers, of)


def _closed(framing: Framing, update: _KeptUpdate, start: Term, loop: KeptLoop) -> Term | None:
    """Return what a value is after a loop, in the last frames, or None if it started otherwise."""
    began = framing.value(start)
    first, final = update.at(is_end=False), update.at(is_end=True)
    extremes = update.of.values()
    if first is None or final is None or len(final) < len(update.of):
        return None
    if not _begins(start, began, extremes, first):
        return None
    bag = update.body
    if loop.counters:
        bag = Total("add", loop.counters, loop.here, bag)
    inside = bag if began.body == ZERO else AppliedOperation("add", (began.body, bag))
    return written(FramedValue(final, inside))


def _opened(framing: Framing, update: _KeptUpdate, start: Term, loop: KeptLoop) -> Term | None:
    """Return what a value is after a loop that goes on with what an outer loop carries, or None.

    It has the exponentials that the kernel has, since the outer loop is read as the kernel has it.
    """
    raw = _affine(update.whole, loop.me)
    if raw is None or raw.factor is None:
        return None
    if any(guarded(one) is not None for one in update.powers):
        return None
    ways = {symbol: (one.begun, one.ended) for symbol, one in update.of.items()}
    value, more = moved(framing, start, raw.factor, ways, update.powers), raw.more
    for symbol, (_, ended) in ways.items():
        more = swapped(more, symbol.new, ended)
    if loop.counters:
        more = Total("add", loop.counters, loop.here, more)
    return None if value is None else AppliedOperation("add", (value, more))


def _note(run: ProofRun, update: _KeptUpdate, me: Carried, *, are_reached: bool) -> None:
    """Note the lemma and the licences that an update needs, and the frames that it leaves."""
    for symbol, one in update.of.items():
        ((power),) = (p for frame, p in update.powers.items() if symbol_in(frame) == symbol.new)
        run.assume(Lemma.FRAMES, me.variable, one.variable, *map(str, (power, power, -power)))
        if one.start not in INFINITIES and isinstance(one.start, Literal):
            run.take(OF_START)
    run.take(OF_EXP)
    final = update.at(is_end=True) or {}
    ends = [one.final for one in update.of.values()]
    note_kept(run, *ends, *final, are_reached=are_reached)


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
        key = frame_key(run, guarded(one) or one)
        if key is None:
            continue
        run.frames.add(key)
        if are_reached:
            run.reached.add(key)


def needs_of(term: Term) -> tuple[Term, ...]:
    """Return what must be finite for a value that is kept in a frame to be that value."""
    match term:
        case AppliedOperation(operation=operation, operands=(_, *needs)) if operation == RUNNING:
            return tuple(needs)
        case _:
            return ()


def _powers(
    factor: FramedValue, more: FramedValue, of: Mapping[FrameSymbols, RunningExtreme]
) -> Mapping[Term, Fraction] | None:
    """Return the k of each frame, where `more` is `exp(k * m_new) * g`, and so on for each m.

    The factor has to be `exp(k * m_new - k * m)` for each m. That is the whole of the induction.
    m_new may be guarded, but m may not: where it is -inf, the factor must be 0, as it may be
    infinite otherwise.
    """
    if factor.body != ONE or len(more.powers) != len(of) or factor.over or more.over:
        return None
    if has_symbol(more.body):
        return None
    wanted: dict[Term, Fraction] = {}
    for symbol, extreme in of.items():
        mine = [(one, p) for one, p in more.powers.items() if symbol_in(one) == symbol.new]
        if len(mine) != 1:
            return None
        ((frame, power),) = mine
        if (power < 0) is not (extreme.operation == "maximum"):
            return None
        old = swapped(guarded(frame) or frame, symbol.new, symbol.old)
        wanted |= {frame: power, old: -power}
    return dict(more.powers) if dict(factor.powers) == wanted else None


def _begins(
    start: Term,
    began: FramedValue,
    extremes: Iterable[RunningExtreme],
    first: Mapping[Term, Fraction],
) -> bool:
    """Return whether x starts as nothing, or in the frames in which the running maxima start.

    The second is so after another loop that kept x in frames.
    """
    if start == ZERO:
        return all(is_start(one.start, one.operation) for one in extremes)
    is_kept = isinstance(start, AppliedOperation) and start.operation == RUNNING
    return is_kept and not began.over and dict(began.powers) == dict(first)


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
