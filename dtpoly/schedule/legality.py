"""A Program in, the verdict on its schedule out: legal for all sizes, or what is violated."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError
from dtpoly.poly.axes import Axis
from dtpoly.poly.coverage import not_once
from dtpoly.poly.dependences import Dependence, DependenceKind, dependences
from dtpoly.poly.model import Role, by_name
from dtpoly.poly.order import Broken, ViolationKind, broken
from dtpoly.poly.recompute import repeated_by_programs, repeated_in_loop
from dtpoly.poly.relate import read_pairs
from dtpoly.schedule.blame import to_blame
from dtpoly.schedule.describe import violation
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.primitives import PRIMITIVES, Primitives, bind
from dtpoly.schedule.resolve import resolve
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import paths
from dtpoly.schedule.verdict import Note, Verdict, Violation


def judge(program: Program, primitives: Primitives = PRIMITIVES) -> Verdict:
    """The verdict on a Program whose directives have passed the static checks.

    Nothing is raised for a schedule that is refused; the Program stays as it was. Raises
    DtpolyError where a user's own primitive fails.
    """
    chosen = bind(program.directives, primitives).primitives
    verdict = judge_state(resolve(program, chosen))
    if verdict.is_legal:
        return verdict

    def is_broken(some: tuple[Primitive, ...]) -> bool:
        """Whether the first thing that is broken is so with these directives alone."""
        try:
            state = resolve(program, some)
        except DtpolyError:
            return False  # a user's own primitive fails without the others
        return is_broken_in(state, first)

    first = verdict.violations[0]
    culprits = to_blame(chosen, first.source, first.target, is_broken)
    return replace(verdict, blame=next(iter(culprits), None), accomplices=culprits[1:])


def is_broken_in(state: State, violation: Violation) -> bool:
    """Whether a tree breaks the order of the same two Funcs in the same way."""
    key = (violation.kind, violation.source, violation.target)
    match violation.kind:
        case ViolationKind.LOST:
            every = not_once(state.model, paths(state.kernels))
        case ViolationKind.RECOMPUTES:
            every = _again(state)
        case ViolationKind.LATE | ViolationKind.CROSSES | ViolationKind.RACE:
            ways = {path.statement: path for path in paths(state.kernels)}
            mine = [s for s in state.model.statements if s.func in key[1:] and s.name in ways]
            pairs = dependences(replace(state.model, statements=tuple(mine)))
            every = chain(_outside(state), broken(state.model, ways, pairs))
    return any(_key(state, one) == key for one in every)


def judge_state(state: State) -> Verdict:
    """The verdict on a tree, whoever made it."""
    ways = {path.statement: path for path in paths(state.kernels)}
    first: dict[tuple[ViolationKind, str, str], Broken] = {}
    for one in found(state, dependences(state.model)):
        first.setdefault(_key(state, one), one)
    violations = tuple(violation(state, one, ways) for one in first.values())
    return Verdict(state, violations, tuple(_notes(state)))


def _key(state: State, one: Broken) -> tuple[ViolationKind, str, str]:
    """What is told once: how it is broken, between which Funcs."""
    known = by_name(state.model) | by_name(state.lifted)
    return one.kind, known[one.dependence.source].func, known[one.dependence.target].func


def found(state: State, all_pairs: tuple[Dependence, ...]) -> Iterator[Broken]:
    """All that is wrong, the most telling first."""
    ways = {path.statement: path for path in paths(state.kernels)}
    lost = tuple(not_once(state.model, paths(state.kernels)))
    yield from lost
    if lost:
        return
    yield from _outside(state)
    yield from sorted(broken(state.model, ways, all_pairs), key=lambda one: _weight(one, state))
    yield from _again(state)


def _again(state: State) -> Iterator[Broken]:
    """What iterations of one program compute, each for itself, though it is not written."""
    known = by_name(state.model)
    for fusion in state.fusions:
        if fusion.recompute or not fusion.label:
            continue
        grid = _grid(state, fusion.kernel)
        for name in reversed(fusion.copies):
            one = repeated_in_loop(known[name], grid, state.model.context)
            if one is not None:
                yield one
                break


def _weight(one: Broken, state: State) -> tuple[bool, bool]:
    """Flow between Funcs says most."""
    known = by_name(state.model)
    roles = (known[one.dependence.source].role, known[one.dependence.target].role)
    return one.dependence.kind is not DependenceKind.FLOW, Role.COMBINE in roles


def _grid(state: State, kernel: str) -> frozenset[str]:
    return frozenset(axis.name for one in state.kernels if one.name == kernel for axis in one.grid)


def _outside(state: State) -> Iterator[Broken]:
    """Reads of a fused Func where its private copies cannot be seen."""
    known = by_name(state.model)
    values = by_name(state.lifted)
    for fusion in state.fusions:
        for name in fusion.outside:
            pairs = read_pairs(values[fusion.func], known[name], state.model.context)
            if not pairs.is_empty():
                kind, func = DependenceKind.FLOW, fusion.func
                pair = Dependence(kind, func, func, name, pairs)
                yield Broken(pair, ViolationKind.LATE, pairs)


def _notes(state: State) -> Iterator[Note]:
    """What is computed by several programs."""
    known = by_name(state.model)
    for fusion in state.fusions:
        kernel = next(k for k in state.kernels if k.name == fusion.kernel)
        copy = known[fusion.copies[-1]] if fusion.copies else None
        blocks = {
            axis.label: _block_size(state, axis)
            for axis in kernel.grid
            if copy and axis.name in copy.copies and repeated_by_programs(copy, axis.name)
        }
        if blocks:
            yield Note(fusion.func, fusion.kernel, blocks, not fusion.label)


def _block_size(state: State, axis: Axis) -> int:
    """How many indices of its label a block has; blocks of partial results are numbered."""
    part = state.model.parts.get(axis.index.plain or "")
    return part.size if part else axis.step or 1
