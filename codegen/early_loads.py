"""Moves loads that a loop does not change in front of the loop.

    for k: t = A[m]; acc += t * B[k]  -->  t = A[m]; for k: acc += t * B[k]

With a load at data go the values of its indices and tests, if they are the same in each round.

The loop may run zero times, and then nothing guarantees that the loaded elements exist. So a load
is moved only if what is known before the loop keeps each of its indices inside of its tensor.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import prod

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import ForLoop, If, Instruction, Lanes, Let, Load, Step, TiledLoop
from dtpoly.ir.parts import assigned, assigned_by, inside
from dtpoly.ir.step_dependences import reads
from dtpoly.ir.tiled import parts_of, with_parts

from .hoisting import are_total

# The largest tile that is kept through a loop: with four warps, 32 registers of each thread.
MOST_LANES = 1 << 12

ONE = Affine((), 1)


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """Facts that hold everywhere in a kernel."""

    extents: Mapping[str, tuple[frozenset[str], ...]]  # of tensors that are not written
    lanes: Mapping[str, Lanes]
    times: Mapping[str, int]  # how often a name is set
    loads: frozenset[str]  # names that are never set to anything but one and the same load
    sides: frozenset[str]  # tiles that are only multiplied, so that they need no registers


def with_early_loads(
    body: tuple[Step, ...],
    extents: Mapping[str, tuple[frozenset[str], ...]],
    largest: Mapping[str, Affine],
    sides: frozenset[str] = frozenset(),
) -> tuple[Step, ...]:
    """Move the loads. `largest` bounds variables from above, all of which are 0 or more.

    Tiles of any size are moved if they are `sides` of products.
    """
    setters: dict[str, list[Instruction]] = {}
    for one in inside(body):
        for name in assigned_by(one):
            setters.setdefault(name, []).append(one)
    loads = {
        name
        for name, ones in setters.items()
        if all(isinstance(one, Load) and _is_same(one, ones[0]) for one in ones)
    }
    lanes = {one.name: one for one in inside(body) if isinstance(one, Lanes)}
    known = KernelFacts(extents, lanes, Counter(assigned(body)), frozenset(loads), sides)
    return _block(known, body, largest)


def _block(
    known: KernelFacts, body: tuple[Step, ...], largest: Mapping[str, Affine]
) -> tuple[Step, ...]:
    done: list[Step] = []
    rest = body
    while rest:
        step, rest = rest[0], rest[1:]
        match step.instruction:
            case ForLoop(body=inner) as loop:
                inner = _block(known, inner, _counted(loop, largest))
                set_in = {loop.name, *assigned(inner)}
                for one in inner:
                    load = one.instruction
                    if not isinstance(load, Load):
                        continue
                    lets = _values_of(known, inner, load, set_in)
                    own = set_in.difference(assigned(lets))
                    if _is_fixed(known, load, own, largest):
                        done += [*lets, one]
                        gone = [let.instruction for let in lets]
                        inner = tuple(step for step in inner if step.instruction not in gone)
                        set_in = own
                        inner, rest = _without(inner, load), _without(rest, load)
                step = replace(step, instruction=replace(loop, body=inner))
            case TiledLoop():
                *early, whole, end = _block(known, parts_of(step), largest)
                done.extend(early)
                for before in early:
                    assert isinstance(before.instruction, Load)
                    rest = _without(rest, before.instruction)
                step = with_parts(step, whole, end)
            case If(body=inner) as branch:
                inner = _block(known, inner, largest)
                step = replace(step, instruction=replace(branch, body=inner))
            case _:
                pass
        done.append(step)
    return tuple(done)


def _values_of(
    known: KernelFacts, body: tuple[Step, ...], load: Load, set_in: set[str]
) -> tuple[Step, ...]:
    """Return what computes the indices and tests of a load, if each round computes the same.

    What is set behind the place where it is read is that of the round before.
    """
    found: list[Step] = []
    wanted = {*reads(load)} & set_in
    at = next(at for at, step in enumerate(body) if step.instruction is load)
    for step in reversed(body[:at]):
        one = step.instruction
        if not isinstance(one, Let) or one.name not in wanted:
            continue
        uses = {*reads(one)}
        if any(known.times.get(name, 0) > 1 for name in (one.name, *uses)):
            return ()
        if not are_total((one.value,)):
            return ()
        found.append(step)
        wanted = (wanted - {one.name}) | (uses & set_in)
    return () if wanted else tuple(reversed(found))


def _counted(loop: ForLoop, largest: Mapping[str, Affine]) -> Mapping[str, Affine]:
    """Give upper bounds for variables inside of a loop, among them its counter."""
    match loop:
        case ForLoop(start=Affine(terms=(), constant=least), stop=Affine() as stop) if least >= 0:
            return {**largest, loop.name: stop - ONE}
        case _:
            return {name: most for name, most in largest.items() if name != loop.name}


def _without(body: tuple[Step, ...], load: Load) -> tuple[Step, ...]:
    """Return the steps without a load that was done before."""
    done: list[Step] = []
    for step in body:
        one = step.instruction
        if isinstance(one, ForLoop | If):
            done.append(replace(step, instruction=replace(one, body=_without(one.body, load))))
        elif isinstance(one, TiledLoop):
            main, tail = _without(one.main, load), _without(one.tail, load)
            done.append(replace(step, instruction=replace(one, main=main, tail=tail)))
        elif not _is_same(one, load):
            done.append(step)
    return tuple(done)


def _is_same(one: Instruction, other: Instruction) -> bool:
    """Return whether two instructions read the same: to Python, 0.0 and -0.0 are equal."""
    return repr(one) == repr(other)


def _is_fixed(
    known: KernelFacts, load: Load, set_in: set[str], largest: Mapping[str, Affine]
) -> bool:
    """Return whether a load gives the same in each round, and may be done if there is none."""
    uses = {*reads(load), *load.axes}
    if (
        load.name not in known.loads
        or uses & set_in
        or any(known.times.get(u, 0) > 1 for u in uses)
    ):
        return False
    extents = known.extents.get(load.tensor)
    if extents is None or not all(
        _is_inside(known, load, index, extent, largest)
        for index, extent in zip(load.indices, extents, strict=True)
    ):
        return False
    if load.name in known.sides:
        return True
    counts = [known.lanes[axis].count if axis in known.lanes else MOST_LANES for axis in load.axes]
    numbers = [count for count in counts if isinstance(count, int)]
    return len(numbers) == len(counts) and (not counts or prod(numbers) <= MOST_LANES)


def _is_inside(
    known: KernelFacts,
    load: Load,
    index: Affine,
    extents: frozenset[str],
    largest: Mapping[str, Affine],
) -> bool:
    """Return whether an index is one of the tensor's wherever the load looks at it."""
    is_side = load.name in known.sides
    if any(index == Affine(((at.name, 1),)) for at in load.taken):
        # Each number that was loaded has a test of its own, if nothing is promised of it.
        tested = [t for t in load.conditions if t.name is not None and not t.value.terms]
        return len(tested) >= len(load.taken)
    most = _most(known, index, largest)
    if most is None and not (is_side and _is_open_lane(known, index)):
        return False
    for extent in extents:
        last = Affine(((extent, 1),), -1)
        # Under its flag a test always holds.
        tests = (test.value for test in load.conditions if test.unless is None or is_side)
        rooms = [last - index - test for test in tests]
        rooms += [] if most is None else [last - most]
        if any(not room.terms and room.constant >= 0 for room in rooms):
            return True
    return False


def _is_open_lane(known: KernelFacts, index: Affine) -> bool:
    """Return whether an index is a lane that is counted from 0 on, to an end that is a name."""
    lanes = known.lanes.get(index.plain or "")
    is_once = known.times.get(index.plain or "", 0) <= 1
    return lanes is not None and is_once and lanes.start == Affine() and lanes.step == 1


def _most(known: KernelFacts, index: Affine, largest: Mapping[str, Affine]) -> Affine | None:
    """Give an upper bound for an index; None if none is known, or if it may be less than 0."""
    if index.constant < 0:
        return None
    most = Affine((), index.constant)
    for name, factor in index.terms:
        if not isinstance(name, str) or factor < 0 or known.times.get(name, 0) > 1:
            return None
        if name in largest:
            own: Affine | None = largest[name]
        elif (lanes := known.lanes.get(name)) is not None and isinstance(lanes.count, int):
            start = _most(known, lanes.start, largest)
            own = None if start is None else start + Affine((), lanes.step * (lanes.count - 1))
        else:
            own = None
        if own is None:
            return None
        most += own.scaled(factor)
    return most
