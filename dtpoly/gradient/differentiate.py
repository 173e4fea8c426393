"""Derives the gradient of Funcs of a Program by inputs, as a Program with its reasons."""

from collections.abc import Collection
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Affine,
    Dot,
    Expr,
    Float,
    ProgramId,
    Read,
    Reduce,
    ScalarRead,
    free_labels,
    walk,
)
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.label_sizes import used_labels
from dtpoly.algorithm.program import (
    Argument,
    Directive,
    Func,
    Label,
    Program,
    Scalar,
    Tensor,
    in_order,
    touched,
)
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.directives.built_in import COMPILING, INLINING
from dtpoly.frozen import dataclass
from dtpoly.gradient.activity import active_names
from dtpoly.gradient.backward import given_by
from dtpoly.gradient.cancelling import vanishing
from dtpoly.gradient.derivation import Derivation
from dtpoly.gradient.derived_nodes import ZERO, read_at
from dtpoly.gradient.draws import Draws
from dtpoly.gradient.inverses import with_inverses
from dtpoly.gradient.kept_sizes import check_sizes_kept
from dtpoly.gradient.lining_up import laid_out, turned_func
from dtpoly.gradient.messages import no_dependence, no_float, no_rule
from dtpoly.gradient.naming import FreeNames
from dtpoly.gradient.normal_form import in_normal_form
from dtpoly.gradient.places import (
    check_still_there,
    given_at_place,
    given_to_what_is_there,
    out_of_place,
)
from dtpoly.gradient.targets import scatter, scattered, total_of
from dtpoly.gradient.tidy import needed, tidied, with_known
from dtpoly.gradient.unranged import without_ranges


@dataclass(frozen=True, slots=True)
class Gradient:
    """A Program that computes gradients, and what there is to say of it.

    `given` has the inputs that are the gradients of the results, `results` the Funcs that are the
    gradients of the inputs, both by what they are the gradient of. `said` has a sentence for each
    derived Func, and `rules` the sentences of the rules that were used.
    """

    program: Program
    given: dict[str, str]
    results: dict[str, str]
    said: dict[str, str]
    rules: tuple[str, ...]
    saved: tuple[str, ...] = ()


def differentiated(
    program: Program, of: tuple[str, ...], by: tuple[str, ...], saved: tuple[str, ...] = ()
) -> Gradient:
    """Return the gradient of some Funcs by some inputs.

    Funcs that are `saved` are inputs of it; all others that it needs are computed again. Raises
    DtpolyError if one of them has none, or if no rule is known for a part on the way.
    """
    _check_names(program, of, by)
    program = without_ranges(_needed_of(program, of))
    writers = {one.into.tensor: one for one in program.funcs if one.into is not None}
    program = out_of_place(program)
    names = FreeNames(program)
    given = {one: names.new(f"d_{one}") for one in of}
    active = active_names(program, by)
    _check_dependence(program, of, by, active)
    normal = in_normal_form(program, active, names)
    still = vanishing(normal, of)
    active = active_names(normal, by)
    derivation = Derivation(normal, active - still, names)
    derivation.gift_labels |= {
        new: func.labels
        for one, new in given.items()
        if (func := normal.func(one)).into is None or func.into.at is None
    }
    for one in sorted(still & active):
        derivation.rule(
            f"{one} cancels in the end: if it moves, no result does, so it gives nothing"
        )
    results = _derived(derivation, given, by)
    gradient = _gathered(program, derivation, given, results, saved)
    check_still_there(gradient.program, writers)
    return gradient


def _needed_of(program: Program, of: tuple[str, ...]) -> Program:
    starts = {added: start for start, added in program.starts.items()}
    wanted = (*of, *(starts[one] for one in of if one in starts))
    return replace(program, funcs=in_order(program, wanted), directives=())


