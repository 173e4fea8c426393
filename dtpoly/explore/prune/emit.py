"""Emits the kernels of a Program with a schedule, or says in a few words why there are none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dtpoly import __version__
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import size_rules, used_labels
from dtpoly.checking import understand
from dtpoly.codegen.header import header
from dtpoly.codegen.python_names import file_names
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity, has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.cost.cost import cost
from dtpoly.explore.devices.devices import find_device
from dtpoly.explore.prune.code_sharing import Shapes
from dtpoly.explore.store.results import EmittedText, FunctionCall, RefusedPoint
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frontend.parse import parse
from dtpoly.frozen import dataclass
from dtpoly.generate import Code
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import launch_of
from dtpoly.source import Source

# A function that predicts the milliseconds of a state.
Expect = Callable[[State], float]


@dataclass(frozen=True, slots=True)
class Emitted:
    """A text, or why there is none, and the time that a model predicts."""

    made: EmittedText | RefusedPoint
    expected: float | None = None
    # What the check of its order says, if it was made.
    is_legal: bool | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A schedule that is legal, and its code."""

    state: State
    code: Code


def emitted(
    name: str,
    text: str,
    expect: Expect | None = None,
    is_legal: bool | None = None,
    shapes: Shapes | None = None,
    primitives: Primitives = DIRECTIVES,
) -> Emitted:
    """Emit the kernels of a .dt text, if its schedule is legal for all sizes.

    `is_legal` may be known, since a class of schedules shares a verdict. Legal alternatives are not
    searched, because a space has other points.
    """
    found = prepared(name, text, is_legal, shapes, primitives)
    if isinstance(found, Emitted):
        return found
    made = EmittedText(found.code.text, _call(found.state, found.code))
    return Emitted(made, None if expect is None else expect(found.state), True)


def prepared(
    name: str,
    text: str,
    is_legal: bool | None = None,
    shapes: Shapes | None = None,
    primitives: Primitives = DIRECTIVES,
) -> Prepared | Emitted:
    """Return the code of a .dt text, or why there is none; `shapes` keeps results to share."""
    parsed, shared = parse(Source(name, text)), shapes or Shapes()
    with deep_recursion():
        checked = understand(parsed.file, parsed.found, primitives)
        if checked.program is None:
            return _refused(checked.diagnostics)
        chosen = bind(checked.program.directives, checked.primitives).primitives
        try:
            if is_legal is None:
                verdict = judge(checked.program, checked.primitives)
                if not verdict.is_legal:
                    first = verdict.violations[0]
                    return Emitted(RefusedPoint(f"illegal: {first.kind}", str(first)), None, False)
            state = shared.state(checked.program, chosen)
        except DtpolyError as error:
            return _refused(error.diagnostics)
        try:
            return Prepared(state, shared.code(state, chosen, header(__version__, name)))
        except DtpolyError as error:
            return replace(_refused(error.diagnostics), is_legal=True)


def expectation(model: Mapping[str, Any]) -> Expect:
    """Return a function that predicts times by the cost model of a known device."""
    device, dtype = find_device(model["device"]), DType(model["dtype"])

    def expect(state: State) -> float:
        return 1000 * cost(state, model["sizes"], dtype, device).seconds

    return expect


def _call(state: State, code: Code) -> FunctionCall:
    """Return how to call the function that is measured: that of the Func that is compiled last."""
    program, func = state.sized, code.stages.outputs[-1]
    names = file_names(program, code.stages.results, [one.name for one in code.stages.launches])
    used = used_labels(program)
    passed = [r.label for r in size_rules(program) if r.may_be_passed and r.label in used]
    is_rough = any(launch_of(kernel).precision == "tf32" for kernel in state.kernels)
    keywords = {names.labels[one]: one for one in passed}
    return FunctionCall(func, names.funcs[func], keywords, is_rough, code.stages.returned[func][1:])


def _refused(found: Sequence[Diagnostic]) -> Emitted:
    """Return the first error as the reason; further errors do not matter."""
    assert has_errors(found)
    first = next(one for one in found if one.severity is Severity.ERROR)
    notes = "; ".join(note.text for note in first.notes)
    return Emitted(RefusedPoint(first.code, f"{first.title}: {notes}" if notes else first.title))
