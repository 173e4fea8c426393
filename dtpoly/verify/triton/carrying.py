"""Find out what names hold after a loop or a branch. All reductions by loops are recognised here.

A variable that each iteration changes to `old op something` holds `before op (the reduction of
something over all iterations)` after the loop. If the variable only depends on the last iteration,
it holds what that leaves. In any other case its value is lost, and a later use of it is an error.
(Whole numbers and addresses that grow by the same in each iteration are the care of loops.)
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import brought
from dtpoly.verify.algebra.frame_terms import ZERO
from dtpoly.verify.algebra.identities import has_identity
from dtpoly.verify.algebra.kernel_values import (
    LostValue,
    PointerValue,
    Radix,
    TileValue,
    Value,
    as_term,
    is_truth,
    lanes_of,
)
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.recurrences import JOINED, recurrence
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.algebra.residues import RING, settled
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Carried,
    Choose,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    choose,
    pair,
    put,
    swapped,
    walk,
)
from dtpoly.verify.algebra.whole import (
    Truth,
    Whole,
    both,
    either,
    name,
    names_of,
    negation,
    one_of,
    put_truth,
    put_whole,
)
from dtpoly.verify.triton.branch_frames import grown, in_one_frame
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.data_bounds import LeftOut
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.list_calls import list_after, nth_of, starts_in_order
from dtpoly.verify.triton.loop_pieces import pieces_of, step_with
from dtpoly.verify.triton.mean_frames import (
    LowerSum,
    MeanUpdate,
    SumUpdate,
    mean_of,
    moved_in_loop,
)
from dtpoly.verify.triton.mean_moves import NEW
from dtpoly.verify.triton.running_frames import (
    KeptLoop,
    RunningExtreme,
    extreme_of,
    frames_of,
    kept,
)


def assigned(body: list[ast.stmt]) -> list[str]:
    """Return every name that statements set, each once."""
    found: dict[str, None] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
    return list(found)


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """A loop that is over: its name, the range of its counters, and what is known of them."""

    loop: str
    here: Truth
    # The value of each counter in the last iteration.
    last: Mapping[str, Whole]
    # All names that may mean something else in each iteration.
    moving: AbstractSet[str]
    # The value of each counter in the first iteration, and what is known in each iteration.
    first: Mapping[str, Whole]
    known: Region
    # The rounds that the loop leaves out, if its bounds are data.
    left_out: LeftOut | None = None

    def counts_all(self, operation: str, pieces: Sequence[Term]) -> bool:
        """Return whether a reduction of these pieces is that of all rounds."""
        out = self.left_out
        return out is None or all(out.changes_nothing(operation, one) for one in pieces)


def after_loop(
    run: ProofRun, one: str, before: Mapping[str, Value], after: Mapping[str, Value], end: LoopEnd
) -> Value:
    """Return what a name holds after a loop that sets it.

    A branch whose condition has no name that moves is taken in all iterations or in none: then each
    of its sides is treated as a loop of its own.
    """
    new, old = after[one], before[one]
    if isinstance(new, TileValue) and isinstance(new.item, Choose):
        condition = new.item.condition
        if not names_of(condition) & end.moving:
            sides = (replace(new, item=side) for side in (new.item.yes, new.item.no))
            found = [after_loop(run, one, before, {**after, one: side}, end) for side in sides]
            items = [side.item for side in found if isinstance(side, TileValue)]
            if len(items) == 2:
                yes, no = (as_term(item, 0) for item in items)
                return replace(new, item=choose(condition, yes, no))
    if new == old:
        return old
    result = None
    if isinstance(old, TileValue) and isinstance(new, TileValue):
        if isinstance(new.item, Whole | PointerValue | Radix):
            result = None
        elif not _carries(as_term(new.item, 0), end.loop):
            if end.left_out is not None:
                return LostValue("is set in a loop whose bounds are data, and used after it")
            result = _of_last(run, before, after, one, put_truth(end.here, end.last), end.last)
        else:
            result = _combined(run, one, new, before, after, end)
            result = result or _in_frame(run, one, new, before, after, end)
            result = result or _about_mean(run, one, new, before, after, end)
    return result or LostValue("is set anew in each iteration of a loop, and used after it")


@dataclass(frozen=True, slots=True)
class LoopReduction:
    """A loop changes a variable to `start op piece op piece ...`, with pieces of each iteration."""

    start: Term
    operation: str
    pieces: list[Term]
    place: Term | None = None  # of a list: the list before a place was taken

    def over(self, total: Term, so_far: Term) -> Term:
        """Return what the variable holds once the total of a piece is put to what it has so far."""
        if self.operation == JOINED:
            return recurrence(so_far, total)
        return AppliedOperation(self.operation, (so_far, total))


def reduction_of(
    run: ProofRun,
    one: str,
    new: TileValue,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
) -> LoopReduction | None:
    """Return the reduction that a loop does with a name; None if it does none that is known."""
    lanes = tuple(name(axis) for axis in lanes_of(new.axes))
    term = as_term(new.item, 0)
    whole = term.pair if isinstance(term, ValueOf | PlaceOf) else term
    inner = nth_of(whole, new.axes)
    taken = pieces_of(inner or whole, end.loop, lanes) or step_with(whole, end.loop, lanes)
    if taken is None:
        return None
    variables, operation, pieces = taken
    is_known = operation == JOINED or has_identity(operation, new.kind)
    if not is_known or not _is_updated(one, variables, whole, after):
        return None
    start = _start(run, variables, before, after, is_one=operation not in RING)
    if start is None or any(_carries(piece, end.loop) for piece in pieces):
        return None
    if (end.loop, *variables) in run.in_order and (
        inner is None or not starts_in_order(run, operation, start, new.axes)
    ):
        return None  # a branch of the loop took it for granted that its list is in order
    return LoopReduction(start, operation, pieces, inner)


def _combined(
    run: ProofRun,
    one: str,
    new: TileValue,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
) -> TileValue | None:
    """Return what a loop leaves of a name into which it reduces; None for others."""
    found = reduction_of(run, one, new, before, after, end)
    if found is None or not end.counts_all(found.operation, found.pieces):
        return None
    totals = [Total(found.operation, tuple(end.last), end.here, piece) for piece in found.pieces]
    result = found.start
    if found.place is not None:
        result = list_after(run, found.operation, result, totals, new.axes, found.place)
    else:
        for total in totals:
            result = found.over(total, result)
    match as_term(new.item, 0):
        case ValueOf():
            return replace(new, item=ValueOf(result))
        case PlaceOf():
            return replace(new, item=PlaceOf(result))
        case _:
            return replace(new, item=result)


def _in_frame(
    run: ProofRun,
    one: str,
    new: TileValue,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
) -> TileValue | None:
    """Return the sum that a loop keeps in frames of running maxima; None if it does not."""
    term, start = as_term(new.item, 0), _start(run, (one,), before, after, is_one=False)
    olds = frames_of(term, one, end.loop)
    if not olds or start is None or not kinds.is_float(new.kind):
        return None
    is_run = put_truth(end.here, end.first)
    extremes: dict[Carried, RunningExtreme] = {}
    for old in olds:
        of = old.variable
        tiles = (before[of], after[of], after_loop(run, of, before, after, end))
        extreme = extreme_of(run, old, tiles, (end.first, is_run))
        if extreme is None:
            return None
        extremes[old] = extreme
    me = Carried(one, end.loop, tuple(name(axis) for axis in lanes_of(new.axes)))

    def has_all(more: Term) -> bool:
        return end.counts_all("add", [more])

    loop = KeptLoop(me, tuple(end.last), end.here, end.known, has_all)
    found = kept(run, term, start, extremes, loop)
    return None if found is None else replace(new, item=found)


def _about_mean(
    run: ProofRun,
    one: str,
    new: TileValue,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
) -> TileValue | None:
    """Return the sum of powers of deviations that a loop moves with a mean; None if it does not."""
    found = _moved_sum(run, one, before, after, end, ())
    if found is None:
        return None
    total, update = found
    of, whole = (after[total.variable], after_loop(run, total.variable, before, after, end))
    assert isinstance(of, TileValue)
    assert isinstance(whole, TileValue)
    at = dict(zip(lanes_of(of.axes), total.lanes, strict=True))
    mean = mean_of(put(run, as_term(whole.item, 0), at), put_whole(update.until, end.last))
    body = swapped(update.part, NEW, mean)
    return replace(new, item=Total("add", tuple(end.last), end.here, body))


def _moved_sum(
    run: ProofRun,
    one: str,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
    above: tuple[str, ...],
) -> tuple[Carried, MeanUpdate] | None:
    """Return the sum of whose mean a name sums powers of deviations, and its update, or None.

    `above` are names whose updates look at this one: it may not look at them again.
    """
    new = after[one]
    if not isinstance(new, TileValue) or isinstance(new.item, Whole | PointerValue | Radix):
        return None
    term, start = as_term(new.item, 0), _start(run, (one,), before, after, is_one=False)
    olds = frames_of(term, one, end.loop)
    is_plain = len(end.last) == 1 and end.left_out is None and kinds.is_float(new.kind)
    totals = {old: _sum_at(run, old, before, after, end) for old in olds}
    sums = [(old, total) for old, total in totals.items() if total is not None]
    if len(sums) != 1 or start != ZERO or not is_plain or {*above} & {x.variable for x in olds}:
        return None
    ((of, total),) = sums
    me = Carried(one, end.loop, tuple(name(axis) for axis in lanes_of(new.axes)))
    others = dict[Carried, LowerSum]()
    for old in olds:
        if old != of:
            other = _moved_sum(run, old.variable, before, after, end, (*above, one))
            lower = None if other is None else _lower_at(old, after[old.variable], *other, of)
            if lower is None or old.lanes != me.lanes:
                return None
            others[old] = lower
    loop = (end.loop, end.here, end.known, end.moving)
    found = moved_in_loop(run, term, me, total, loop, others)
    return None if found is None else (of, found)


def _lower_at(
    old: Carried, new: Value, total: Carried, update: MeanUpdate, of: Carried
) -> LowerSum | None:
    """Return a sum of powers at some lanes, if there it is about the mean of a sum `of`."""
    assert isinstance(new, TileValue)
    at = dict(zip(lanes_of(new.axes), old.lanes, strict=True))
    lanes = tuple(put_whole(lane, at) for lane in total.lanes)
    if (total.variable, lanes) != (of.variable, of.lanes):
        return None
    return LowerSum(update.powers, put_whole(update.before, at))


def _sum_at(
    run: ProofRun,
    old: Carried,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
) -> SumUpdate | None:
    """Return the update of a variable at some lanes, if the loop adds it up from 0 on."""
    of = after[old.variable]
    if not isinstance(of, TileValue) or not kinds.is_float(of.kind):
        return None
    summed = reduction_of(run, old.variable, of, before, after, end)
    if summed is None or summed.operation != "add" or summed.start != ZERO:
        return None
    at = dict(zip(lanes_of(of.axes), old.lanes, strict=True))
    return SumUpdate(old, put(run, as_term(of.item, 0), at))


def _of_last(
    run: ProofRun,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    one: str,
    is_run: Truth,
    last: Mapping[str, Whole],
) -> TileValue | None:
    """Return what the last iteration leaves or, if there is no iteration, what was there before."""
    new, start = after[one], _start(run, (one,), before, after, is_one=False)
    if start is None or not isinstance(new, TileValue):
        return None
    value = put(run, as_term(new.item, 0), last)
    return replace(new, item=choose(is_run, value, start))


def _is_updated(
    one: str, variables: tuple[str, ...], whole: Term, after: Mapping[str, Value]
) -> bool:
    """Return whether each variable is set to its part: for a pair, to the value or to the place."""
    if len(variables) == 1:
        return variables == (one,)
    if one not in variables:
        return False
    tiles = [after.get(variable) for variable in variables]
    wanted = (ValueOf(whole), PlaceOf(whole))
    first = after[one]
    return isinstance(first, TileValue) and all(
        isinstance(tile, TileValue) and tile.item == part and tile.axes == first.axes
        for tile, part in zip(tiles, wanted, strict=True)
    )


def _start(
    run: ProofRun,
    variables: tuple[str, ...],
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    *,
    is_one: bool,
) -> Term | None:
    """Return what variables begin with, in the types that they have in the end.

    This matters since the least number of a type changes nothing only in that very type.
    """
    starts: list[Term] = []
    for variable in variables:
        old, new = before[variable], after[variable]
        if not isinstance(old, TileValue) or not isinstance(new, TileValue):
            return None
        if len(lanes_of(old.axes)) != len(lanes_of(new.axes)):
            return None
        lanes = zip(lanes_of(old.axes), lanes_of(new.axes), strict=True)
        term = brought(as_term(old.item, 0), old.kind, new.kind)
        term = settled(new.kind, term) if is_one else term
        starts.append(put(run, term, {a: name(b) for a, b in lanes}))
    return starts[0] if len(starts) == 1 else pair(*starts)


def _carries(term: Term, loop: str) -> bool:
    return any(isinstance(one, Carried) and one.loop == loop for one in walk(term))


def merged(
    state: KernelState,
    condition: Truth,
    yes: Mapping[str, Value],
    no: Mapping[str, Value],
    line: int,
) -> dict[str, Value]:
    """Return what names hold after a branch, from what they hold after each of its sides."""
    result: dict[str, Value] = {}
    for one in {**yes, **no}:
        first, second = yes.get(one), no.get(one)
        if first is None or second is None:
            result[one] = LostValue("is set in only one side of a branch")
        elif first == second:
            result[one] = first
        elif isinstance(first, TileValue) and isinstance(second, TileValue):
            result[one] = _either(state, condition, (yes, no), one, line)
        else:
            result[one] = LostValue("is one of two things after a branch")
    return result


def _either(
    state: KernelState,
    condition: Truth,
    sides: tuple[Mapping[str, Value], Mapping[str, Value]],
    one: str,
    line: int,
) -> Value:
    first, second = (side[one] for side in sides)
    assert isinstance(first, TileValue)
    assert isinstance(second, TileValue)
    if len(first.axes) != len(second.axes) or any(
        (a is None) != (b is None) or (a and b and state.extents[a] != state.extents[b])
        for a, b in zip(first.axes, second.axes, strict=True)
    ):
        return LostValue("has one of two shapes after a branch")
    axes, (a, b) = aligned(state, (first, second), line)
    if not (isinstance(a, Whole) and isinstance(b, Whole) and first.kind == second.kind):
        state.leaves(first, line)
        state.leaves(second, line)
    if isinstance(a, Whole) and isinstance(b, Whole):
        kind, is_cut = kinds.met(first.kind, second.kind), first.is_cut or second.is_cut
        return TileValue(axes, either(condition, a, b), kind, is_cut)
    kind = kinds.met(first.kind, second.kind)
    if is_truth(a) and is_truth(b):
        return TileValue(axes, one_of(both(condition, a), both(negation(condition), b)), kind)
    if isinstance(a, PointerValue | Radix) or isinstance(b, PointerValue | Radix):
        return LostValue("is one of two addresses after a branch")
    yes, no = (
        brought(as_term(item, line), tile.kind, kind) for item, tile in ((a, first), (b, second))
    )
    framed = in_one_frame(state.run, condition, sides, (yes, no), axes)
    return TileValue(axes, framed or grown(condition, yes, no, kind), kind)