def _check_names(program: Program, of: tuple[str, ...], by: tuple[str, ...]) -> None:
    """Refuse results and inputs that are no floats."""
    types = types_of(program)
    spans = {one.name: one.span for one in (*program.inputs, *program.funcs)}
    wrong = [
        no_float(name, str(dtype), spans[name], is_result=name in of)
        for name in (*of, *by)
        if (dtype := types[name].dtype) is not None and not is_float(dtype)
    ]
    if wrong:
        raise DtpolyError(wrong)


def _check_dependence(
    program: Program, of: tuple[str, ...], by: tuple[str, ...], active: Collection[str]
) -> None:
    """Refuse inputs that reach no result by a derivative, and what no gradient is known of."""
    wrong: list[Diagnostic] = []
    for name in by:
        if not active_names(program, (name,)).isdisjoint(of):
            continue
        one = next(one for one in program.inputs if one.name == name)
        reader = next((func for func in program.funcs if _reads(func, name)), None)
        wrong.append(no_dependence(program.func(of[0]), one, reader))
    for func in program.funcs:
        for node in walk(func.body):
            if isinstance(node, ProgramId):
                way = "differentiate an algorithm that does not depend on its schedule"
                wrong.append(no_rule("'program_id'", node.span, "depends on the schedule", way))
    if wrong:
        raise DtpolyError(wrong)


def _reads(func: Func, name: str) -> bool:
    is_read = any(one.tensor == name for one in touched(func))
    scalars = (node for node in walk(func.body) if isinstance(node, ScalarRead))
    return is_read or any(one.name == name for one in scalars)


def _derived(derivation: Derivation, given: dict[str, str], by: tuple[str, ...]) -> dict[str, str]:
    """Derive the Funcs of a gradient; return those that are its results."""
    for one, gradient in given.items():
        derivation.take(given_to_what_is_there(derivation.program.func(one), gradient, derivation))
    for func in reversed(in_order(derivation.program)):
        if func.name not in derivation.active:
            continue
        gifts = derivation.gifts.get(func.name, [])
        name, start = given.get(func.name), _given(func, given)
        if gifts or name is None:
            if not gifts:
                continue  # no result depends on it
            total = total_of(gifts, func.labels, derivation, start)
            givers = ", ".join(dict.fromkeys(one.giver for one in gifts))
            wanted = f"d_{func.name}" if name is None else f"{name}_all"
            said = f"what {func.name} is given by {givers}"
            name = derivation.func(wanted, func.labels, total, said)
            start = read_at(name, func.labels)
        derivation.take(given_by(func, start, derivation))
    return {one: _result(one, derivation) for one in by}


def _given(func: Func, given: dict[str, str]) -> Expr:
    if func.name not in given:
        return ZERO
    if func.into is not None and func.into.at is not None:
        return given_at_place(func.into.at, given[func.name])
    return read_at(given[func.name], func.labels)


def _result(one: str, derivation: Derivation) -> str:
    """Derive the gradient by an input; return the name of its Func."""
    gifts = derivation.gifts.get(one, [])
    is_number = any(scalar.name == one for scalar in derivation.program.scalars)
    labels = () if is_number else derivation.labels_of(one)
    givers = ", ".join(dict.fromkeys(gift.giver for gift in gifts))
    said = f"the gradient by {one}, which {givers} read{'s' if ',' not in givers else ''}"
    moved = scattered(gifts, derivation.program)
    if moved is None:
        return derivation.func(f"d_{one}", labels, total_of(gifts, labels, derivation), said)
    others = [gift for gift in gifts if gift is not moved]
    body = total_of(others, labels, derivation)
    start = derivation.func(
        f"d_{one}_start", labels, body, f"what the gradient by {one} begins with"
    )
    return scatter(moved, start, f"d_{one}", derivation)


