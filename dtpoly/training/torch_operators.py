"""Registers operators of torch whose gradients are operators of the same kind.

This module imports torch. An operator computes by the kernels of a schedule. Its backward is the
gradient that is derived of its algorithm: another operator, which is made when it is first needed,
and which has a backward for the same reason.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import sizes_of
from dtpoly.algorithm.show import show
from dtpoly.api import Scheduled
from dtpoly.carried.operators import dt_batched
from dtpoly.diagnostics import DtpolyError
from dtpoly.training.at_hand import scheduled_for
from dtpoly.training.backward_plans import (
    IN_TENSOR,
    BackwardPlan,
    Flow,
    GradientOperator,
    plan_of,
)
from dtpoly.training.batching import with_batch
from dtpoly.training.content import Content
from dtpoly.training.eager_calls import call
from dtpoly.training.element_types import with_copies, with_types
from dtpoly.training.gradient_schedules import (
    Backward,
    compiling,
    depended_on,
    depending,
    derived,
    like,
    sizes_at,
    written,
)
from dtpoly.training.operator_messages import (
    changed,
    forked,
    lost_gradient,
    unfit_input,
    without_tensors,
)
from dtpoly.training.visible_kernels import (
    can_be_visible,
    is_traced,
    visible_function,
    visible_operator,
)

DTYPES = {
    torch.float16: DType.F16,
    torch.bfloat16: DType.BF16,
    torch.float32: DType.F32,
    torch.float64: DType.F64,
}
CUSTOM_OP: Callable[..., Any] = vars(torch.library)["custom_op"]
NARROW = (torch.float16, torch.bfloat16)
NOT_MADE: Any = object()  # stands for a plan that nobody has asked for yet
Names = tuple[str, ...]
Dtypes = tuple[tuple[str, DType], ...]
# An operator of whole batches, its label for these, and the results that have one.
Batched = tuple["Operator", str, frozenset[str]]
KNOWN: dict[str, "Operator"] = {}  # by name; torch, too, has one of each name for all


def _begin_anew() -> None:
    """Look again where operators run, in a process that was forked: a GPU does not work there."""
    for one in KNOWN.values():
        one.ready.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def operator_of(content: Content) -> "Operator":
    """Return the operator of a content; the same for the same content."""
    known = KNOWN.get(content.name)
    if known is None:
        known = KNOWN[content.name] = Operator(content)
    elif content.schedule.verifies and not known.content.schedule.verifies:
        # Else an operator that was made without a proof would be run for who wants one.
        known.take(content)
    return known


class Operator:
    """An operator of torch, and the operators that compute its gradients.

    There are two with the same kernels: to the second one numbers are passed in tensors, so that
    they may have a gradient, too.
    """

    def __init__(self, content: Content) -> None:
        """Register the operator; nothing is generated before it is called or traced."""
        self.take(content)
        plain = self._registered("", in_tensors=False)
        self.calls = (plain, self._registered("_tensors", in_tensors=True))

    def take(self, content: Content) -> None:
        """Compute by the schedules of a content from now on."""
        self.content = content
        self.count = len(content.inputs)
        self.tensors_at = tuple(at for at in range(self.count) if at not in content.numbers)
        if not self.tensors_at:
            raise without_tensors(content.name)
        self.is_open = not content.schedule.is_scheduled
        self.chosen: dict[tuple[str, torch.dtype], Scheduled] = {}
        self.wide: Scheduled | None = None
        self.backwards: dict[tuple[Names, Names], Backward] = {}
        self.gradients: dict[tuple[Names, Names, Dtypes], MadeGradient] = {}
        # By what identifies a schedule, which is kept beside its function.
        self.functions: dict[int, tuple[Scheduled, Callable[..., Any]]] = {}
        self.ready: dict[tuple[object, ...], Callable[..., Any]] = {}
        self.visible: dict[int, Callable[..., Any]] = {}
        self.flows: dict[tuple[bool, ...], Flow] = {}
        self.plans: dict[tuple[object, ...], BackwardPlan | None] = {}
        self.reached: dict[tuple[Names, Names], Names] = {}
        self.batches: dict[tuple[int, ...], Batched | None] = {}
        results = content.results
        self.written = [written(content.schedule, one, results) for one in content.backward]

    def compute(self, *given: Any) -> Any:
        """Run the kernels; on fake tensors, make results without values."""
        count = self.count
        inputs, passed = given[:count], given[count:]
        # The schedule follows from the device and from these types, once it is chosen.
        first = given[self.tensors_at[0]]
        try:
            key = (first.device, *[given[at].dtype for at in self.tensors_at])
        except AttributeError as error:
            raise unfit_input(self.content.name, self._no_tensor(given)) from error
        function = self.ready.get(key)
        if function is None:
            self._check_process(first)
            function = self.ready[key] = self._function(self._schedule(inputs, passed))
        try:
            if not passed:
                return function(*inputs)
            sizes = zip(self.content.labels.values(), passed, strict=True)
            return function(*inputs, **{word: size for word, size in sizes if size is not None})
        except (TypeError, ValueError) as error:
            raise unfit_input(self.content.name, error) from error

    def traced(self, *given: Any) -> Any:
        """Run the kernels; where torch traces what an operator is made of, launch them in steps."""
        if not is_traced():
            return self.compute(*given)
        inputs, passed = given[: self.count], given[self.count :]
        schedule = self._schedule(inputs, passed)
        function = self._function(schedule)
        if id(schedule) not in self.visible:
            self.visible[id(schedule)] = visible_function(function)
        sizes = zip(self.content.labels, passed, strict=True)
        known = {word: size for word, size in sizes if size is not None}
        return self.visible[id(schedule)](*inputs, **known)

    def _no_tensor(self, given: Sequence[Any]) -> TypeError:
        """Return what there is to say of an input that is no tensor, and must be one."""
        wrong = next(at for at in self.tensors_at if not isinstance(given[at], torch.Tensor))
        kind = type(given[wrong]).__name__
        return TypeError(f"'{self.content.inputs[wrong]}' must be a tensor, not {kind}")

    def _check_process(self, first: torch.Tensor) -> None:
        """Refuse a GPU that another process began with, of which this one is a copy."""
        if first.is_cuda and vars(torch.cuda)["_is_in_bad_fork"]():
            raise forked(self.content.name)

    def _function(self, schedule: Scheduled) -> Callable[..., Any]:
        """Return the function of a schedule, which is generated, proved and loaded once."""
        if id(schedule) not in self.functions:
            self.functions[id(schedule)] = (schedule, schedule[self.content.func].function)
        return self.functions[id(schedule)][1]

    def _schedule(self, values: tuple[Any, ...], passed: tuple[Any, ...]) -> Scheduled:
        """Return the schedule for a call.

        What is saved has at least 32 bits. If the file says nothing of how it is computed, a
        schedule is chosen on a GPU, for the sizes of the first call there.
        """
        schedule, tensors = self.content.schedule, self._tensors(values)
        if self.content.saved and any(one.dtype in NARROW for one in tensors.values()):
            if self.wide is None:
                made = with_copies(schedule.program, self.content.kept_wide, DType.F32)
                self.wide = like(schedule, show(made), schedule.name)
            schedule = self.wide
        first = next(iter(tensors.values()))
        if not self.is_open or first.device.type != "cuda":
            return schedule
        floats = [one.dtype for one in tensors.values() if one.dtype in DTYPES]
        key = (str(first.device), floats[0] if floats else torch.float32)
        if key not in self.chosen:
            shapes = {name: tuple(map(_hint, one.shape)) for name, one in tensors.items()}
            given = zip(self.content.labels, passed, strict=True)
            known = {label: _hint(size) for label, size in given if size is not None}
            sizes = sizes_of(schedule.program, shapes, known)
            device = torch.cuda.get_device_name(first.device)
            self.chosen[key] = scheduled_for(schedule, sizes, DTYPES[key[1]], device)
        return self.chosen[key]

    def _tensors(self, values: Sequence[Any]) -> dict[str, torch.Tensor]:
        return {self.content.inputs[at]: values[at] for at in self.tensors_at}

    def gradient(self, of: Names, by: Names, dtypes: Dtypes = ()) -> "MadeGradient":
        """Return what computes the gradients of results by inputs; it is made once.

        If what is read has several types, `dtypes` has those of all tensors by name, and gradients
        get the types of the inputs. Raises DtpolyError if there is none.
        """
        if (of, by, dtypes) not in self.gradients:
            made = self.backward(of, by)
            if dtypes:
                known = dict(dtypes)
                own = {func: known[one] for one, func in made.results.items() if one in known}
                program = with_types(made.schedule.program, known, own)
                schedule = like(made.schedule, show(program), made.schedule.name)
                made = replace(made, schedule=schedule)
            self.gradients[of, by, dtypes] = MadeGradient(self, made)
        return self.gradients[of, by, dtypes]

    def backward(self, of: Names, by: Names) -> Backward:
        """Return a schedule of gradients. Raises DtpolyError if there is none.

        One that somebody wrote is taken if it has at least these gradients, and reads what each of
        the results is given. Else one is derived.
        """
        if (of, by) not in self.backwards:
            fit = [one for one in self.written if set(by) <= one.results.keys()]
            fit = [one for one in fit if set(of) <= {*one.gifts}]
            if fit:
                self.backwards[of, by] = min(fit, key=lambda one: len(one.results))
            else:
                saved = self.content.saved
                self.backwards[of, by] = derived(self.content.schedule, of, by, saved)
        return self.backwards[of, by]

    def _registered(self, kind: str, *, in_tensors: bool) -> Any:
        schema = self.content.schema(in_tensors=in_tensors)
        name = f"{self.content.name}{kind}"
        if self.content.is_visible and can_be_visible():
            made = visible_operator(name, self.content, self.traced, in_tensors=in_tensors)
        else:
            made = CUSTOM_OP(name, self.compute, mutates_args=(), schema=schema)
        made.register_fake(self.compute)
        made.register_autograd(self.backward_of_call, setup_context=self._keep_of_torch)
        made.register_vmap(self._batching(made, in_tensors=in_tensors))
        return made._opoverload

    def _batching(self, made: Any, *, in_tensors: bool) -> Callable[..., Any]:
        """Return the rule for torch.vmap: one call of an operator that has a label for the batch.

        Where there is no such operator, it is one call for each element of the batch.
        """
        one_by_one = dt_batched(made)

        def rule(info: Any, dims: Sequence[int | None], *given: Any) -> tuple[Any, Any]:
            places = tuple(at for at, dim in enumerate(dims) if dim is not None)
            found = self.batched(places) if info.batch_size else None
            if found is None:
                return one_by_one(info, dims, *given)  # type: ignore[no-any-return]
            other, label, having = found
            values = [
                one if dim is None else one.movedim(dim, 0)
                for one, dim in zip(given, dims, strict=True)
            ]
            sizes = dict(zip(self.content.labels, values[self.count :], strict=True))
            sizes[label] = info.batch_size
            passed = [sizes.get(one) for one in other.content.labels]
            results = other.calls[in_tensors](*values[: self.count], *passed)
            if isinstance(results, torch.Tensor):
                return results, 0 if self.content.results[0] in having else None
            return results, tuple(0 if one in having else None for one in self.content.results)

        return rule

    def batched(self, places: tuple[int, ...]) -> "Batched | None":
        """Return the operator that takes whole batches of the inputs at some places.

        There is none where a number has a batch, or where the algorithm with another label is none.
        """
        if places not in self.batches:
            self.batches[places] = None
            if not set(places) <= {*self.tensors_at}:
                return None
            content = self.content
            names = [content.inputs[at] for at in places]
            with suppress(DtpolyError):
                made = with_batch(content.schedule.algorithm.program, names)
                text = show(made.program) + compiling(content.func, content.results)
                schedule = like(content.schedule, text, f"{content.schedule.name} of a batch")
                front = f"{content.front}_batched"
                other = replace(content, schedule=schedule, backward=(), front=front)
                self.batches[places] = operator_of(other), made.label, made.having
        return self.batches[places]

    def _flow(self, needed: tuple[bool, ...]) -> Flow:
        """Return what a gradient flows from and to, and what it reads; it is found once."""
        if needed not in self.flows:
            inputs = self.content.inputs
            asked = [one for one, is_asked in zip(inputs, needed, strict=False) if is_asked]
            for one in asked:
                if one not in self.content.by:
                    raise lost_gradient(self.content.name, one)
            program = self.content.schedule.program
            of = depending(program, self.content.results, asked)
            by = depended_on(program, of, asked)
            every = (*inputs, *self.content.results)
            read = tuple(self._read(of, by))
            places = tuple(every.index(one) for one in read)
            self.flows[needed] = Flow(of, by, read, places, tuple(map(inputs.index, by)))
        return self.flows[needed]

    def _read(self, of: Names, by: Names) -> Iterable[str]:
        """Return what gradients read.

        A result that is only there for gradients is given one itself where these are differentiated
        again. Whether that is possible, need not be known before.
        """
        program = self.content.schedule.program
        shown = tuple(one for one in of if one in self.content.results[: self.content.shown])
        reached = depended_on(program, shown, by)
        read = dict.fromkeys(self.backward(shown, reached).read if reached else ())
        for one in self.written:
            if set(reached) <= one.results.keys():
                read |= dict.fromkeys(one.read)
        if of != shown:
            with suppress(DtpolyError):
                read |= dict.fromkeys(self.backward(of, by).read)
        return read

    def _reached(self, of: Names, by: Names) -> Names:
        """Return the inputs that some results give a gradient to."""
        if (of, by) not in self.reached:
            program = self.content.schedule.program
            self.reached[of, by] = depended_on(program, of, by) if of else ()
        return self.reached[of, by]

    def _keep_of_torch(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep in a context, as torch asks for it, what the backward reads."""
        self.keep(ctx, ctx.needs_input_grad, inputs, output)

    def keep(self, ctx: Any, needed: Sequence[bool], inputs: Sequence[Any], output: Any) -> None:
        """Keep in a context what the backward reads, and nothing else.

        `needed` says of each input whether it needs a gradient.
        """
        count = self.count
        ctx.set_materialize_grads(False)
        ctx.flow = flow = self._flow(tuple(needed[:count]))
        results = (output,) if isinstance(output, torch.Tensor) else output
        known = (*inputs[:count], *results)
        kept = [known[at] for at in flow.places]
        if all([isinstance(one, torch.Tensor) for one in kept]):
            ctx.save_for_backward(*kept)
            ctx.numbers = None
        else:
            ctx.save_for_backward(*[one for one in kept if isinstance(one, torch.Tensor)])
            ctx.numbers = [IN_TENSOR if isinstance(one, torch.Tensor) else one for one in kept]
        ctx.sizes = inputs[count:]
        ctx.shapes = [inputs[at].shape for at in self.tensors_at]
        ctx.dtypes = [inputs[at].dtype for at in flow.by_places]
        # A single result is given a gradient, or there is no backward.
        ctx.forms = (
            [(one.shape, one.dtype, one.device) for one in results] if len(results) > 1 else (None,)
        )

    def backward_of_call(self, ctx: Any, *gifts: Any) -> tuple[Any, ...]:
        """Compute the gradients that are asked for of those results that were given one."""
        try:
            kept = ctx.saved_tensors
        except RuntimeError as error:
            if "inplace" not in str(error):
                raise
            raise changed(self.content.name) from error
        types = [one.dtype for one in kept]
        if ctx.numbers is not None:
            tensors = iter(kept)
            kept = [next(tensors) if one is IN_TENSOR else one for one in ctx.numbers]
        given = [None if one is None else one.dtype for one in gifts]
        key = (ctx.flow, *given, *types, *ctx.dtypes)
        plan = self.plans.get(key, NOT_MADE)
        if plan is NOT_MADE:
            plan = self.plans[key] = self._plan(ctx.flow, kept, gifts, ctx.dtypes)
        nothing = [None] * len(ctx.sizes)
        if plan is None:
            return (*[None] * self.count, *nothing)
        sizes = self._sizes_of_backward(plan.gradient, ctx.shapes, ctx.sizes)
        found = plan.gradient.compute(plan.values(kept, gifts, ctx.forms), sizes)
        return (*plan.gradients(found), *nothing)

    def _plan(
        self,
        flow: Flow,
        kept: Sequence[Any],
        gifts: Sequence[Any],
        dtypes: Sequence[torch.dtype],
    ) -> BackwardPlan | None:
        """Return how the gradients of such a call are computed; None if there are none."""
        read = dict(zip(flow.read, kept, strict=True))
        known = zip(self.content.results, gifts, strict=True)
        given = {one: gift for one, gift in known if gift is not None}
        of = tuple(one for one in flow.of if one in given)
        by = self._reached(of, flow.by)
        if not by:
            return None
        if not set(self.backward(of, by).read) <= read.keys():
            of, by = flow.of, flow.by
        backward, wanted = self.backward(of, by), dict(zip(flow.by, dtypes, strict=True))
        gradient = self.gradient(of, by, self._dtypes(backward, wanted, read, given))
        return plan_of(gradient, self.content, flow, {one: wanted[one] for one in by})

    def _sizes_of_backward(
        self, gradient: GradientOperator, shapes: Sequence[Any], passed: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the sizes that the gradient's operator is passed."""
        if not gradient.labels:
            return ()
        named = {self.content.inputs[at]: shapes[n] for n, at in enumerate(self.tensors_at)}
        known = zip(self.content.labels, passed, strict=True)
        sized = {label: size for label, size in known if size is not None}
        sizes = sizes_at(self.content.schedule.program, gradient.backward, named, sized)
        return [sizes.get(label) for label in gradient.labels]

    def _dtypes(
        self,
        backward: Backward,
        inputs: Mapping[str, torch.dtype],
        kept: Mapping[str, Any],
        gifts: Mapping[str, Any],
    ) -> Dtypes:
        """Return the types of what a backward reads and gives, unless there is one for all."""
        given = {new: gifts[one] for one, new in backward.given.items() if one in gifts}
        every = {one: x.dtype for one, x in {**kept, **given}.items() if _is_float(x)}
        numbers = {self.content.inputs[at] for at in self.content.numbers}
        every |= {one: dtype for one, dtype in inputs.items() if one not in numbers}
        if len(set(every.values())) <= 1:
            return ()
        return tuple((one, DTYPES[dtype]) for one, dtype in sorted(every.items()))


class MadeGradient:
    """An operator that computes some gradients of another one."""

    def __init__(self, forward: Operator, backward: Backward) -> None:
        results = tuple(backward.results.values())
        inputs = tuple(one.name for one in backward.schedule.program.inputs)
        content = Content(
            backward.schedule,
            results[0],
            results,
            inputs,
            (),
            f"{forward.content.front}_backward",
            is_visible=forward.content.is_visible,
        )
        self.backward, self.operator = backward, operator_of(content)
        self.labels = tuple(content.labels)

    def compute(self, values: Sequence[Any], sizes: Sequence[Any]) -> tuple[Any, ...]:
        """Return the results of its operator, in the order of this."""
        numbers = self.operator.content.numbers
        in_tensors = bool(numbers) and any([isinstance(values[at], torch.Tensor) for at in numbers])
        made = call(self.operator, in_tensors, (*values, *sizes))
        return (made,) if isinstance(made, torch.Tensor) else made


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in DTYPES


def _hint(size: Any) -> int:
    """Return a size as a number; where torch traces any size, the one that it traces with."""
    return int(size) if isinstance(size, int) else int(size.node.hint)
