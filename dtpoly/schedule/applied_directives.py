"""Carries out the directives of a Program, which gives its scheduled Model and its kernels.

Directives are a set: their order in the file does not count. They are carried out in stages.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from dtpoly.algorithm.program import Program, in_order
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.poly.model import by_name
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.facts import Compiled, Returned
from dtpoly.schedule.foreign import applied
from dtpoly.schedule.hosts import reductions_of_stores, stores_of
from dtpoly.schedule.initial import Begin, initial
from dtpoly.schedule.part_chains import (
    Parted,
    directives_of,
    on_their_parts,
    stored_parts,
    with_pairs,
    with_parted_chains,
)
from dtpoly.schedule.primitive import Primitive, Stage, Turn
from dtpoly.schedule.private_reductions import with_private_reductions
from dtpoly.schedule.state import State, without_kernels
from dtpoly.schedule.storing import with_stores
from dtpoly.schedule.tree import AxisKind, statements

_Fusions = tuple[str, tuple[Primitive, ...]]  # of a Func

LOOPS = tuple(turn for turn in Turn if Turn.INLINED < turn < Turn.FUSIONS)


@dataclass(frozen=True, slots=True)
class _Start:
    """The state before fusions, and the fusions of each Func in the order in which they are made.

    Consumers come first, so that each producer finds the final loops of its reader.
    """

    state: State
    chosen: tuple[Primitive, ...]
    compiled: tuple[str, ...]
    needed: frozenset[str]
    fusions: tuple[_Fusions, ...]
    parted: tuple[Parted, ...]


def resolve(program: Program, primitives: Iterable[Primitive], begin: Begin = initial) -> State:
    """Carry out all directives, whatever their order: loops, fusions, rewrites, options.

    Directives that say nothing (a label that no loop has) change nothing. Raises DtpolyError only
    where a user's own primitive fails.
    """
    chosen = tuple(primitives)
    return finished(begun(program, chosen, begin), program, chosen)


@dataclass(frozen=True, slots=True)
class Begun:
    """A schedule in which the `shaping` primitives are carried out, and the others are not yet."""

    start: _Start
    state: State


def shaping(primitives: Iterable[Primitive]) -> tuple[Primitive, ...]:
    """Choose the primitives that choose Funcs, inline, make loops and fuse.

    The others come after them.
    """
    return tuple(p for p in primitives if p.turn is not None or p.stage is Stage.COMPILE)


def begun(program: Program, primitives: Iterable[Primitive], begin: Begin = initial) -> Begun:
    """Do what schedules share that differ only in primitives other than the shaping ones."""
    start = _start(program, primitives, begin)
    return Begun(start, _fused(start, start.state, start.fusions))


def finished(one: Begun, program: Program, primitives: Iterable[Primitive]) -> State:
    """Finish the state of a schedule that was begun, perhaps for another one that shares it."""
    # Inlining made another Program, which has the directives of the first.
    mine = program.directives
    chosen = directives_of(one.start.parted, _joined(primitives))
    start, state = replace(one.start, chosen=chosen), one.state
    own, sized = replace(state.program, directives=mine), replace(state.sized, directives=mine)
    return _finished(start, replace(state, program=own, sized=sized))


def resolve_without_each(
    program: Program, primitives: tuple[Primitive, ...]
) -> Iterator[State | DtpolyError]:
    """Resolve the same without one directive, for each in turn; or yield what fails then.

    Without a fusion, everything up to it is as it was. For a long chain of fusions that saves half.
    """
    start = _start(program, primitives)
    before: dict[Primitive, tuple[int, State]] = {}
    state = start.state
    for at, (func, mine) in enumerate(start.fusions):
        before |= dict.fromkeys(mine, (at, state))
        state = _fused(start, state, ((func, mine),))
    for one in primitives:
        others = tuple(other for other in primitives if other is not one)
        try:
            # In a chain in parts, a directive stands for several: on Funcs of parts and on merges.
            if not start.parted and one in before and one not in others:
                at, state = before[one]
                func, mine = start.fusions[at]
                left = tuple(fusion for fusion in mine if fusion != one)
                after = _fused(start, state, ((func, left), *start.fusions[at + 1 :]))
                yield _finished(start, after)
            else:
                yield resolve(program, others)
        except DtpolyError as error:
            yield error


def with_results(program: Program, primitives: Iterable[Primitive]) -> Program:
    """Note in a Program which Funcs its functions return."""
    facts = (fact for one in primitives for fact in one.facts())
    asked = (fact.func for fact in facts if isinstance(fact, Compiled | Returned))
    return replace(program, returned=tuple(dict.fromkeys(asked)))


def _start(program: Program, primitives: Iterable[Primitive], begin: Begin = initial) -> _Start:
    """Carry out inlining and loops, in every kernel."""
    chosen = _joined(primitives)
    facts = [fact for p in chosen for fact in p.facts()]
    program = with_results(program, chosen)
    compiled = program.returned
    needed = frozenset(func.name for func in in_order(program, compiled or None))
    state = begin(program, compiled)
    for primitive in chosen:
        if primitive.turn is Turn.INLINED and primitive.func in needed:
            state = applied(primitive, state)
    state, parted = with_parted_chains(state, facts)
    chosen = directives_of(parted, chosen)
    facts = [fact for p in chosen for fact in p.facts()]
    needed |= {name for one in parted for name in one.made}
    stores = stores_of(state.program, facts) | stored_parts(parted, facts)
    along = reductions_of_stores(state.program, facts, stores)
    state = on_their_parts(with_stores(state, stores, along))
    for turn in LOOPS:
        for primitive in chosen:
            if primitive.turn is turn and state.kernels_of(primitive.func):
                state = applied(primitive, state)
    state = with_pairs(state, parted)
    for kernel in state.kernels:
        state = with_private_reductions(state, kernel)
    fusions = [p for p in chosen if p.turn is Turn.FUSIONS]
    funcs = dict.fromkeys(kernel.func for kernel in reversed(state.kernels))
    in_turn = ((func, tuple(f for f in fusions if f.func == func)) for func in funcs)
    made = tuple((func, mine) for func, mine in in_turn if mine)
    return _Start(state, chosen, compiled, needed, made, parted)


def _fused(
    start: _Start, state: State, fusions: Iterable[tuple[str, tuple[Primitive, ...]]]
) -> State:
    for func, mine in fusions:
        for fusion in mine:
            state = applied(fusion, state)
        if mine and func in state.stores:
            state = without_kernels(state, func)
        elif mine and func not in start.compiled:
            state = _without_unread(state, func)
    return state


def _finished(start: _Start, state: State) -> State:
    """Carry out rewrites and options."""
    state = replace(state, makers=_makers(start.chosen))
    for primitive in sorted(start.chosen, key=lambda p: p.stage):
        if primitive.turn is None and primitive.func in start.needed:
            state = applied(primitive, state)
    return state


def _makers(chosen: Iterable[Primitive]) -> Mapping[AxisKind, tuple[str, ...]]:
    """Return the directives that make axes, in the order in which they are carried out."""
    found: dict[AxisKind, tuple[str, ...]] = {}
    for one in sorted(chosen, key=lambda one: one.turn or max(Turn) + 1):
        for kind in one.makes:
            found[kind] = (*found.get(kind, ()), one.name, *one.aliases)
    return found


def scheduled(program: Program, primitives: Primitives) -> State:
    """Return the state after a Program's own directives, which have passed the static checks."""
    return resolve(program, bind(program.directives, primitives).primitives)


def _joined(primitives: Iterable[Primitive]) -> tuple[Primitive, ...]:
    """Join primitives on one Func that say the same kind of thing into one; their order is open.

    What is said again counts once.
    """
    joined: dict[tuple[str, str], Primitive] = {}
    others: dict[Primitive, None] = {}
    for primitive in primitives:
        key = (primitive.func, primitive.name)
        if primitive.is_joined:
            before = joined.get(key)
            first = primitive if before is None else before
            joined[key] = primitive.with_arguments_of(first)
        else:
            others[primitive] = None
    return (*joined.values(), *others)


def _without_unread(state: State, func: str) -> State:
    """Return the state without the kernels of a fused Func, if nothing may read what they write."""
    known = by_name(state.model)
    outside = {name for fusion in state.fusions if fusion.func == func for name in fusion.outside}
    names = (n for k in state.kernels if k.func != func for n in statements(k.body))
    if any(read.array == func for n in names if n not in outside for read in known[n].reads):
        return state
    return without_kernels(state, func)
