"""Judges the schedule of a Program: it is legal for all sizes, or refused with what it violates.

Every dependence of the algorithm is looked at, together with what is computed too often, or not at
all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice

from dtpoly.algorithm.program import Program
from dtpoly.budget import check
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.diagnostics import Note as Remark
from dtpoly.poly.axes import Axis, Path
from dtpoly.poly.coverage import not_once, unlaunched
from dtpoly.poly.dependences import Dependence, DependenceKind, dependences
from dtpoly.poly.effort import answered, limited
from dtpoly.poly.model import Role, Statement, by_name
from dtpoly.poly.order import Broken, ViolationKind, broken, merged
from dtpoly.poly.pipelined_reads import run_ahead
from dtpoly.poly.recompute import repeated_by_programs, repeated_in_loop
from dtpoly.poly.relate import read_pairs
from dtpoly.poly.unwritten import never_written
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.blame import to_blame
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.describe import violation
from dtpoly.schedule.initial import Begin, initial
from dtpoly.schedule.primitive import Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import asking_for, launch_of, paths
from dtpoly.schedule.verdict import RepeatedWork, Verdict, Violation

# How many operations isl may take: for a verdict, more for each Func, and to find who is to blame.
VERDICT, EACH, BLAME = 4_000_000, 20_000, 1_000_000


def judge(program: Program, primitives: Primitives) -> Verdict:
    """Judge a Program whose directives have passed the static checks.

    Nothing is raised for a schedule that is refused; the Program stays as it was. Raises
    DtpolyError where a user's own primitive fails, and where it takes too long to decide.
    """
    chosen = bind(program.directives, primitives).primitives
    with limited(VERDICT + EACH * len(program.funcs)):
        verdict = answered(lambda: judge_state(resolve(program, chosen)))
    if verdict is None:
        check()  # without time left, isl answers nothing at all
        raise DtpolyError([_undecided(chosen)])
    if verdict.is_legal:
        return verdict

    def is_broken(some: tuple[Primitive, ...]) -> bool:
        """Return whether it is known that the first thing is broken with these directives alone."""
        try:
            return bool(answered(lambda: is_broken_in(resolve(program, some), first)))
        except DtpolyError:
            return False  # a user's own primitive fails without the others

    first = verdict.violations[0]
    lets_run_ahead = _lets_run_ahead(verdict.scheduled, first, chosen)
    if lets_run_ahead is not None:
        return replace(verdict, blame=lets_run_ahead)
    with limited(BLAME):
        culprits = to_blame(chosen, first.source, first.target, is_broken)
    return replace(verdict, blame=next(iter(culprits), None), accomplices=culprits[1:])


def legal_state(program: Program, primitives: Primitives, begin: Begin = initial) -> State | None:
    """Return the state of a schedule that is legal for all sizes, and None for any other.

    It asks less than `judge` where the answer is no, and says nothing of the reason. Raises
    DtpolyError where `judge` does.
    """
    chosen = bind(program.directives, primitives).primitives

    def judged() -> tuple[State, tuple[Broken, ...]]:
        """Return the state, and the first thing that is wrong with it."""
        state = resolve(program, chosen, begin)
        return state, tuple(islice(found(state, dependences(state.model)), 1))

    with limited(VERDICT + EACH * len(program.funcs)):
        answer = answered(judged)
    if answer is None:
        check()  # without time left, isl answers nothing at all
        raise DtpolyError([_undecided(chosen)])
    state, wrong = answer
    return None if wrong else state


def _undecided(chosen: tuple[Primitive, ...]) -> Diagnostic:
    """Report that isl gave up, at the first fusion: copies are what takes most of the work."""
    first = next((p for p in chosen if p.stage is Stage.FUSIONS), chosen[0])
    return Diagnostic(
        "DT208",
        Severity.ERROR,
        "it takes too long to decide whether this schedule is legal",
        first.span,
        "not decided",
        (Remark("if a Func is read at many indices, what a loop needs of it is hard to describe"),),
        "fuse fewer Funcs, or leave out tiles that do not divide each other",
    )


def _lets_run_ahead(
    state: State, violation: Violation, chosen: tuple[Primitive, ...]
) -> Primitive | None:
    """Find the directive that lets loads run ahead.

    It is always to blame, but never wrong alone.
    """
    place = violation.witness.target.place
    if violation.kind is not ViolationKind.AHEAD or place is None:
        return None
    kernel = next(kernel for kernel in state.kernels if kernel.name == place.kernel)
    found = tuple(asking_for(kernel, lambda launch: launch.runs_ahead))
    return next((one for one in chosen if one in found), None)


def is_broken_in(state: State, violation: Violation) -> bool:
    """Return whether a tree breaks the order of the same two Funcs in the same way."""
    key = (violation.kind, violation.source, violation.target)
    match violation.kind:
        case ViolationKind.LOST:
            every = _lost(state)
        case ViolationKind.RECOMPUTES:
            every = _again(state)
        case ViolationKind.AHEAD:
            every = ahead(state)
        case ViolationKind.UNWRITTEN:
            every = never_written(state.lifted, state.model)
        case ViolationKind.LATE | ViolationKind.CROSSES | ViolationKind.RACE:
            ways = {path.statement: path for path in paths(state.kernels)}
            mine = [s for s in state.model.statements if s.func in key[1:] and s.name in ways]
            pairs = dependences(replace(state.model, statements=tuple(mine)))
            every = chain(_outside(state), broken(state.model, ways, pairs))
    return any(_key(state, one) == key for one in every)


def judge_state(state: State) -> Verdict:
    """Judge a tree, whoever made it."""
    ways = {path.statement: path for path in paths(state.kernels)}
    first: dict[tuple[ViolationKind, str, str], Broken] = {}
    for one in found(state, dependences(state.model)):
        first.setdefault(_key(state, one), one)
    violations = tuple(violation(state, one, ways) for one in first.values())
    return Verdict(state, violations, tuple(_notes(state)))


def _key(state: State, one: Broken) -> tuple[ViolationKind, str, str]:
    """Say what makes two violations the same to a user: how, and between which Funcs."""
    known = by_name(state.model) | by_name(state.lifted)
    return one.kind, known[one.dependence.source].func, known[one.dependence.target].func


def found(state: State, all_pairs: tuple[Dependence, ...]) -> Iterator[Broken]:
    """Yield all that is wrong, the most telling first."""
    every = paths(state.kernels)
    ways = {path.statement: path for path in every}
    lost = tuple(not_once(state.model, every))
    yield from lost
    if lost:
        return
    yield from _outside(state)
    known = by_name(state.model)
    telling = sorted(merged(all_pairs), key=lambda one: _weight(one, known))
    yield from broken(state.model, ways, telling)
    yield from _again(state)
    yield from never_written(state.lifted, state.model)
    yield from unlaunched(state.model, every)
    yield from _ahead(state, every)


def _lost(state: State) -> Iterator[Broken]:
    """Yield what is computed at no place, or by no program."""
    yield from not_once(state.model, paths(state.kernels))
    yield from unlaunched(state.model, paths(state.kernels))


def ahead(state: State) -> Iterator[Broken]:
    """Yield what passes through memory in a kernel's loops whose loads are to run ahead."""
    yield from _ahead(state, paths(state.kernels))


