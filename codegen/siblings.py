"""Joins loops that stand side by side and run over the same range into one loop.

    for k: a += f(A[k])                    for k: t = A[k]; a += f(t); b += g(t)
    for k: b += g(A[k])             -->

What both of them load is then loaded once. Steps that stand between the loops, and that the second
loop needs, are computed before both. A tiled loop is joined with its tail, or not at all. Branches
on the same condition are joined in the same way: they are the ends of loops that are not tiled.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Accumulate,
    Barrier,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Load,
    Product,
    Select,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.parts import assigned, inside, renamed
from dtpoly.ir.step_dependences import are_ordered, effect, exposed
from dtpoly.ir.tiled import blocks_of, is_alike, of_blocks

from .python_names import fresh
from .repeats import without_repeats

# The lanes that the accumulators of one loop may have together. With four warps these take 128 of
# the 255 registers of a thread, so that what it loads and computes has room beside them.
MOST_LANES = 1 << 14

# The lanes that an axis counts for if only a call says how many it has: a whole row. A loop with a
# longer row in registers spills, however few results it passes on.
LANES_OF_ROW = MOST_LANES // 2

# Steps with steps inside of them.
Looped = ForLoop | If | TiledLoop


@dataclass(slots=True)
class Siblings:
    """The names of a kernel, and the lanes of its axes, for a pass over neighbouring loops."""

    taken: set[str]
    counts: Mapping[str, int | str]


def joined_loops(body: tuple[Step, ...], taken: frozenset[str]) -> tuple[Step, ...]:
    """Return the body; `taken` are the names of its parameters."""
    counts = {one.name: one.count for one in inside(body) if isinstance(one, Lanes)}
    return _block(Siblings({*taken, *assigned(body)}, counts), body, frozenset())


def _block(siblings: Siblings, body: tuple[Step, ...], live: frozenset[str]) -> tuple[Step, ...]:
    """Join loops in a block. `live` are the names that are needed behind the block."""
    at = 0
    while at < len(body):
        if isinstance(body[at].instruction, Looped):
            joined = _with_next(siblings, body, at, live)
            if joined is not None:
                body = joined
                continue
            step = _inside_joined(siblings, body[at], live | exposed(body[at + 1 :]))
            body = (*body[:at], step, *body[at + 1 :])
        at += 1
    return body


def _inside_joined(siblings: Siblings, step: Step, after: frozenset[str]) -> Step:
    """A block in which loops are joined. `after` are the names that are needed behind it."""
    parts = blocks_of(step)
    done: list[Step] = []
    for at, part in enumerate(parts):
        one = part.instruction
        assert isinstance(one, ForLoop | If)
        inner = _block(siblings, one.body, after | exposed(parts[at:]))
        done.append(replace(part, instruction=replace(one, body=inner)))
    return of_blocks(step, done)


def _with_next(
    siblings: Siblings, body: tuple[Step, ...], at: int, live: frozenset[str]
) -> tuple[Step, ...] | None:
    """Return the body with a block joined with the next one, if that is right and pays off.

    Between a loop and the next may be branches: the ends of a loop that is not tiled.
    """
    first = body[at].instruction
    for other in range(at + 1, len(body)):
        second = body[other].instruction
        if not isinstance(second, Looped):
            continue
        if is_alike(first, second):
            before = _needed_between(body, at, other, live)
            if before is None:
                return None
            after = live | exposed(body[at + 1 : other]) | exposed(body[other + 1 :])
            step = _joined(siblings, body[at], body[other], after)
            if step is None:
                return None
            early = tuple(body[i] for i in before)
            late = tuple(body[i] for i in range(at + 1, other) if i not in before)
            return (*body[:at], *early, step, *late, *body[other + 1 :])
        if isinstance(first, If) or not isinstance(second, If):
            return None
    return None


def _needed_between(
    body: tuple[Step, ...], at: int, other: int, live: frozenset[str]
) -> tuple[int, ...] | None:
    """Find the steps between two blocks that must come before both; None if they cannot join."""
    effects = [effect(body[i], live | exposed(body[i + 1 :])) for i in range(at, other + 1)]
    first, last = effects[0], effects[-1]
    if are_ordered(first, last) or (first.stores | last.stores) & (first.loads | last.loads):
        return None
    moved, early = [last], list[int]()
    for i in reversed(range(at + 1, other)):
        own = effects[i - at]
        if any(are_ordered(own, one) for one in moved):
            if isinstance(body[i].instruction, Looped) or are_ordered(first, own):
                return None
            moved.append(own)
            early.append(i)
    return tuple(reversed(early))


def _joined(siblings: Siblings, first: Step, second: Step, after: frozenset[str]) -> Step | None:
    """The two blocks as one, if each of its parts loads less, and registers have room for both.

    Of tiled loops, main parts and tails are joined, or neither.
    """
    if any(_is_fixed(one) for one in inside((first, second))):
        return None
    own, others = blocks_of(first), blocks_of(second)
    tried = replace(siblings, taken={*siblings.taken})
    done: list[Step] = []
    for at, (one, other) in enumerate(zip(own, others, strict=True)):
        behind = exposed(own[at + 1 :]) | exposed(others[at + 1 :])
        made = _joined_part(tried, one, other, after | behind)
        if made is None:
            return None
        done.append(made)
    siblings.taken, siblings.counts = tried.taken, tried.counts
    return of_blocks(first, done)


def _joined_part(siblings: Siblings, one: Step, other: Step, after: frozenset[str]) -> Step | None:
    """Two loops, or two branches, as one. `after` are the names that are needed behind them."""
    first, second = one.instruction, other.instruction
    assert isinstance(first, ForLoop | If)
    assert isinstance(second, ForLoop | If)
    kept = after | exposed((one,)) | exposed((other,))
    names: dict[str, str] = {}
    if isinstance(first, ForLoop) and isinstance(second, ForLoop):
        counters = {first.name, second.name}
        if counters & {*after, *assigned(first.body), *assigned(second.body)}:
            return None
        names[second.name] = first.name
    for name in sorted(set(assigned(first.body)) & set(assigned(second.body)) - kept):
        names[name] = fresh(name, siblings.taken)
        siblings.taken.add(names[name])
    inner = (*first.body, *renamed(second.body, names))
    counts = siblings.counts
    siblings.counts = {**counts, **{n: counts[old] for old, n in names.items() if old in counts}}
    inner = _block(siblings, without_repeats(inner, kept), kept)
    if _loads(inner) >= _loads(first.body) + _loads(second.body):
        return None
    if isinstance(first, ForLoop) and not _has_room(siblings, inner):
        return None
    return replace(one, instruction=replace(first, body=inner))


def _is_fixed(one: Instruction) -> bool:
    """Return whether a block that contains this instruction stays as it is.

    In loops that multiply matrices, the tiles that are under way fill the shared memory: their
    sizes were chosen for one loop.
    """
    match one:
        case Barrier() | Product():
            return True
        case Store(atomic=atomic):
            return atomic is not None
        case ForLoop(is_pipelined=is_pipelined):
            return not is_pipelined
        case _:
            return False


def _loads(body: tuple[Step, ...]) -> int:
    return sum(isinstance(one, Load) for one in inside(body))


def _has_room(siblings: Siblings, body: tuple[Step, ...]) -> bool:
    """Return whether registers hold what the rounds of a loop pass on."""
    carried = exposed(body)
    lanes: dict[str, int] = {}
    for one in inside(body):
        if isinstance(one, Accumulate | Select) and one.name in carried:
            counts = [siblings.counts.get(axis, MOST_LANES) for axis in one.axes]
            tiles = 2 if isinstance(one, Select) else 1
            lanes[one.name] = tiles * prod(
                count if isinstance(count, int) else LANES_OF_ROW for count in counts
            )
    return sum(lanes.values()) <= MOST_LANES
