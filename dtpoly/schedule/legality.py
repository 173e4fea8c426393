"""A Program in, the verdict on its schedule out: legal for all sizes, or what is violated."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.program import Program
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
from dtpoly.schedule.verdict import Note, Verdict


def judge(program: Program, primitives: Primitives = PRIMITIVES) -> Verdict:
    """The verdict on a Program whose directives have passed the static checks.

    Nothing is raised for a schedule that is refused; the Program stays as it was.
    """
    chosen = bind(program.directives, primitives).primitives
    verdict = judge_state(resolve(program, chosen))
    if verdict.is_legal:
        return verdict

    def is_refused(some: tuple[Primitive, ...]) -> bool:
        state = resolve(program, some)
        return next(found(state, dependences(state.model)), None) is not None

    first = verdict.violations[0]
    involved = {first.source, first.target}
    return replace(verdict, blame=to_blame(chosen, involved, is_refused))


def judge_state(state: State) -> Verdict:
    """The verdict on a tree, whoever made it."""
    ways = {path.statement: path for path in paths(state.kernels)}
    known = by_name(state.model) | by_name(state.lifted)
    first: dict[tuple[ViolationKind, str, str], Broken] = {}
    for one in found(state, dependences(state.model)):
        source, target = known[one.dependence.source], known[one.dependence.target]
        first.setdefault((one.kind, source.func, target.func), one)
    violations = tuple(violation(state, one, ways) for one in first.values())
    return Verdict(state, violations, tuple(_notes(state)))


def found(state: State, all_pairs: tuple[Dependence, ...]) -> Iterator[Broken]:
    """All that is wrong, the most telling first."""
    ways = {path.statement: path for path in paths(state.kernels)}
    lost = tuple(not_once(state.model, ways.values()))
    yield from lost
    if lost:
        return
    yield from _outside(state)
    yield from sorted(broken(state.model, ways, all_pairs), key=lambda one: _weight(one, state))
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
