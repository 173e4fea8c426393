"""Run a loop of a kernel: the body is run once for any iteration, with the counter as a name.

The body may change names, so their values in an arbitrary iteration must be known first. A whole
number or an address that grows by the same amount in each iteration is known in all of them. To
find out which do, the body is tried out, and what it recorded is dropped. When nothing new is
learnt, the last run counts. After that `carrying` says what the loop leaves behind.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    BlockPointerValue,
    LostValue,
    PointerValue,
    TileValue,
    Unread,
    Value,
    is_truth,
    lanes_of,
    offset_names,
)
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import Carried
from dtpoly.verify.algebra.whole import (
    Truth,
    Whole,
    both,
    compare,
    extreme,
    name,
    number,
    within,
)
from dtpoly.verify.triton import shared_iterations as persistent
from dtpoly.verify.triton import single_rounds as single
from dtpoly.verify.triton.carrying import LoopEnd, assigned
from dtpoly.verify.triton.compiler_doubts import check_carried, check_combined
from dtpoly.verify.triton.counter_kinds import is_cut, kind_of
from dtpoly.verify.triton.data_bounds import DataBounds, LeftOut, check_body, data_bounds
from dtpoly.verify.triton.data_names import has_data
from dtpoly.verify.triton.earlier import with_earlier
from dtpoly.verify.triton.falling_loops import Falling, falling
from dtpoly.verify.triton.flattened import coordinates
from dtpoly.verify.triton.growing import Growth, growth, moved
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.loop_pipelines import is_flattened, is_pipelined
from dtpoly.verify.triton.loop_results import left_by_loop
from dtpoly.verify.triton.reader import Reader

# Triton unrolls such a loop: it repeats the body for each iteration.
STATIC = "tl.static_range"
RANGES = ("range", "tl.range", "tl.static_range")


@dataclass
class Changes:
    """The knowledge so far about the names that the body of a loop sets."""

    loop: str
    low: Whole
    step: int
    # The names that the loop counts by: its own name, or several coordinates (see flattened).
    own: tuple[str, ...]
    # By how much each number or address grows in an iteration.
    grows: dict[str, Growth] = field(default_factory=dict[str, Growth])
    # Whole numbers that are not indices but data: reductions of them are recognised as such.
    data: set[str] = field(default_factory=set[str])
    lost: set[str] = field(default_factory=set[str])

    def known(self, one: str) -> bool:
        """Return whether it is decided what becomes of a name."""
        return one in self.grows or one in self.data or one in self.lost


@dataclass(frozen=True, slots=True)
class Counting:
    """The counting of a loop: name, bounds and step, its counter, and the names it counts by."""

    loop: str
    low: Whole
    high: Whole
    step: int
    counter: TileValue
    # By the names that the loop counts by, the outermost first: what they are in an iteration, and
    # in the last one.
    ranges: Mapping[str, Truth]
    last: Mapping[str, Whole]
    first: Mapping[str, Whole]
    line: int

    @property
    def here(self) -> Truth:
        """Return what holds of these names in each iteration."""
        return both(*self.ranges.values())

    @property
    def times(self) -> Whole:
        """Return how often the loop runs."""
        top = extreme(True, self.high, self.low)
        return (top - self.low + self.step - 1).floor(self.step)


def run(read: Reader, counter: str, node: ast.For) -> None:
    """Run the body of a loop for any iteration; then set the names to what the loop leaves."""
    state = read.state
    over, body = node.iter, node.body
    taken = data_bounds(read, over) if state.is_valued else None
    low, high, by, options = _range_of(read, over, taken)
    low, high, by = single.as_one(state, (low, high, by), kind_of(read, over), over.lineno)
    if persistent.program_of(state, low, by) is not None:
        persistent.run(read, counter, (low, high, by), node)
        return
    counting, down = _counted(read, counter, node, (low, high, by), is_plain=taken is not None)
    low, high, step = counting.low, counting.high, counting.step
    is_static = ast.unparse(over).startswith(STATIC)
    if is_static and not _is_run(state, low, high):
        raise Unread(over.lineno, "a loop without an iteration, which Triton does not look at")
    if down is not None and not is_static:
        down.note_beyond(state, counting.counter, over.lineno)
    elif step != 1 and not is_static:
        _count_beyond(state, counting, over.lineno)
    settled = _made(state)
    own = tuple(counting.ranges)
    state.ranges |= counting.ranges
    if is_pipelined(state, options) or is_flattened(state, options, body):
        state.pipelined[own[-1]] = over.lineno
    before, outside, around, time = dict(state.names), state.where, state.loops, state.time
    if has_data(state, low, high):
        state.where = both(outside, compare("<", low, high))
    changed = _changed(before, body, counter)
    state.loops = (*around, *own)
    state.time = (*time, state.tick(), *map(name, own))
    started = {**before, counter: counting.counter}
    begun, passed = len(state.accesses), len(state.barriers)
    changes = _learned(read, body, started, changed, Changes(counting.loop, low, step, own))
    after = state.names
    if taken is not None:
        check_body(state, begun, passed, bool(changes.grows), over.lineno)
    if not is_static or (high - low).constant is None:
        check_carried(state, before, after, changed, node.lineno)
        check_combined(state, after, changed, counting.loop, node.lineno)
    state.where, state.loops, state.time = outside, around, time
    state.names = dict(before)
    carried = (_carried(one, counting.loop) for one in changed)
    moving = {*own, *carried, *(_made(state) - settled)}
    known = both(state.facts, outside, counting.here)
    known = known if is_affine(known) else state.facts
    end = LoopEnd(
        counting.loop,
        counting.here,
        counting.last,
        moving,
        counting.first,
        set_of(known),
        None if taken is None else LeftOut(state, taken, counting.loop, counting.here),
    )
    own_accesses = state.accesses[begun:]
    state.accesses[begun:] = with_earlier(state.run, own_accesses, changed, before, after, end)
    _set_after(state, counting, changes, changed, (before, after), end)
    for one in (*(one for one in after if one not in before), counter):
        state.names[one] = LostValue("is set in a loop, and used after it")


def _changed(before: Mapping[str, Value], body: list[ast.stmt], counter: str) -> list[str]:
    """Return the names that a body sets anew, with those of the offsets of block pointers."""
    found: list[str] = []
    for one in assigned(body):
        if one in before and one != counter:
            found.append(one)
            if isinstance(block := before[one], BlockPointerValue):
                found += offset_names(one, block)
    return found


def _set_after(
    state: KernelState,
    counting: Counting,
    changes: Changes,
    changed: Sequence[str],
    around: tuple[Mapping[str, Value], Mapping[str, Value]],
    end: LoopEnd,
) -> None:
    """Set the names that a loop changes to what it leaves; `around` are those before and after."""
    before, after = around
    for one in changed:
        if one in changes.grows:
            state.names[one] = moved(before[one], changes.grows[one], counting.times)
        elif before[one] != after[one]:
            state.leaves(before[one], counting.line)
            state.names[one] = left_by_loop(state, one, around, end)


def _counted(
    read: Reader,
    counter: str,
    node: ast.For,
    ends: tuple[Whole, Whole, Whole],
    *,
    is_plain: bool,
) -> tuple[Counting, Falling | None]:
    """Return how a loop counts. One that counts down is counted by its iterations, from 0 up."""
    low, high, by = ends
    step = by.constant
    if not step:
        raise Unread(node.iter.lineno, "a loop whose step is not known, or is 0")
    if step > 0:
        counting = _counting(read, counter, node, low, high, step, is_plain=is_plain)
        if step == 1 and single.is_at_most_once(read.state, low, high):
            counting = replace(counting, counter=replace(counting.counter, item=low))
        return counting, None
    down = falling(read, node.iter, low, high, step)
    counting = _counting(read, counter, node, number(0), down.times, 1, is_plain=True)
    return replace(counting, counter=down.seen(counting.counter, counting.loop)), down


def _counting(
    read: Reader,
    counter: str,
    node: ast.For,
    low: Whole,
    high: Whole,
    step: int,
    *,
    is_plain: bool,
) -> Counting:
    """Return how a loop counts: by its own name, or by several coordinates (see flattened)."""
    over, loop = node.iter, read.state.run.fresh(counter)
    is_counted = (low, step) == (number(0), 1) and not is_plain
    parts = coordinates(read, loop, node, counter, high) if is_counted else None
    counter_at = name(loop) if parts is None else parts.counter
    counted = TileValue(
        (), counter_at, kind_of(read, over), is_cut=is_cut(read, over), is_counter=True
    )
    if parts is not None:
        first = dict.fromkeys(parts.ranges, number(0))
        return Counting(
            loop,
            low,
            high,
            step,
            counted,
            dict(parts.ranges),
            dict(parts.last),
            first,
            line=over.lineno,
        )
    here = within(low, name(loop), high)
    if step != 1:
        here = both(here, compare("==", (name(loop) - low).modulo(step), number(0)))
    last = low + (high - 1 - low).floor(step) * step
    return Counting(
        loop, low, high, step, counted, {loop: here}, {loop: last}, {loop: low}, line=over.lineno
    )


def _learned(
    read: Reader,
    body: list[ast.stmt],
    before: Mapping[str, Value],
    changed: list[str],
    changes: Changes,
) -> Changes:
    """Run the body until nothing new is learnt of the names that it changes.

    What the runs before the last one have noted is dropped.
    """
    state = read.state
    is_open = True
    while is_open:
        marks = (len(state.accesses), len(state.barriers), dict(state.data))
        noted = (len(state.divided), len(state.numbers), len(state.doubts))
        known = set(state.ranges)
        state.names = dict(before)
        for one in changed:
            state.names[one] = _at_start(one, before[one], changes)
        is_trial = any(_is_open(one, before[one], changes) for one in changed)
        state.trials += is_trial
        read.block(body)
        state.trials -= is_trial
        made = set(state.ranges) - known
        is_open = _learn(changed, before, state.names, changes, made)
        if is_open:
            del state.accesses[marks[0] :], state.barriers[marks[1] :]
            del state.divided[noted[0] :], state.numbers[noted[1] :], state.doubts[noted[2] :]
            state.data = marks[2]
    return changes


def _made(state: KernelState) -> set[str]:
    """Return the names of lanes and loops, and of numbers that stand for something computed."""
    return {*state.ranges, *state.wraps, *state.shifts, *state.digits.numbers}


def _is_run(state: KernelState, low: Whole, high: Whole) -> bool:
    """Return whether a loop over constants, which may follow from sizes, has an iteration."""
    here, some = both(state.facts, state.here()), compare("<", low, high)
    return is_affine(both(here, some)) and state.run.holds(some, set_of(here))


def _count_beyond(state: KernelState, counting: Counting, line: int) -> None:
    """Note the value of the counter after the last iteration, if there is an iteration.

    Triton compares it to the end of the loop. If its type does not hold it, it wraps, and the loop
    goes on.
    """
    outside = state.where
    state.where = both(outside, compare("<", counting.low, counting.high))
    counter = counting.counter
    end = counting.last[counting.loop] + counting.step
    state.looked_at(end, counter.kind, line, is_cut=counter.is_cut)
    state.where = outside


def _is_open(one: str, before: Value, changes: Changes) -> bool:
    return (
        isinstance(before, TileValue)
        and isinstance(before.item, Whole | PointerValue)
        and not changes.known(one)
    )


def _at_start(one: str, before: Value, changes: Changes) -> Value:
    """Return what a name that the body sets holds when an iteration begins."""
    if isinstance(before, BlockPointerValue) and one not in changes.lost:
        return before  # its offsets may change, and have names of their own
    if not isinstance(before, TileValue) or one in changes.lost:
        return LostValue("is set anew in each iteration")
    own = name(_carried(one, changes.loop))
    match before.item:
        case PointerValue() | Whole() if one in changes.grows:
            times = (name(changes.loop) - changes.low).floor(changes.step)
            return moved(before, changes.grows[one], times)
        case PointerValue(tensor=tensor):
            return replace(before, item=PointerValue(tensor, own))
        case Whole() if one not in changes.data:
            return replace(before, item=own)
        case _:
            lanes = tuple(name(axis) for axis in lanes_of(before.axes))
            return replace(before, item=Carried(one, changes.loop, lanes))


def _learn(
    changed: list[str],
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    changes: Changes,
    made: set[str],
) -> bool:
    """Note by how much whole numbers and addresses grow in an iteration, and which do not.

    True if the body must be run again, because it was run without knowing that.
    """
    news = False
    inner = {*made, *changes.own, *(_carried(one, changes.loop) for one in changed)}
    for one in changed:
        start, end = before[one], after.get(one)
        if isinstance(start, BlockPointerValue) and start != end and one not in changes.lost:
            changes.lost.add(one)
            news = True
        if one in changes.grows:
            if growth(start, end, _at_start(one, start, changes), inner) != changes.grows[one]:
                del changes.grows[one]
                changes.lost.add(one)
                news = True
            continue
        if not _is_open(one, start, changes):
            continue
        news = True
        assert isinstance(start, TileValue)
        # With several coordinates, no number says how many iterations came before.
        grown = None
        if not _is_number(start) and changes.own == (changes.loop,):
            grown = growth(start, end, _at_start(one, start, changes), inner)
        if grown is not None:
            changes.grows[one] = grown
        elif isinstance(start.item, Whole):
            changes.data.add(one)
        else:
            changes.lost.add(one)
    return news


def _is_number(start: TileValue) -> bool:
    """Return whether a value is data, not an index: a constant that has a type of whole numbers."""
    return (
        isinstance(start.item, Whole)
        and start.item.constant is not None
        and start.kind in kinds.WHOLES
    )


def _range_of(
    read: Reader, over: ast.expr, taken: DataBounds | None
) -> tuple[Whole, Whole, Whole, dict[str, Value]]:
    """Return the bounds of a loop, its step, and the options of `tl.range`.

    A loop with bounds from data is read as one over all tiles of its size.
    """
    match over:
        case ast.Call(func=func, args=args, keywords=keywords) if ast.unparse(func) in RANGES:
            values = (
                [read.whole(arg) for arg in args]
                if taken is None
                else [number(0), taken.size, number(taken.step)]
            )
            if keywords and ast.unparse(func) == "range":
                what = f"'{ast.unparse(over)}': Triton does not look at what has a name in 'range'"
                raise Unread(over.lineno, f"{what}, and takes steps of 1: give the step by place")
            options = {str(k.arg): read.value(k.value) for k in keywords}
            is_static = ast.unparse(func) == STATIC
            if not (
                all(map(_is_told, options.values()))
                and (not is_static or all(read.tile(arg).kind == kinds.WEAK for arg in args))
                and not (is_static and keywords)
            ):
                raise Unread(over.lineno, f"a loop over '{ast.unparse(over)}'")
        case _:
            raise Unread(over.lineno, f"a loop over '{ast.unparse(over)}'")
    if set(options) - {"num_stages", "loop_unroll_factor", "flatten", "warp_specialize"}:
        raise Unread(over.lineno, f"a loop over '{ast.unparse(over)}'")
    match values:
        case [high]:
            return number(0), high, number(1), options
        case [low, high]:
            return low, high, number(1), options
        case [low, high, step]:
            return low, high, step, options
        case _:
            raise Unread(over.lineno, f"a loop over '{ast.unparse(over)}'")


def _is_told(option: Value) -> bool:
    """Return whether the value of an option is known when the kernel is compiled."""
    is_constant = isinstance(option, TileValue) and not option.axes and option.kind == kinds.WEAK
    item = option.item if isinstance(option, TileValue) and is_constant else None
    return is_truth(item) or (isinstance(item, Whole) and item.constant is not None)


def _carried(one: str, loop: str) -> str:
    """Return the name for the value of a whole number or an offset when an iteration begins."""
    return f"{one}@{loop}"
