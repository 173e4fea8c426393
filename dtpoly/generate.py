"""Takes a schedule that was judged legal to the text of its file, and shows the stages on the way.

It is the only place that knows both the schedule and codegen: it translates one's kernels into
requests to the other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dtpoly.algorithm.inference import check_declared
from dtpoly.algorithm.mixing import MixingPart, mixing_part, summed_part
from dtpoly.algorithm.program import Directive, Program, in_order
from dtpoly.algorithm.show import show_directive
from dtpoly.budget import OverBudgetError, stage, within, within_default
from dtpoly.budget_messages import over
from dtpoly.codegen.building import Unsupported
from dtpoly.codegen.module import OPERATIONS, Generated, TilesAndLoops, generate, module_text
from dtpoly.codegen.motions import NotOnePassError
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity, has_errors
from dtpoly.directives.built_in import COMPILING, DIRECTIVES, with_names
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.facts import Fused
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.rewritten import check_rewritten, rewritten_by
from dtpoly.schedule.state import State
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.schedule.tree import Kernel, Node, launch_of, loops, paths_of_each

Test = Mapping[str, int] | None  # sizes of all labels, for a test function

# Of isl, for each directive that may be why there is no code; and how long that may take.
TRIED = 1_500_000
TRIED_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class FileSurroundings:
    """The parts of a file beside kernels and plans: first lines, a test, and the runtime's text."""

    header: str = ""
    test: Test = None
    carries_runtime: bool = True


@dataclass(frozen=True, slots=True)
class Code:
    """The generated file, and the stages that it came from."""

    stages: Generated
    text: str


def code_of(
    state: State,
    header: str = "",
    test: Test = None,
    wanted: Sequence[str] | None = None,
    known: TilesAndLoops | None = None,
    *,
    carries_runtime: bool = True,
) -> Code:
    """Write the Python file of a state that was judged legal; with sizes, also a test.

    The wanted Funcs get a function to call; without any, those that are compiled. A layout that is
    known is taken where it fits. A file that does not carry the runtime imports it from dtpoly.
    Raises DtpolyError where no code is generated for such a schedule.
    """
    beside = FileSurroundings(header, test, carries_runtime)
    names = _wanted(state, wanted)
    if found := check_declared(state.program):
        raise DtpolyError(found)
    try:
        with within_default(), stage("generating its code"):
            return _supported(state, names, beside, known)
    except OverBudgetError as error:
        raise DtpolyError([over(error)]) from error


def _supported(
    state: State, names: tuple[str, ...], beside: FileSurroundings, known: TilesAndLoops | None
) -> Code:
    try:
        return _code(state, names, beside, known=known)
    except NotOnePassError as error:
        raise DtpolyError([_not_one_pass(state, error)]) from error
    except Unsupported as error:
        raise DtpolyError([_unsupported(state, names, beside, str(error))]) from error


def _not_one_pass(state: State, error: NotOnePassError) -> Diagnostic:
    """Report that a reduction cannot share the loop of a Func that depends on it."""
    func, reader = error.func, error.reader
    asked = (one for kernel in state.kernels for one in kernel.options.asked)
    facts = (fact for one in asked if isinstance(one, Primitive) for fact in one.facts())
    spans = (
        fact.span
        for fact in facts
        if isinstance(fact, Fused) and (fact.func, fact.consumer) == (func, reader)
    )
    mixing = _mixing(state.program, error)
    way = error.why.way or (mixing.way if mixing else "")
    return Diagnostic(
        "DT307",
        Severity.ERROR,
        f"'{func}' cannot be computed in the loop of '{reader}' that depends on it",
        next(spans, None),
        "does not become one loop",
        (_why_not(mixing, error),),
        with_names(way or f"compute it before that loop: {func}.{{fuse}}(...) in place of this"),
    )


def _mixing(program: Program, error: NotOnePassError) -> MixingPart | None:
    """Return the part of the algorithm that the reason is about; None if it is not found there."""
    if not error.why.part:
        return None
    find = summed_part if error.why.is_of_mean else mixing_part
    return find(program, error.func, error.reader)


def _why_not(mixing: MixingPart | None, error: NotOnePassError) -> Note:
    """Say why two loops do not become one, at the part of the algorithm that the reason is about.

    If the part is not found there, the reason names it as the kernel has it.
    """
    if mixing is None or mixing.part.span is None:
        return Note(str(error))
    return Note(error.why.reason, mixing.part.span)


def stages_of(state: State, wanted: Sequence[str] | None = None) -> Generated:
    """Loops, storage and kernels of a state that was judged legal. Raises DtpolyError."""
    return code_of(state, wanted=wanted).stages


def _wanted(state: State, wanted: Sequence[str] | None) -> tuple[str, ...]:
    return outputs(state.program) if wanted is None else tuple(wanted)