def _gathered(
    forward: Program,
    derivation: Derivation,
    given: dict[str, str],
    results: dict[str, str],
    saved: tuple[str, ...],
) -> Gradient:
    """Return the Program of all that the results need, laid out as the language wants it."""
    wanted = tuple(results.values())
    # What goes to places has no elements that could be read.
    readable = (one for one in derivation.program.funcs if one.into is None)
    known = {(one.labels, one.body): one.name for one in readable}
    tidy = with_known(tidied(derivation, derivation.kept | set(wanted)), known)
    made = _typed(tidy, derivation, results)
    every = {one.name: one for one in (*derivation.program.funcs, *made) if one.name not in saved}
    kept = needed(every, wanted)
    funcs: list[Func] = []
    said = dict(derivation.said)
    directives: list[Directive] = []

    def turn(read: Read, labels: tuple[str, ...]) -> Expr:
        key = (read.tensor, read.indices, labels)
        if key not in turns:
            name = derivation.names.new(f"{read.tensor}_turned")
            func, turns[key] = turned_func(read, labels, name)
            funcs.append(func)
            said[name] = f"{read.tensor}, with its labels in another order"
            directives.append(Directive(name, INLINING))
        return turns[key]

    turns: dict[tuple[str, tuple[Affine, ...], tuple[str, ...]], Read] = {}
    draws = Draws(derivation.names)
    for one in every.values():
        if one.name in kept:
            apart = draws.apart(one) if one.name in said else one
            funcs += [*draws.new(), laid_out(apart, turn)]
    said |= draws.said
    directives += [Directive(name, INLINING) for name in draws.said]
    first, *others = wanted
    more = tuple(Argument(one) for one in others)
    directives.append(Directive(first, COMPILING[0], more))
    program = Program((), (), tuple(funcs), tuple(directives))
    inputs = _inputs(forward, (*given.items(), *((one, one) for one in saved)), program)
    program = replace(program, inputs=inputs)
    program = replace(program, labels=_labels(forward, derivation, program))
    check_sizes_kept(derivation.program, program)
    program = with_inverses(program, said)
    names = {func.name for func in program.funcs}
    return Gradient(
        program,
        given,
        results,
        {name: text for name, text in said.items() if name in names},
        tuple(derivation.rules),
        tuple(one.name for one in inputs if one.name in saved),
    )


def _typed(funcs: list[Func], derivation: Derivation, results: dict[str, str]) -> list[Func]:
    """Return Funcs of which those that are gradients of inputs have the dtypes of these."""
    dtypes: dict[str, DType | None] = {
        results[one.name]: one.dtype for one in derivation.program.inputs if one.name in results
    }
    starts = {one.into.tensor: one.name for one in funcs if one.into is not None}
    typed = [replace(one, dtype=dtypes.get(starts.get(one.name, one.name))) for one in funcs]
    # A gradient that is 0 everywhere is a float all the same.
    return [
        replace(one, body=Float(0.0))
        if one.name in results.values() and one.dtype is None and one.body == ZERO
        else one
        for one in typed
    ]


def _inputs(
    forward: Program, more: tuple[tuple[str, str], ...], program: Program
) -> tuple[Tensor | Scalar, ...]:
    read = {one.tensor for func in program.funcs for one in touched(func)}
    numbers = {
        node.name
        for func in program.funcs
        for top in (
            func.body,
            *(() if func.into is None or func.into.at is None else [func.into.at]),
        )
        for node in walk(top)
        if isinstance(node, ScalarRead)
    }
    kept = tuple(one for one in forward.inputs if one.name in read | numbers)
    dtypes = {func.name: func.dtype for func in forward.funcs}
    return (*kept, *(Tensor(new, dtypes[one]) for one, new in more if new in read))


def _labels(forward: Program, derivation: Derivation, program: Program) -> tuple[Label, ...]:
    reduced = {
        label
        for func in program.funcs
        for node in walk(func.body)
        if isinstance(node, Reduce | Dot)
        for label in node.labels
    }
    used = used_labels(program)
    used |= {label for func in program.funcs for one in touched(func) for label in free_labels(one)}
    old = [(label.name, label.size) for label in forward.labels]
    return tuple(
        Label(name, name in reduced, size)
        for name, size in (*old, *derivation.sizes.items())
        if name in used
    )
