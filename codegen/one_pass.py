"""Joins the loop of a reduction with a later loop that depends on its result: one pass for two.

    for k: top = max(top, A[k])           for k: before = top; top = max(top, A[k])
    for k: total += exp(A[k] - top)  -->         total *= exp(before - top)
                                                 total += exp(A[k] - top)

In the joined loop, `top` is the largest element so far. What was summed with an older one is
brought up to date by a factor, which `dtpoly.algorithm.motion` derives. If all elements so far are
-inf, then exp(-inf - -inf) would be no number; so `top` begins at -2**100 there, which changes no
result in which it cancels. Where it does not cancel, a second accumulator begins at -inf.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.motion import Motion
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Accumulate,
    Fill,
    ForLoop,
    If,
    Let,
    Product,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.kinds import REAL, Element
from dtpoly.ir.parts import assigned, assigned_by, renamed, steps_inside
from dtpoly.ir.step_dependences import are_ordered, effect, exposed
from dtpoly.ir.tile_values import Axes, Call, Converted, LiteralNumber, Value, Variable, axes_of
from dtpoly.ir.tiled import blocks_of, is_alike, of_blocks

from .loads_apart import loads_apart
from .lower_moments import with_lower_sums
from .motions import (
    SAME_TILES,
    UNLIKE,
    CannotJoinError,
    Moves,
    NotOnePassError,
    computed_between,
    moves_of,
    unbounded,
)
from .narrowing import narrowed, narrowings
from .python_names import fresh
from .repeated_sums import without_repeated_sums
from .running_means import (
    Counted,
    MovingMean,
    WalksOfMean,
    counted,
    depending,
    means_of,
    moving_mean,
    steps_of_move,
    with_quotients_apart,
)
from .scaled_frames import with_frames_put

# Where a largest element begins: below all elements that matter, and its differences are finite.
LEAST = 2.0**100
STARTS = {"rmax": -LEAST, "rmin": LEAST}
# The types that hold such a number.
WIDE = (REAL, DType.F32, DType.F64)
Looped = ForLoop | If | TiledLoop
NO_EXTREME = "only a maximum, a minimum or a mean goes on in the loop of what depends on it"


@dataclass(frozen=True, slots=True)
class Frame:
    """A reduction whose result so far is what the joined loop computes with.

    `fill` has its name and says how it begins; `kept` are its axes in the loop.
    """

    fill: Fill
    reduction: str
    kept: Axes
    before: str  # holds the result without the tile that came last
    exact: str  # holds the result from its identity on, if something stores it

    @property
    def name(self) -> str:
        """Return the name of the result."""
        return self.fill.name

    def variable(self, name: str, axes: Axes) -> Variable:
        """Return a variable of the type of the result."""
        return Variable(name, axes, self.fill.dtype)


@dataclass(frozen=True, slots=True)
class Joint:
    """Two walks that become one: the frames, and all names that must stay as they are."""

    func: str  # that is reduced in the first one
    frames: tuple[Frame, ...]
    updates: tuple[Step, ...]  # of the accumulators of the second one, when the frames change
    stored: frozenset[str]  # results that something stores, by the names of their accumulators
    carried: frozenset[str]  # names that are needed from before the walks, or behind them
    names: set[str]  # all names of the kernel
    mean: MovingMean | None = None  # of the first one, if the second one has deviations from it
    counted: Counted | None = None  # in a block: how many elements come before its tile


def with_running(
    body: tuple[Step, ...], asked: Iterable[tuple[str, str]], taken: frozenset[str]
) -> tuple[Step, ...]:
    """Return the body in which the first Func of each pair is reduced in the loop of the second.

    Raises NotOnePassError where that cannot be.
    """
    for func, reader in asked:
        names = {*taken, *assigned(body)}
        try:
            found = _searched(body, func, reader, names, frozenset())
        except CannotJoinError as error:
            raise NotOnePassError(func, reader, error) from error
        if found is None:
            why = f"no loop of '{func}' stands in front of the loop of '{reader}'"
            raise NotOnePassError(func, reader, CannotJoinError(why))
        body = loads_apart(found, names)
    return body


def _searched(
    body: tuple[Step, ...], func: str, reader: str, names: set[str], live: frozenset[str]
) -> tuple[Step, ...] | None:
    """Return the body with the two loops joined; None if they do not stand side by side in it.

    `live` are the names that are needed behind the body.
    """
    mine = [at for at, step in enumerate(body) if _reduces(step, func)]
    others = [at for at, step in enumerate(body) if _reduces(step, reader)]
    for at in mine:
        one = body[at].instruction
        if at in others and isinstance(one, ForLoop | If):
            after = live | exposed((body[at], *body[at + 1 :]))
            below = _searched(one.body, func, reader, names, after)
            if below is not None:
                step = replace(body[at], instruction=replace(one, body=below))
                return (*body[:at], step, *body[at + 1 :])
    walks = _walks(mine, others)
    if walks is None:
        return None
    found = with_quotients_apart(*with_frames_put(body, walks), names)
    return _in_one_loop(_narrowed(*found, names), func, reader, names, live)


def _walks(mine: list[int], others: list[int]) -> tuple[range, range] | None:
    """Return the places of the first walk over the indices, and of the second one behind it."""
    walk = _run(mine, -1)
    other = _run(others, walk[-1]) if walk else walk
    return (walk, other) if other and other[0] > walk[-1] else None


def _narrowed(
    body: tuple[Step, ...], walks: tuple[range, range], names: set[str]
) -> tuple[Step, ...]:
    """Return the body in which accumulators are narrowed: frames, and what depends on them.

    What does not depend on a frame keeps its lanes until the loop is over.
    """
    walk, other = walks
    first, second = body[walk.start : walk.stop], body[other.start : other.stop]
    own, read = {*assigned(first)}, exposed(second)
    known = tuple(narrowings(body))
    means = means_of(first, body[walk.stop : other.start], second, names)
    if means:
        moved = depending(second, frozenset(one.name for one in means))
        totals = {one.total for one in means}
        for one in known:
            if one.fill.name in moved or one.collapse.name in totals:
                body = narrowed(body, one, names)
        return body
    frames = [one for one in known if one.fill.name in own and one.collapse.name in read]
    results = sorted({one.collapse.name for one in frames} | (own & read))
    moves = moves_of({name: Motion({name: 1.0}) for name in results}, second)
    moving = [one for one in known if not moves.of(one.fill.name).is_still]
    for one in (*frames, *moving):
        body = narrowed(body, one, names)
    return body


def _run(places: list[int], after: int) -> range:
    """Return the first places in a row behind a place: the steps of one walk over the indices."""
    left = [at for at in places if at > after]
    count = next((n for n, at in enumerate(left) if at != left[0] + n), len(left))
    return range(left[0], left[0] + count) if left else range(0)


def _reduces(step: Step, func: str) -> bool:
    """Return whether a step is a block in which a reduction of a Func takes its steps."""
    return isinstance(step.instruction, Looped) and any(
        _is_update(below, func) or _reduces(below, func)
        for part in blocks_of(step)
        for below in _body(part)
    )


def _is_update(step: Step, func: str) -> bool:
    name = step.origin.partition("@")[0]
    is_sum = isinstance(step.instruction, Accumulate | Product)
    return is_sum and name.startswith(f"{func}.") and name.endswith(".update")


def _body(part: Step) -> tuple[Step, ...]:
    one = part.instruction
    assert isinstance(one, ForLoop | If)
    return one.body


def _in_one_loop(
    body: tuple[Step, ...], func: str, reader: str, names: set[str], live: frozenset[str]
) -> tuple[Step, ...]:
    """Join the first walk of a Func over some indices with the walk of its reader."""
    both = ([i for i, step in enumerate(body) if _reduces(step, of)] for of in (func, reader))
    walks = _walks(*both)
    assert walks is not None
    walk, other = walks
    front, behind = body[: walk.start], body[other.stop :]
    first, second = body[walk.start : walk.stop], body[other.start : other.stop]
    early, late = _apart(first, body[walk.stop : other.start])
    front = (*front, *early)
    of_mean = with_lower_sums(WalksOfMean(front, first, late, second, names))
    mean, front, second, between = moving_mean(of_mean), of_mean.front, of_mean.second, late
    if mean is not None:
        between = tuple(step for step in late if mean.of.name not in assigned((step,)))
        second = renamed(second, {mean.of.name: mean.of.new})
    everything = frozenset({*assigned(body)})
    if (mixing := _ordered_before(between, second, everything)) is not None:
        raise computed_between(mixing, first)
    if mean is not None and mean.of.name not in exposed((*between, *behind)) | live:
        late = between
    frames = tuple(_frames(front, first, second, names))
    if mean is not None and frames:
        raise CannotJoinError(f"the second loop depends on '{frames[0].name}', too")
    moves = moves_of({one.name: Motion({one.name: 1.0}) for one in frames}, second)
    after = _later(frames, moves, (*late, *behind))
    moving = {name for name in moves.known if not moves.of(name).is_still}
    if not moving.isdisjoint(live):
        raise CannotJoinError("what depends on it is needed behind the block of the two loops")
    stored = frozenset(one.exact for one in frames) & exposed(after)
    carried = exposed(after) | live | exposed(first) | exposed(second)
    updates = tuple(_updates(frames, moves, second))
    joint = Joint(func, frames, updates, stored, carried, names, mean)
    starts = tuple(start for step in front for start in _started(joint, step))
    return (*starts, *_woven(joint, first, second), *after)


def _ordered_before(
    some: tuple[Step, ...], others: tuple[Step, ...], everything: frozenset[str]
) -> Step | None:
    """Return the first of some steps that must stay in front of one of others."""
    after = [effect(other, everything) for other in others]
    for one in some:
        mine = effect(one, everything)
        if any(are_ordered(mine, other) for other in after):
            return one
    return None


def _apart(
    first: tuple[Step, ...], between: tuple[Step, ...]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Divide what stands between the loops: what needs nothing of the first, and what does."""
    everything = frozenset(exposed(between)) | {*assigned(between)}
    early, late = list[Step](), list[Step]()
    ordered = [effect(step, everything) for step in first]
    for step in between:
        own = effect(step, everything)
        if any(are_ordered(one, own) for one in ordered):
            late.append(step)
            ordered.append(own)
        else:
            early.append(step)
    return tuple(early), tuple(late)