def _ahead(state: State, ways: tuple[Path, ...]) -> Iterator[Broken]:
    for at, kernel in enumerate(state.kernels):
        if launch_of(kernel).runs_ahead:
            yield from run_ahead(state.model, {w.statement: w for w in ways if w.kernel == at})


def _again(state: State) -> Iterator[Broken]:
    """Yield what iterations of one program compute, each for itself.

    Where a directive says `recompute`, that is allowed, and not listed.
    """
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


def _weight(one: Dependence, known: Mapping[str, Statement]) -> tuple[bool, bool]:
    """Sort dependences so that those that say most come first: flow between Funcs."""
    roles = (known[one.source].role, known[one.target].role)
    return one.kind is not DependenceKind.FLOW, Role.COMBINE in roles


def _grid(state: State, kernel: str) -> frozenset[str]:
    return frozenset(axis.name for one in state.kernels if one.name == kernel for axis in one.grid)


def _outside(state: State) -> Iterator[Broken]:
    """Yield reads of a fused Func from where its private copies cannot be seen."""
    known = by_name(state.model)
    values = by_name(state.lifted)
    for fusion in state.fusions:
        for name in fusion.outside:
            pairs = read_pairs(values[fusion.func], known[name], state.model.context)
            if not pairs.is_empty():
                kind, func = DependenceKind.FLOW, fusion.func
                pair = Dependence(kind, func, func, name, pairs)
                yield Broken(pair, ViolationKind.LATE, pairs)


def _notes(state: State) -> Iterator[RepeatedWork]:
    """Yield a note for what several programs compute, each for itself."""
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
            yield RepeatedWork(fusion.func, fusion.kernel, blocks, not fusion.label)


def _block_size(state: State, axis: Axis) -> int:
    """Return how many indices of its label a block has; blocks of partial results are numbered."""
    part = state.model.parts.get(axis.index.plain or "")
    return part.size if part else axis.step or 1
