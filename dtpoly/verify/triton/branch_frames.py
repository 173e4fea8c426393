"""Recognise values in the frame of a running maximum in a branch, as loops keep them (lemma 17).

The tail of a walk is an update without a loop around it: `x = x * exp(m - m_new) + exp(t - m_new)`
in a branch. It is read as a loop of one iteration. After the branch, x is in the frame of what the
maximum is then, whichever side was taken. A value that is not recognised stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.frame_terms import EXTREME, ZERO, guarded, inward, is_start, operation_of
from dtpoly.verify.algebra.frames import FramedValue, Framing, written
from dtpoly.verify.algebra.identities import IDENTITY, has_identity
from dtpoly.verify.algebra.kernel_values import TileValue, Value, as_term, lanes_of
from dtpoly.verify.algebra.powers_of_two import natural
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.sums_of_algorithm import is_for_sum_of_algorithm
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Carried,
    Literal,
    Term,
    children,
    choose,
    put,
    rebuilt,
    swapped,
    walk,
)
from dtpoly.verify.algebra.whole import TRUE, Truth, both, name, negation
from dtpoly.verify.triton.branch_means import BRANCH, after_moves
from dtpoly.verify.triton.frame_exponents import symbols
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.open_frames import OPEN, powers_in
from dtpoly.verify.triton.running_frames import (
    MOST_FRAMES,
    KeptLoop,
    RunningExtreme,
    extreme_of,
    kept,
    needs_of,
    note_kept,
    running,
)

# An update is looked for from so many places on.
MOST_PLACES = 4
Axes = tuple[str | None, ...]
Names = Mapping[str, Value]


def after_updates(state: KernelState, begun: Sequence[Names], after: Names) -> dict[str, Value]:
    """Return what names hold where updates are recognised that began at one of some places.

    The condition of the side of a branch holds now. The latest place is tried first.
    """
    found = dict(after)
    for before in begun[: -MOST_PLACES - 1 : -1]:
        extremes = [one for one in after if _is_grown(before.get(one), after[one])]
        for one, value in found.items() if extremes else ():
            old = before.get(one)
            if one not in extremes and old != value and _is_begun(old) and not _is_begun(value):
                found[one] = _updated(state, one, (before, after), extremes) or value
    return after_moves(state, begun[: -MOST_PLACES - 1 : -1], found)


def _is_grown(old: Value | None, new: Value) -> bool:
    """Return whether a name is a maximum of something and, maybe, of what it was before."""
    return (
        isinstance(old, TileValue)
        and isinstance(new, TileValue)
        and old != new
        and _is_extreme(new.item)
    )


def _is_begun(old: Value | None) -> bool:
    """Return whether a value is kept in a frame, or is a sum of nothing yet."""
    if not isinstance(old, TileValue) or not kinds.is_float(old.kind):
        return False
    return old.item == ZERO or _is_running(old.item)


def _is_extreme(item: object) -> bool:
    return isinstance(item, AppliedOperation) and item.operation in EXTREME


def _is_running(item: object) -> bool:
    return isinstance(item, AppliedOperation) and item.operation == RUNNING


def _updated(
    state: KernelState, one: str, names: tuple[Names, Names], extremes: list[str]
) -> TileValue | None:
    """Return a value that a branch updates once, in the frames of some of the running maxima."""
    run = state.run
    old, new = names[0][one], names[1][one]
    if not isinstance(old, TileValue) or not isinstance(new, TileValue):
        return None
    if old.kind != new.kind or len(lanes_of(old.axes)) != len(lanes_of(new.axes)):
        return None
    lanes = lanes_of(new.axes)
    start = _at(run, old, lanes)
    me = Carried(one, BRANCH, tuple(map(name, lanes)))
    marked = _marked(as_term(new.item, 0), start, me)
    known = both(state.facts, state.where)
    region = set_of(known if is_affine(known) else state.facts)
    found = list(_frames_in(run, names, marked, extremes, lanes))
    for count in range(1, min(len(found), MOST_FRAMES) + 1):
        for some in combinations(found, count):
            term = marked
            for frame, extreme in some:
                term = _marked(term, extreme.start, frame)
            loop = KeptLoop(me, (), TRUE, region)
            value = kept(run, term, start, dict(some), loop)
            if value is not None:
                return replace(new, item=value)
    return None


def _frames_in(
    run: ProofRun,
    names: tuple[Names, Names],
    term: Term,
    extremes: Sequence[str],
    lanes: tuple[str, ...],
) -> Iterator[tuple[Carried, RunningExtreme]]:
    """Yield the running maxima in a term that a branch goes on with, each at some lanes."""
    parts = set(walk(term))
    for of in extremes:
        tiles = (names[0][of], names[1][of])
        for at in _places(tiles[1], lanes):
            frame = Carried(of, BRANCH, tuple(map(name, at)))
            extreme = _extreme(run, frame, tiles, at)
            if extreme is not None and extreme.ended in parts:
                yield frame, extreme


def _extreme(
    run: ProofRun, frame: Carried, tiles: tuple[Value, Value], at: tuple[str, ...]
) -> RunningExtreme | None:
    """Return the running maximum that a branch goes on with once, at some lanes."""
    old, new = tiles
    assert isinstance(old, TileValue)
    assert isinstance(new, TileValue)
    if old.kind != new.kind or len(lanes_of(old.axes)) != len(lanes_of(new.axes)):
        return None
    start, end = _at(run, old, at), _at(run, new, at)
    body = TileValue(at, _marked(end, start, frame), new.kind)
    whole = (TileValue(at, start, old.kind), body, TileValue(at, end, new.kind))
    return extreme_of(run, frame, whole, ({}, TRUE))


def _at(run: ProofRun, tile: TileValue, lanes: tuple[str, ...]) -> Term:
    """Return the value of a tile at other lanes."""
    own = lanes_of(tile.axes)
    return put(run, as_term(tile.item, 0), dict(zip(own, map(name, lanes), strict=True)))


def _places(tile: Value, lanes: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the lanes among some at which a tile may stand."""
    if isinstance(tile, TileValue):
        yield from combinations(lanes, len(lanes_of(tile.axes)))


