"""Joins loops that stand side by side and run over the same range into one loop.

    for k: a += f(A[k])                    for k: t = A[k]; a += f(t); b += g(t)
    for k: b += g(A[k])             -->

What both of them load is then loaded once. Steps that stand between the loops, and that the second
loop needs, are computed before both. Branches on the same condition are joined in the same way:
they are the ends of such loops.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from dtpoly.frozen import dataclass
from dtpoly.ir.dependences import are_ordered, carried, effect, exposed
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
)
from dtpoly.ir.parts import assigned, inside, renamed
from dtpoly.ir.tiled import flat, tiled

from .names import fresh
from .repeats import without_repeats

# The lanes that the accumulators of one loop may have together. With four warps these take 128 of
# the 255 registers of a thread, so that what it loads and computes has room beside them.
MOST_LANES = 1 << 14


@dataclass(slots=True)
class Siblings:
    """All names of the kernel, and how many lanes its axes have."""

    taken: set[str]
    counts: Mapping[str, int | str]


def joined_loops(body: tuple[Step, ...], taken: frozenset[str]) -> tuple[Step, ...]:
    """The body; `taken` are the names of its parameters."""
    counts = {one.name: one.count for one in inside(body) if isinstance(one, Lanes)}
    return _block(Siblings({*taken, *assigned(body)}, counts), body, frozenset())


def _block(siblings: Siblings, body: tuple[Step, ...], live: frozenset[str]) -> tuple[Step, ...]:
    """Join loops in a block. `live` are the names that are needed behind the block.

    Of tiled loops, main parts are joined, and then tails; what belongs together stays so.
    """
    body, at = tuple(flat(body)), 0
    while at < len(body):
        one = body[at].instruction
        if isinstance(one, ForLoop | If):
            joined = _with_next(siblings, body, at, live)
            if joined is not None:
                body = joined
                continue
            after = live | exposed(body[at + 1 :]) | exposed((body[at],))
            inner = _block(siblings, one.body, after)
            step = replace(body[at], instruction=replace(one, body=inner))
            body = (*body[:at], step, *body[at + 1 :])
        at += 1
    return _tiled_again(body)


def _tiled_again(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """The block with its tiled loops: of what was joined, main parts and tails are neighbours.

    If only main parts were joined, none of the tails is all that is left of them.
    """
    done: list[Step] = []
    for step in body:
        both = tiled(done[-1], step) if done else None
        if both is not None and carried((done[-1],)) == carried((step,)):
            done[-1] = both
        else:
            done.append(step)
    return tuple(done)


def _with_next(
    siblings: Siblings, body: tuple[Step, ...], at: int, live: frozenset[str]
) -> tuple[Step, ...] | None:
    """The body with a block joined with the next one of its kind, if that is right and is worth it.

    Between a loop and the next are its ends, which are branches, and what comes of it.
    """
    first = body[at].instruction
    for other in range(at + 1, len(body)):
        second = body[other].instruction
        if not isinstance(second, ForLoop | If):
            continue
        if _is_alike(first, second):
            before = _needed_between(body, at, other, live)
            if before is None:
                return None
            step = _joined(siblings, body, at, other, live)
            if step is None:
                return None
            early = tuple(body[i] for i in before)
            late = tuple(body[i] for i in range(at + 1, other) if i not in before)
            return (*body[:at], *early, step, *late, *body[other + 1 :])
        if not (isinstance(first, ForLoop) and isinstance(second, If)):
            return None
    return None


def _is_alike(first: Instruction, second: Instruction) -> bool:
    """Whether two blocks are run through in the same way."""
    match first, second:
        case ForLoop(), ForLoop():
            return replace(second, name=first.name, body=first.body) == first
        case If(), If():
            return replace(second, body=first.body) == first
        case _:
            return False


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
            if isinstance(body[i].instruction, ForLoop | If) or are_ordered(first, own):
                return None
            moved.append(own)
            early.append(i)
    return tuple(reversed(early))


def _joined(
    siblings: Siblings, body: tuple[Step, ...], at: int, other: int, live: frozenset[str]
) -> Step | None:
    """The two blocks as one, if that loads less, and registers have room for both."""
    first, second = body[at].instruction, body[other].instruction
    assert isinstance(first, ForLoop | If)
    assert isinstance(second, ForLoop | If)
    if any(_is_fixed(one) for one in inside((body[at], body[other]))):
        return None
    after = live | exposed(body[at + 1 : other]) | exposed(body[other + 1 :])
    kept = after | exposed((body[at],)) | exposed((body[other],))
    taken = set(siblings.taken)
    names: dict[str, str] = {}
    if isinstance(first, ForLoop) and isinstance(second, ForLoop):
        counters = {first.name, second.name}
        if counters & {*after, *assigned(first.body), *assigned(second.body)}:
            return None
        names[second.name] = first.name
    for name in sorted(set(assigned(first.body)) & set(assigned(second.body)) - kept):
        names[name] = fresh(name, taken)
        taken.add(names[name])
    inner = (*first.body, *renamed(second.body, names))
    counts = dict(siblings.counts)
    counts |= {new: counts[old] for old, new in names.items() if old in counts}
    inside_of = Siblings(taken, counts)
    inner = _block(inside_of, without_repeats(inner, kept), kept)
    if _loads(inner) >= _loads(first.body) + _loads(second.body):
        return None
    if isinstance(first, ForLoop) and not _has_room(inside_of, inner):
        return None
    siblings.taken, siblings.counts = inside_of.taken, inside_of.counts
    return replace(body[at], instruction=replace(first, body=inner))


def _is_fixed(one: Instruction) -> bool:
    """Whether a block that contains this instruction stays as it is.

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
    """Whether registers hold what the rounds of a loop pass on."""
    carried = exposed(body)
    lanes: dict[str, int] = {}
    for one in inside(body):
        if isinstance(one, Accumulate | Select) and one.name in carried:
            counts = [siblings.counts.get(axis, MOST_LANES) for axis in one.axes]
            if not all(isinstance(count, int) for count in counts):
                return False
            tiles = 2 if isinstance(one, Select) else 1
            lanes[one.name] = tiles * prod(count for count in counts if isinstance(count, int))
    return sum(lanes.values()) <= MOST_LANES
