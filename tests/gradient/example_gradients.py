"""Derives the gradient of each example that has a result of floats, or says why there is none."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.equal_sizes import equal_sizes
from dtpoly.algorithm.expressions import Cast, Expr, map_children
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.label_sizes import size_rules, sizes_of, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.autoschedule.unscheduled_source import algorithm_of
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import outputs, results_of
from dtpoly.gradient.activity import active_names
from dtpoly.source import Source
from tests.gradient.comparing import Tensors, compare, derived, given, read

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
NAMES = tuple(
    sorted(str(path.relative_to(EXAMPLES).with_suffix("")) for path in EXAMPLES.rglob("*.dt"))
)
SMALL = (3, 2, 4, 5)
# Of examples in which sizes are divided by numbers, sizes that these divide.
DIVIDED = {
    "attentions/paged": {"b": 2, "h": 2, "n": 3, "k": 4, "l": 32},
    "attentions/paged_split": {"b": 2, "h": 2, "n": 3, "k": 4, "l": 32},
    "attentions/grouped_heads": {"b": 2, "h": 8, "m": 3, "n": 2, "k": 2, "l": 5},
    "attentions/blocks": {"h": 1, "i": 2, "m": 3, "n": 2, "k": 2, "l": 64},
}


@dataclass(frozen=True)
class Outcome:
    """The gradient of an example: its results and inputs, or the code that refuses it."""

    of: str
    by: tuple[str, ...]
    refused: str = ""


def example(name: str) -> Program:
    """Return the algorithm of an example, in 64 bits wherever it has floats."""
    source = Source(f"{name}.dt", (EXAMPLES / f"{name}.dt").read_text())
    return in_doubles(algorithm_of(source, DIRECTIVES).program)


def in_doubles(program: Program) -> Program:
    """Return an algorithm whose floats have no dtypes, so that it is computed in 64 bits."""

    def wider(expr: Expr) -> Expr:
        made = map_children(expr, wider)
        if isinstance(made, Cast) and is_float(made.dtype):
            return replace(made, dtype=DType.F64)
        return made

    def free(dtype: DType | None) -> DType | None:
        return None if dtype is not None and is_float(dtype) else dtype

    return replace(
        program,
        inputs=tuple(replace(one, dtype=free(one.dtype)) for one in program.inputs),
        funcs=tuple(
            replace(one, dtype=free(one.dtype), body=wider(one.body)) for one in program.funcs
        ),
    )


def choices(program: Program) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the results of floats of each function, with the inputs that they depend on."""
    types = types_of(program)

    def may_be(name: str) -> bool:
        dtype = types[name].dtype
        return dtype is None or is_float(dtype)

    for results in results_of(program, outputs(program)).values():
        of = tuple(one for one in results if may_be(one))
        by = tuple(
            one.name
            for one in program.inputs
            if may_be(one.name) and not active_names(program, (one.name,)).isdisjoint(of)
        )
        if of and by:
            yield ", ".join(of), by


def made_up(name: str, program: Program) -> tuple[Tensors, dict[str, int]]:
    """Return inputs of an example, and its sizes: small ones that fit each other."""
    used = used_labels(program)
    leaders, fixed = equal_sizes(program), program.fixed
    first = [label for label in dict.fromkeys(leaders.values()) if label not in fixed]
    sizes = {label: SMALL[at % len(SMALL)] for at, label in enumerate(first)}
    wanted = {
        label.name: fixed.get(label.name, sizes.get(leaders[label.name], 3))
        for label in program.labels
        if label.name in used
    }
    inputs = given(program, DIVIDED.get(name, wanted))
    shapes = {one.name: tuple(inputs[one.name].shape) for one in program.tensors}
    passed = {rule.label for rule in size_rules(program) if rule.may_be_passed}
    known = {**wanted, **DIVIDED.get(name, {})}
    known = {label: size for label, size in known.items() if label in passed}
    return inputs, sizes_of(program, shapes, known)


def outcomes(name: str) -> Iterator[Outcome]:
    """Derive the gradient of each function of an example, and compare it with torch's."""
    program = example(name)
    for of, by in choices(program):
        text = read(show(replace(program, directives=())))
        try:
            one = derived(text, of, ",".join(by))
        except DtpolyError as error:
            yield Outcome(of, by, error.diagnostics[0].code)
            continue
        inputs, sizes = made_up(name, text)
        compare(text, one, inputs, sizes)
        yield Outcome(of, by)