def _marked(term: Term, old: Term, mark: Carried) -> Term:
    """Return a term with a mark where a value stood before a branch.

    A written number may also stand there for another reason. So it is marked where a running
    maximum, or what is corrected, may stand. It is right to mark it anywhere, since the mark
    stands for that very number.
    """
    if not isinstance(old, Literal):
        return swapped(term, old, mark)
    done: dict[Term, Term] = {}
    marked = ("mul",) if old == ZERO else (*EXTREME, "sub", "add")

    def go(one: Term) -> Term:
        if one not in done:
            parts = tuple(map(go, children(one)))
            if isinstance(one, AppliedOperation) and one.operation in marked:
                parts = tuple(mark if part == old else part for part in parts)
            done[one] = rebuilt(one, parts)
        return done[one]

    return go(term)


def in_one_frame(
    run: ProofRun,
    condition: Truth,
    sides: tuple[Names, Names],
    terms: tuple[Term, Term],
    axes: Axes,
) -> Term | None:
    """Return one of two values in frames after a branch, in the frame that holds after both sides.

    `terms` are the values of a name after both sides, at the same lanes.
    """
    if not _is_running(terms[0]):
        condition = negation(condition)
        sides, terms = (sides[1], sides[0]), (terms[1], terms[0])
    if not _is_running(terms[0]) or not (terms[1] == ZERO or _is_running(terms[1])):
        return None
    if any(OPEN in needs_of(one) for one in terms):
        return _in_one_open_frame(run, condition, sides, terms, axes)
    framing = Framing(run)
    first, second = map(framing.value, terms)
    if first.over or second.over:
        return None
    powers: dict[Term, Fraction] = {}
    left = dict(second.powers)
    for frame, power in first.powers.items():
        joined = _joined(run, condition, sides, frame, lanes_of(axes))
        if joined is None or (terms[1] != ZERO and left.pop(joined.other, None) != power):
            return None
        powers[joined.both] = power
    if left:
        return None
    body = grown(condition, first.body, second.body, "tl.float32")
    value = written(FramedValue(powers, body))
    truths = zip((condition, negation(condition)), terms, strict=True)
    needs = [
        need if is_for_sum_of_algorithm(need) else choose(truth, need, ZERO)
        for truth, term in truths
        for need in needs_of(term)
    ]
    note_kept(run, *powers, are_reached=not any(map(is_for_sum_of_algorithm, needs)))
    return running(value, needs, is_for_algorithm=False)