def _frames(
    front: tuple[Step, ...],
    first: tuple[Step, ...],
    second: tuple[Step, ...],
    names: set[str],
) -> Iterator[Frame]:
    """Yield the results of the first walk that the second one computes with."""
    read = exposed(second)
    fills = {s.instruction.name: s.instruction for s in front if isinstance(s.instruction, Fill)}
    for name in sorted(read & {*assigned(first)}):
        sums = [s.instruction for s in steps_inside(first) if name in assigned_by(s.instruction)]
        reductions = {one.reduction for one in sums if isinstance(one, Accumulate)}
        if len(reductions) != 1 or name not in fills or not reductions <= STARTS.keys():
            raise CannotJoinError("it is no maximum and no minimum", way=NO_EXTREME)
        if fills[name].dtype not in WIDE:
            raise CannotJoinError("it is no float, and its first value would be none of its type")
        (kept,) = {one.axes for one in sums if isinstance(one, Accumulate)}
        before, exact = (fresh(f"{name}_{word}", names) for word in ("before", "exact"))
        names.update((before, exact))
        yield Frame(fills[name], reductions.pop(), kept, before, exact)


def _later(frames: tuple[Frame, ...], moves: Moves, rest: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return what comes behind the joined loop; what stores a result itself stores it exactly.

    Where the frames do not cancel in something else that is stored, it is computed with the exact
    results. Then the sums are those of the exact results, too: the two are the same, unless a row
    has no element, and so sums of nothing.
    """
    exact = {one.name: one.exact for one in frames}
    known = dict(moves.known)
    done = list[Step]()
    for step in rest:
        one = step.instruction
        if isinstance(one, Store):
            value = one.value.value if isinstance(one.value, Converted) else one.value
            if isinstance(value, Variable) and value.name in exact:
                step = replace(step, instruction=replace(one, value=renamed(one.value, exact)))
        done.append(step)
    found = tuple(done)
    try:
        moves.follow(found)
    except CannotJoinError:
        moves.known = known
        return renamed(found, exact)
    return found


def _started(joint: Joint, step: Step) -> Iterator[Step]:
    """Yield a step in front of the loop; a frame begins at a finite number."""
    one = step.instruction
    frame = next((f for f in joint.frames if one is f.fill), None)
    if frame is None:
        yield step
        return
    yield replace(step, instruction=replace(frame.fill, value=STARTS[frame.reduction]))
    if frame.exact in joint.stored:
        yield replace(step, instruction=replace(frame.fill, name=frame.exact))


def _woven(joint: Joint, first: tuple[Step, ...], second: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return two walks over the same indices as one.

    Blocks of the first are joined with those of the second that go over the same indices. What
    stands in front of such a block, in both, comes in front of the joined block.
    """
    left = _renamed_apart(first, second, joint)
    done = list[Step]()
    for leaves, block in _segments(first, joint.func):
        at = len(left)
        if block is not None:
            alike = (
                i for i, step in enumerate(left) if is_alike(block.instruction, step.instruction)
            )
            at = next(alike, -1)
            if at < 0:
                raise CannotJoinError(UNLIKE, way=SAME_TILES)
        done += _up_to_date(joint, leaves)
        done += left[:at]
        if block is not None:
            done.append(_joined(joint, block, left[at]))
        left = left[at + 1 :]
    return without_repeated_sums(tuple(done), joint.carried)


def _segments(body: tuple[Step, ...], func: str) -> Iterator[tuple[tuple[Step, ...], Step | None]]:
    """Yield each block in which a Func is reduced, with what is in front of it; last, the rest."""
    leaves = list[Step]()
    for step in body:
        if _reduces(step, func):
            yield tuple(leaves), step
            leaves = []
        else:
            leaves.append(step)
    yield tuple(leaves), None


def _joined(joint: Joint, one: Step, other: Step) -> Step:
    """Return two blocks as one, part by part."""
    done = list[Step]()
    for mine, theirs in zip(blocks_of(one), blocks_of(other), strict=True):
        made = mine.instruction
        assert isinstance(made, ForLoop | If)
        if joint.mean is not None:
            joint = replace(joint, counted=counted(joint.mean.of, mine))
        body = _woven(joint, made.body, _counted(mine, theirs))
        done.append(replace(mine, instruction=replace(made, body=body)))
    return of_blocks(one, done)


def _up_to_date(joint: Joint, leaves: tuple[Step, ...]) -> Iterator[Step]:
    """Yield steps of the first walk; where frames change, what depends on them changes after."""
    names = {one.name for one in joint.frames}
    for step in leaves:
        yield from _so_far(joint, step)
    if not names.isdisjoint(assigned(leaves)):
        yield from joint.updates
    for step in leaves:
        if joint.mean is not None and joint.counted is not None and _adds_to(joint.mean, step):
            yield from steps_of_move(joint.mean, joint.counted, step)


def _adds_to(mean: MovingMean, step: Step) -> bool:
    """Return whether a step adds to the total of a mean."""
    return isinstance(step.instruction, Accumulate) and step.instruction.name == mean.of.total


def _counted(one: Step, other: Step) -> tuple[Step, ...]:
    """Return the body of the second loop, with the counter of the first."""
    mine, theirs = one.instruction, other.instruction
    if isinstance(mine, ForLoop) and isinstance(theirs, ForLoop):
        return renamed(theirs.body, {theirs.name: mine.name})
    return _body(other)


def _renamed_apart(
    first: tuple[Step, ...], second: tuple[Step, ...], joint: Joint
) -> tuple[Step, ...]:
    """Return a body with other names where it sets the same ones as the body in front of it."""
    other = dict[str, str]()
    for name in sorted({*assigned(first)} & {*assigned(second)} - joint.carried):
        other[name] = fresh(name, joint.names)
        joint.names.add(other[name])
    return renamed(second, other)


def _so_far(joint: Joint, step: Step) -> Iterator[Step]:
    """Yield a step of the first loop; what a frame was is kept for one iteration."""
    one = step.instruction
    if joint.mean is not None and _adds_to(joint.mean, step):
        yield joint.mean.of.kept_before(step)
    frame = next((f for f in joint.frames if f.name in assigned_by(one)), None)
    if frame is None or not isinstance(one, Accumulate):
        yield step
        return
    before = Let(frame.before, frame.variable(frame.name, frame.kept), frame.kept)
    yield replace(step, instruction=before)
    yield step
    if frame.exact in joint.stored:
        yield replace(step, instruction=replace(one, name=frame.exact))


def _updates(frames: tuple[Frame, ...], moves: Moves, second: tuple[Step, ...]) -> Iterator[Step]:
    """Yield what brings the accumulators of the second walk up to date when the frames change."""
    done = set[str]()
    carried = exposed(second)
    for step in steps_inside(second):
        one = step.instruction
        if not isinstance(one, Accumulate | Product) or one.name in done:
            continue
        found = moves.of(one.name)
        if found.is_still or one.name not in carried:
            continue
        done.add(one.name)
        if isinstance(one, Accumulate):
            axes = one.axes
        else:
            axes = (*one.left_axes[:-1], one.right_axes[-1])
        moved = _moved(frames, found, axes)
        how = "rsum"
        if found.is_factor:
            moved, how = Call("exp", (moved,), axes_of(moved), _dtype(frames)), "rprod"
        if one.dtype != _dtype(frames):
            moved = Converted(moved, axes_of(moved), one.dtype)
        yield replace(step, instruction=Accumulate(one.name, how, moved, axes, one.dtype))


def _moved(frames: tuple[Frame, ...], found: Motion, axes: Axes) -> Value:
    """Return by how much a value moves with the tile that came last."""
    total: Value | None = None
    for frame in frames:
        rate = found.rates.get(frame.name)
        if rate is None:
            continue
        kept = frame.kept
        if not set(kept) <= set(axes):
            raise CannotJoinError("its rows are not in the lanes of the accumulator")
        if found.is_factor and (rate > 0) == (frame.reduction == "rmax"):
            # It begins far away from all elements, so the first factor would be infinite.
            raise unbounded()
        now, before = frame.variable(frame.name, kept), frame.variable(frame.before, kept)
        pair = (before, now) if rate < 0 else (now, before)
        one: Value = Call("sub", pair, kept, frame.fill.dtype)
        if abs(rate) != 1:
            one = Call("mul", (one, LiteralNumber(abs(rate))), kept, frame.fill.dtype)
        if total is None:
            total = one
        else:
            both = tuple(axis for axis in axes if axis in (*axes_of(total), *kept))
            total = Call("add", (total, one), both, frame.fill.dtype)
    assert total is not None
    return total


def _dtype(frames: tuple[Frame, ...]) -> Element:
    return frames[0].fill.dtype
