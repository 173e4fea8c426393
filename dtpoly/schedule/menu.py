"""Finds directives that could come next on a Func, and says of each whether it is legal.

What is tried comes from the parameters that a primitive declares, a user's own as well: a few
sizes, every label of the kernel, orders of few loops, every Func that reads.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import islice, permutations
from typing import Any

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_directive
from dtpoly.diagnostics import DtpolyError, Severity
from dtpoly.frozen import dataclass
from dtpoly.poly.dependences import dependences
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.argument_kinds import FuncName, IntegerKind, Kind, OneOf, TensorName, Word
from dtpoly.schedule.argument_values import Divided, Name, Sized
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.directive_variants import with_directive
from dtpoly.schedule.kernels import View, reached
from dtpoly.schedule.labels import DividedLabel, LabelKind, SizedLabel
from dtpoly.schedule.legality import found
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage
from dtpoly.schedule.settings import settings
from dtpoly.schedule.state import State
from dtpoly.schedule.static_checks import check_schedule, view_of
from dtpoly.schedule.tree import launch_of, paths

SIZES = (16, 64)
FACTOR = 4
MOST_ORDERS = 12  # of loops, of one primitive


@dataclass(frozen=True, slots=True)
class Option:
    """A directive that could come next: legal, or refused for a reason in a few words.

    A legal one may change nothing. `state` is the state that comes of a legal one.
    """

    directive: str
    reason: str
    changes: bool
    state: State | None = field(default=None, compare=False, repr=False)

    @property
    def is_legal(self) -> bool:
        """True if it is legal for all sizes."""
        return not self.reason


def menu(program: Program, func: str, primitives: Primitives) -> Iterator[Option]:
    """Try what could be said next of a Func: of its own kernel, of fusing it, of fusing into it.

    What the Program says already is left out. The Func is one of the Program, which is legal.
    """
    bound = bind(program.directives, primitives)
    view = view_of(program, bound)
    base = resolve(program, bound.primitives)
    said = {setting.key for one in bound.primitives for setting in settings(one)}
    legal: set[Primitive] = set()
    for candidate in _candidates(func, view, primitives):
        if said.isdisjoint(setting.key for setting in settings(candidate)):
            plain = _without_words(candidate)
            if plain != candidate and plain in legal:
                continue  # a word such as `recompute` is for what is refused without it
            option = _tried(program, candidate, base, primitives)
            if option.is_legal:
                legal.add(candidate)
            yield option


def hosts(program: Program, func: str, primitives: Primitives) -> tuple[str, ...]:
    """Return the Funcs in whose kernels a Func is computed, if it has no kernel of its own."""
    view = view_of(program, bind(program.directives, primitives))
    return () if func in view.kernels else view.placement.hosts[func]


def _without_words(candidate: Primitive) -> Primitive:
    words = [p.name for p in candidate.parameters if p.count is Count.IF_GIVEN]
    left: dict[str, Any] = dict.fromkeys(words, False)
    return replace(candidate, **left)


def _tried(program: Program, candidate: Primitive, base: State, primitives: Primitives) -> Option:
    directive = candidate.directive()
    text = show_directive(directive)
    changed = with_directive(program, directive)
    for diagnostic in check_schedule(changed, primitives):
        if diagnostic.severity is Severity.ERROR:
            return Option(text, diagnostic.title, changes=False)
    try:
        state = resolve(changed, bind(changed.directives, primitives).primitives)
    except DtpolyError as error:  # of a user's primitive
        return Option(text, error.diagnostics[0].title, changes=False)
    is_other = _carried_out(state) != _carried_out(base)
    if _order(state) == _order(base):
        return Option(text, "", is_other, state)
    wrong = next(found(state, dependences(state.model)), None)
    if wrong is not None:
        return Option(text, str(wrong.kind), is_other)
    return Option(text, "", is_other, state)


def _carried_out(state: State) -> tuple[object, ...]:
    """Collect all that code would come from, without what kernels only remember."""
    kernels = tuple((k.name, k.grid, k.body, k.options) for k in state.kernels)
    return (state.program.funcs, kernels, state.fusions)


def _order(state: State) -> tuple[object, ...]:
    """Collect all that legality comes from."""
    is_ahead = tuple(launch_of(kernel).runs_ahead for kernel in state.kernels)
    return (state.program.funcs, paths(state.kernels), state.fusions, is_ahead)


def _candidates(func: str, view: View, primitives: Primitives) -> Iterator[Primitive]:
    for cls in primitives:
        if not _is_offered(cls):
            continue
        if func in view.kernels or not cls.needs_kernel:
            yield from _filled(cls, func, view)
        if any(isinstance(parameter.kind, FuncName) for parameter in cls.parameters):
            for producer in view.below[func]:
                yield from _filled(cls, producer, view, func)


def _is_offered(cls: type[Primitive]) -> bool:
    """Return whether a primitive is offered.

    All are, except that a Func is compiled: that is no choice.
    """
    return cls.stage < Stage.COMPILE


def _filled(
    cls: type[Primitive], func: str, view: View, consumer: str | None = None
) -> Iterator[Primitive]:
    """Yield the primitive with each choice of arguments; with one consumer if that is given."""
    for fields in _choices(cls.parameters, {}, func, view, consumer):
        yield cls(func=func, **fields)


def _choices(
    parameters: tuple[Parameter, ...],
    fields: dict[str, Any],
    func: str,
    view: View,
    consumer: str | None,
) -> Iterator[dict[str, Any]]:
    if not parameters:
        yield fields
        return
    first, *others = parameters
    for value in _fields(first, func, view, consumer):
        reader = value.text if isinstance(first.kind, FuncName) else consumer
        yield from _choices(tuple(others), {**fields, first.name: value}, func, view, reader)


def _fields(parameter: Parameter, func: str, view: View, consumer: str | None) -> Iterable[Any]:
    """Values of a field; the labels are those of the consumer if there is one."""
    if parameter.count is Count.IF_GIVEN:
        return (False, True)
    labels = _labels(parameter, func, view, consumer)
    values = tuple(_values(parameter.kind, labels, func, view, consumer))
    match parameter.count:
        case Count.ONCE:
            return values
        case Count.EACH:
            return ((value,) for value in values)
        case Count.MAYBE:
            return (None, *values)
        case Count.LIST:
            length = parameter.least if parameter.least > 1 else len(values)
            return islice(permutations(values, length), MOST_ORDERS) if values else ()


def _labels(parameter: Parameter, func: str, view: View, consumer: str | None) -> tuple[str, ...]:
    if consumer is not None:
        return view.loops(consumer)
    if func not in view.kernels:
        return ()
    kind = parameter.kind.kinds[0] if isinstance(parameter.kind, OneOf) else parameter.kind
    if isinstance(kind, LabelKind) and kind.anywhere:
        return tuple(view.blocked.get(func, ()))  # an order of blocks
    return tuple(view.kernels[func].labels)


def _values(
    kind: Kind, labels: tuple[str, ...], func: str, view: View, consumer: str | None
) -> Iterator[object]:
    """Yield some values of a kind; none if a user made the kind."""
    match kind:
        case LabelKind():
            yield from map(Name, labels)
        case SizedLabel(number=number, noun=noun):
            sizes = (0, *SIZES) if number.least == 0 else (FACTOR,) if noun == "factor" else SIZES
            yield from (Sized(label, size) for label in labels for size in sizes)
        case DividedLabel():
            yield from (Divided(label, _fresh(label, view), FACTOR) for label in labels)
        case FuncName():
            readers = view.placement.readers[func] if consumer is None else (consumer,)
            more = _other_results(func, view) if consumer is None else ()
            yield from map(Name, dict.fromkeys((*readers, *more)))
        case TensorName():
            yield from (Name(tensor.name) for tensor in view.program.tensors)
        case Word(words=words):
            yield from words
        case IntegerKind() if isinstance(kind.accept(FACTOR), int):
            yield FACTOR
        case OneOf(kinds=kinds):
            yield from _values(kinds[0], labels, func, view, consumer)
        case _:
            return


def _other_results(func: str, view: View) -> Iterator[str]:
    """Yield the Funcs whose kernels may store a result that they do not read, and it not them.

    They are results of the same function.
    """
    of = {name: one.function for name, one in view.returned.items()}
    of |= {name: name for name in view.compiled}
    for other in of:
        is_apart = func not in reached(other, view.below) and other not in reached(func, view.below)
        if other != func and of[other] == of.get(func) and other in view.kernels and is_apart:
            yield other


def _fresh(label: str, view: View) -> str:
    """Return a name for what comes of a label."""
    taken = {name for names in view.names.values() for name in names} | set(view.funcs)
    taken |= {thing.name for thing in (*view.program.labels, *view.program.inputs)}
    return next(name for n in range(len(taken) + 2) if (name := f"{label}i{n or ''}") not in taken)