def _in_one_open_frame(
    run: ProofRun,
    condition: Truth,
    sides: tuple[Names, Names],
    terms: tuple[Term, Term],
    axes: Axes,
) -> Term | None:
    """Return one of two values that an outer loop still carries, in the frames after a branch."""
    if not all(OPEN in needs_of(one) for one in terms):
        return None
    framing = Framing(run)
    values = [children(one)[0] for one in terms]
    frames = list(_frames_after(run, condition, sides, values, lanes_of(axes)))
    if not frames or len(frames) > MOST_FRAMES:
        return None
    found = [
        powers_in(framing, value, {one[at]: symbols(n).new for n, one in enumerate(frames)})
        for at, value in enumerate(values)
    ]
    if found[0] is None or found[0] != found[1]:
        return None
    for *ends, whole in frames:
        values = [swapped(value, end, whole) for value, end in zip(values, ends, strict=True)]
    needs = dict.fromkeys((*needs_of(terms[0]), *needs_of(terms[1])))
    value = grown(condition, values[0], values[1], "tl.float32")
    return running(value, tuple(needs), is_for_algorithm=False)


def _frames_after(
    run: ProofRun,
    condition: Truth,
    sides: tuple[Names, Names],
    values: Sequence[Term],
    lanes: tuple[str, ...],
) -> Iterator[tuple[Term, Term, Term]]:
    """Yield what running maxima are after each side of a branch, and after both.

    They are those that two values are made of, each after its side.
    """
    parts = [set(walk(one)) for one in values]
    for one, tile in sides[0].items():
        other = sides[1].get(one)
        if not isinstance(tile, TileValue) or not isinstance(other, TileValue):
            continue
        is_alike = tile.kind == other.kind and len(lanes_of(tile.axes)) == len(lanes_of(other.axes))
        if not is_alike or not _is_extreme(tile.item) or not _is_extreme(other.item):
            continue
        for at in combinations(lanes, len(lanes_of(tile.axes))):
            mine, theirs = _at(run, tile, at), _at(run, other, at)
            if mine in parts[0] and theirs in parts[1]:
                yield mine, theirs, grown(condition, mine, theirs, tile.kind)


@dataclass(frozen=True, slots=True)
class FrameAfter:
    """The values of a frame after the other side of a branch, and after both sides."""

    other: Term
    both: Term


def _joined(
    run: ProofRun, condition: Truth, sides: tuple[Names, Names], frame: Term, lanes: tuple[str, ...]
) -> FrameAfter | None:
    """Return what a frame of the first side is after the second, and after both; or None."""
    bare = guarded(frame) or frame
    for one, tile in sides[0].items():
        other = sides[1].get(one)
        if not isinstance(tile, TileValue) or not _is_extreme(tile.item):
            continue
        if not isinstance(other, TileValue) or tile.kind != other.kind:
            continue
        if len(lanes_of(tile.axes)) != len(lanes_of(other.axes)):
            continue
        for at in combinations(lanes, len(lanes_of(tile.axes))):
            mine, theirs = inward(_at(run, tile, at)), inward(_at(run, other, at))
            for form in (_same, natural):
                if form(mine) == bare:
                    both_of = form(inward(grown(condition, mine, theirs, tile.kind)))
                    end = theirs if is_start(theirs, operation_of(mine)) else form(theirs)
                    if both_of is not None and end is not None:
                        return FrameAfter(swapped(frame, bare, end), swapped(frame, bare, both_of))
    return None


def _same(term: Term) -> Term | None:
    return term


def grown(condition: Truth, yes: Term, no: Term, kind: str) -> Term:
    """Return what holds after a branch, one side of which may only put values to the other side.

    `no op a op b` in one side is `no op (a or nothing) op (b or nothing)` after both.
    """
    added: list[Term] = []
    word, left = "", yes
    while left != no:
        match left:
            case AppliedOperation(operation=operation, operands=(old, new)) if operation in (
                word or operation,
            ) and has_identity(operation, kind):
                word, left = operation, old
                added.append(new)
            case _:
                return choose(condition, yes, no)
    result = no
    for one in reversed(added):
        result = AppliedOperation(word, (result, choose(condition, one, IDENTITY[word])))
    return result
