"""Offers operators that train to Python: `dtpoly.differentiable("rms_norm.dt")`."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Dot, Reduce, walk
from dtpoly.algorithm.show import show
from dtpoly.api import Plugins, Scheduled, load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import COMPILING
from dtpoly.generate import outputs, results_of
from dtpoly.gradient.chosen import of_floats
from dtpoly.gradient.messages import no_float
from dtpoly.python_errors import error_of
from dtpoly.suggest import did_you_mean
from dtpoly.training.content import NAME, Content
from dtpoly.training.eager_calls import call
from dtpoly.training.element_types import with_types
from dtpoly.training.gradient_schedules import compiling, depended_on, depending, like
from dtpoly.training.operator_messages import (
    no_name,
    no_such,
    none_of,
    result_in_place,
    which_func,
    wrong_call,
)
from dtpoly.training.operator_module import OperatorModule
from dtpoly.training.torch_operators import operator_of

Names = str | Iterable[str]
Source = str | os.PathLike[str] | Scheduled
# What is cast under autocast: inputs to the lower type, results to 32 bits, both, or nothing.
LOW, FULL, LOW_TO_FULL, KEEP = "low", "float32", "low to float32", "keep"
CASTS = (LOW, FULL, LOW_TO_FULL, KEEP)
NAMESPACE = "dtpoly"
is_any_autocast: Callable[[], bool] = vars(import_module("torch._C"))["_is_any_autocast_enabled"]


def differentiable(
    source: Source,
    *,
    of: str | None = None,
    by: Names | None = None,
    save: Names = (),
    backward: str | os.PathLike[str] | Scheduled | Iterable[str | Path | Scheduled] = (),
    name: str | None = None,
    autocast: str | None = None,
    visible: bool = False,
    plugins: Plugins = (),
) -> "Differentiable":
    """Return an operator of torch that computes a Func and has a gradient. Raises DtpolyError.

    The file is scheduled as `load` wants it; without a schedule, one is chosen for the sizes of the
    first call. `of` is the Func, where several are compiled. `by` names the inputs that may require
    a gradient: else all tensors and numbers of floats. Funcs that `save` names are kept for the
    gradient, which computes all others again. `backward` has files that compute gradients, as
    `dtpoly differentiate` writes them: d_X is the gradient by X, and Funcs that they read are kept.
    Others are derived. The operator is called dtpoly::NAME_NUMBER, with a number of all that it
    computes by; `name` may have a namespace. What is cast under autocast, `autocast` says: "low",
    "float32", "low to float32" or "keep". With `visible`, torch.compile sees the kernels of the
    operator and of its gradients, and not one box each.
    """
    first = _loaded(source, plugins)
    func = _func(first, of)
    files = (backward,) if isinstance(backward, str | os.PathLike | Scheduled) else (*backward,)
    others = tuple(_loaded(one, plugins) for one in files)
    kept = (*_names(save), *_read_of(first, others))
    for one in kept:
        if first.program.find_func(one) is None:
            funcs = [known.name for known in first.program.funcs]
            raise no_such("Func to save called", one, funcs)
    shown = results_of(first.program, (func,))[func]
    results = (*dict.fromkeys((*shown, *kept)),)
    _check_new(first, results)
    schedule = _with_results(first, func, results)
    inputs = _inputs(schedule, results, by)
    saved = (*dict.fromkeys((*shown[1:], *kept)),)
    content = Content(schedule, func, results, inputs, others, _front(name or func), saved)
    content = replace(content, shown=len(shown), is_visible=visible)
    return Differentiable(content, autocast or _autocast_of(schedule))


class Differentiable:
    """An operator of torch that trains: it is called like the schedule that it was made of.

    It has no state, and may be a part of modules that are copied, pickled and saved.
    """

    def __init__(self, content: Content, autocast: str) -> None:
        """Register the operator of a content, and cast as is said under autocast."""
        if autocast not in CASTS:
            raise none_of("autocast", autocast, CASTS)
        self._content, self._shown, self._autocast = content, content.shown, autocast
        self._operator = operator_of(content)
        self._calls = self._operator.calls
        self._narrow: Differentiable | None = None
        if autocast in (FULL, LOW_TO_FULL):
            self._narrow = Differentiable(_with_full_results(content), KEEP)
        self._words, self._sizes = content.words, tuple(content.labels.values())
        self._count, self._numbers = len(content.results), content.numbers

    @property
    def name(self) -> str:
        """Return the operator's name in torch, as in torch.ops."""
        return self._content.name

    @property
    def op(self) -> Any:
        """Return the operator itself, as exported graphs call it; nothing is cast for it."""
        return self._calls[0]

    @property
    def schedule(self) -> Scheduled:
        """Return the schedule of the kernels."""
        return self._content.schedule

    def gradient(self, *by: str) -> Scheduled:
        """Return what computes the gradients by some inputs; without names, by all of them."""
        program, results = self.schedule.program, self._content.results[: self._shown]
        wanted = by or depended_on(program, results, self._content.by)
        return self._operator.backward(depending(program, results, wanted), wanted).schedule

    def module(self, **own: Any) -> OperatorModule:
        """Return a module that calls the operator with own parameters, named as inputs are.

        Tensors of floats become parameters, other tensors buffers, and numbers stay as they are.
        """
        return OperatorModule(self, self._words, own)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Return the results; inputs come in the order declared or by name, as do sizes."""
        is_plain = not named and not self._sizes and len(inputs) == len(self._words)
        given = [*inputs] if is_plain else self._bound(inputs, named)
        if self._autocast == KEEP or not (is_any_autocast() and self._is_autocast(given)):
            return self.call_bound(given)
        if self._autocast != FULL:
            given = self._cast(given)
        return (self if self._narrow is None else self._narrow).call_bound(given)

    def call_bound(self, given: list[Any]) -> Any:
        """Return the results of all inputs and sizes, in the order of the operator."""
        numbers = self._numbers
        is_in_tensors = False
        if numbers and any([isinstance(given[at], torch.Tensor) for at in numbers]):
            is_in_tensors, given = True, self._in_tensors(given)
        found: Any = call(self._operator, is_in_tensors, given)
        if self._count == 1:
            return found
        first, *others = found
        return (first, *others[: self._shown - 1]) if self._shown > 1 else first

    def _bound(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """Put arguments in the order of the operator. Raises DtpolyError for wrong ones."""
        words = self._words
        if len(inputs) > len(words):
            said = f"takes {len(words)} inputs, but {len(inputs)} were given"
            raise self._wrong(said, "leave out those behind the last one; sizes are passed by name")
        given = [*inputs]
        for at in range(len(inputs), len(words)):
            if words[at] not in named:
                said = f"is missing the input '{words[at]}'"
                raise self._wrong(said, f"pass it in its place, or as {words[at]}=")
            given.append(named[words[at]])
        given.extend([named.get(word) for word in self._sizes])
        taken = (*words[len(inputs) :], *self._sizes)
        for one in named:
            if one not in taken:
                is_twice = one in words
                said = f"was given '{one}', which {'is given twice' if is_twice else 'is unknown'}"
                meant = did_you_mean(one, (*words, *self._sizes)).removeprefix("; ")
                raise self._wrong(said, "pass it once" if is_twice else meant or "leave it out")
        return given

    def _wrong(self, said: str, way: str) -> DtpolyError:
        """Return the error of a call with other arguments than it takes."""
        sizes = [f"{one}=None" for one in self._sizes]
        return wrong_call(self.name, (*self._words, *sizes), said, way)

    def _is_autocast(self, given: list[Any]) -> bool:
        """Return whether torch.autocast is on where the first tensor is."""
        device = next((one.device.type for one in given if isinstance(one, torch.Tensor)), "cpu")
        return torch.is_autocast_enabled(device)

    def _cast(self, given: list[Any]) -> list[Any]:
        """Cast floats to the type of torch.autocast; f64 stays, as in torch's own operators."""
        device = next((one.device.type for one in given if isinstance(one, torch.Tensor)), "cpu")
        wanted = torch.get_autocast_dtype(device)
        return [one.to(wanted) if _is_cast(one) else one for one in given]

    def _in_tensors(self, given: list[Any]) -> list[Any]:
        """Put numbers into tensors, since another one is there already."""
        made = [*given]
        for at in self._numbers:
            if not isinstance(made[at], torch.Tensor):
                dtype = torch.float64 if isinstance(made[at], float) else None
                made[at] = torch.tensor(made[at], dtype=dtype)
        return made

    def __repr__(self) -> str:
        words = (*self._words, *(f"{one}=None" for one in self._sizes))
        return f"<Differentiable {self.name}({', '.join(words)})>"

    def __copy__(self) -> "Differentiable":
        return self

    def __deepcopy__(self, _: object) -> "Differentiable":
        return self

    def __reduce__(self) -> tuple[Callable[..., "Differentiable"], tuple[object, ...]]:
        """Pickle what it was made of; the operator has the same name where it is loaded."""
        return _made_again, (self._content.parts, self._autocast)