def _code(
    state: State,
    wanted: tuple[str, ...],
    beside: FileSurroundings,
    operations: int = OPERATIONS,
    known: TilesAndLoops | None = None,
) -> Code:
    returned = results_of(state.program, wanted)
    for func, results in returned.items():
        _check_in_place(state.sized, func, results)
    made = generate(
        state.program, state.model, launches(state), wanted, operations, known, returned
    )
    for node, kernel in zip(state.kernels, made.kernels, strict=True):
        check_rewritten(node, kernel)
    text = module_text(
        state.sized,
        state.model,
        made,
        beside.header,
        beside.test,
        carries_runtime=beside.carries_runtime,
    )
    return Code(made, text)


def _check_in_place(program: Program, func: str, results: Sequence[str]) -> None:
    """Refuse a function that would write an input and not return it. Raises Unsupported."""
    for one in in_order(program, results) if program.into else ():
        if one.into is not None and one.name not in results:
            more = ", ".join((*results[1:], one.name))
            raise Unsupported(
                f"'{one.name}' goes into '{one.into.tensor}', so it must be returned: "
                f"write {func}.{COMPILING[0]}({more})"
            )


def _unsupported(
    state: State, wanted: tuple[str, ...], beside: FileSurroundings, reason: str
) -> Diagnostic:
    """Report that there is no code, and blame the last directive without which there would be."""
    program = state.sized  # as it is written: what is inlined or divided is another one
    tried = reversed(program.directives)
    culprit = next((d for d in tried if _helps(state, wanted, beside, d)), None)
    func = program.func(wanted[-1])
    return Diagnostic(
        "DT300",
        Severity.ERROR,
        f"no code can be generated for this schedule of '{func.name}'",
        func.span if culprit is None else culprit.span,
        "without it, there would be code" if culprit is not None else "the schedule is legal",
        (Note(reason),),
        "take another schedule" if culprit is None else "leave it out, or take other numbers there",
    )


def _helps(
    state: State, wanted: tuple[str, ...], beside: FileSurroundings, directive: Directive
) -> bool:
    """Return whether there is code without a directive."""
    left = tuple(d for d in state.sized.directives if d is not directive)
    bound, program = bind(left, DIRECTIVES), replace(state.sized, directives=left)
    # Those of users' primitives say nothing here.
    if bound.found or has_errors(check_schedule(program, DIRECTIVES)):
        return False
    try:
        with within(TRIED_SECONDS):
            without = resolve(program, bound.primitives)
            _code(without, wanted, beside, TRIED)
    except (DtpolyError, Unsupported, OverBudgetError):
        return False
    return True


def outputs(program: Program) -> tuple[str, ...]:
    """Return the Funcs that get a function: those that are compiled, else the last one."""
    named = tuple(dict.fromkeys(d.func for d in program.directives if d.name in COMPILING))
    return named or tuple(func.name for func in program.funcs[-1:])


def results_of(program: Program, wanted: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The results of each function that is wanted: the Func that it is named after, and others."""
    found: dict[str, tuple[str, ...]] = {func: (func,) for func in wanted}
    for directive in program.directives:
        if directive.name in COMPILING and directive.func in found:
            more = (str(one.target) for one in directive.arguments)
            found[directive.func] = (*dict.fromkeys((*found[directive.func], *more)),)
    return found


def launches(state: State) -> tuple[Launch, ...]:
    """Describe to codegen each kernel of a tree with its options."""
    ways, first = paths_of_each(state.kernels), frozenset(_first_of_panels(state))
    return tuple(
        replace(_launch(state, kernel), paths=own, is_first_of_panel=kernel.name in first)
        for kernel, own in zip(state.kernels, ways, strict=True)
    )


def _launch(state: State, kernel: Kernel) -> Launch:
    return replace(
        launch_of(kernel),
        func=state.program.owner(kernel.func),
        unrolled=dict(_unrolled(kernel.body)),
        comment=tuple(_comment(state, kernel)),
        passes=tuple(partial(rewritten_by, one) for one in kernel.options.asked),
    )


def _first_of_panels(state: State) -> Iterator[str]:
    """Yield the first kernel of each Func that is computed in panels."""
    for last in state.kernels:
        if launch_of(last).panel is not None:
            needed = {func.name for func in in_order(state.program, [last.func])}
            yield next(kernel.name for kernel in state.kernels if kernel.func in needed)


def _unrolled(body: Node) -> Iterator[tuple[str, int]]:
    for around in loops(body):
        if around[-1].unroll > 1:
            yield around[-1].axis.name, around[-1].unroll


def _comment(state: State, kernel: Kernel) -> Iterator[str]:
    """Yield the directives that made a kernel."""
    fused = {fusion.func for fusion in state.fusions if fusion.kernel == kernel.name}
    mine = {state.program.owner(func) for func in (kernel.func, *fused)}
    for directive in state.program.directives:
        if directive.func in mine:
            yield show_directive(directive)