def _is_cast(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return False
    return value.dtype != torch.float64


def _with_full_results(content: Content) -> Content:
    """Return the same operator with results of 32 bits, whatever its inputs are.

    That is what torch computes where it casts the inputs to 32 bits first, and needs no memory for
    these.
    """
    own = dict.fromkeys(content.results[: content.shown], DType.F32)
    program = with_types(content.schedule.program, {}, own)
    schedule = like(content.schedule, show(program), content.schedule.name)
    return replace(content, schedule=schedule, front=f"{content.front}_float32")


def _made_again(parts: tuple[Any, ...], autocast: str) -> Differentiable:
    return Differentiable(Content(*parts), autocast)


def _loaded(source: Source, plugins: Plugins) -> Scheduled:
    return source if isinstance(source, Scheduled) else load(os.fspath(source), plugins)


def _func(schedule: Scheduled, of: str | None) -> str:
    """Return the Func that a call computes. Raises DtpolyError where several could be meant."""
    compiled = outputs(schedule.program)
    wanted = of or schedule.focus
    if wanted is None:
        first, *others = compiled
        if others:
            raise which_func(schedule.name, compiled)
        return first
    if wanted not in compiled:
        raise no_such("compiled Func", wanted, compiled)
    return wanted


def _names(names: Names) -> tuple[str, ...]:
    parts = names.split(",") if isinstance(names, str) else names
    return tuple(dict.fromkeys(one.strip() for one in parts if one.strip()))


def _read_of(schedule: Scheduled, backward: tuple[Scheduled, ...]) -> tuple[str, ...]:
    """Return the Funcs that gradients read."""
    read = (one.name for other in backward for one in other.program.inputs)
    return tuple(one for one in read if schedule.program.find_func(one) is not None)


def _check_new(schedule: Scheduled, results: tuple[str, ...]) -> None:
    """Refuse results that are written into inputs: torch keeps these for gradients."""
    for tensor, func in schedule.program.into.items():
        if func in results:
            raise result_in_place(func, tensor)


def _with_results(schedule: Scheduled, func: str, results: tuple[str, ...]) -> Scheduled:
    """Return a schedule that compiles one Func, with these results."""
    given = [one for one in schedule.program.directives if one.name in COMPILING]
    made = schedule
    for one in dict.fromkeys(f"{one.func}.{one.name}" for one in given):
        made = made.without(one)
    return made.schedule(compiling(func, results))


def _inputs(schedule: Scheduled, results: tuple[str, ...], by: Names | None) -> tuple[str, ...]:
    """Return the inputs that may require a gradient. Raises DtpolyError for what is none."""
    program = schedule.program
    every = {one.name: one for one in program.inputs}
    floats = of_floats(program, every)
    if by is None:
        return floats
    for one in (names := _names(by)):
        if one not in every:
            raise no_such("input", one, every)
        if one not in floats:
            raise error_of([no_float(one, str(every[one].dtype), None, is_result=False)])
    return names


def _front(name: str) -> str:
    front = name if "::" in name else f"{NAMESPACE}::{name}"
    if not NAME.fullmatch(front):
        raise no_name(name)
    return front


def _autocast_of(schedule: Scheduled) -> str:
    """Return what torch does under autocast with operators that compute alike.

    It multiplies matrices in the lower type, sums up in 32 bits (softmax, norms, losses), and
    leaves what is computed element by element as it is.
    """
    nodes = [node for func in schedule.program.funcs for node in walk(func.body)]
    if any(isinstance(one, Dot) for one in nodes):
        return LOW
    return FULL if any(isinstance(one, Reduce) for one in nodes) else KEEP
