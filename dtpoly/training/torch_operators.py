"""Registers operators of torch whose gradients are operators of the same kind.

This module imports torch. An operator computes by the kernels of a schedule. Its backward is the
gradient that is derived of its algorithm: another operator, which is made when it is first needed,
and which has a backward for the same reason.
"""

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
from dtpoly.frozen import dataclass
from dtpoly.training.at_hand import is_unscheduled, scheduled_for
from dtpoly.training.content import Content
from dtpoly.training.direct import Direct, is_direct, needs_gradient
from dtpoly.training.element_types import with_copies, with_types
from dtpoly.training.gradient_schedules import (
    Backward,
    depended_on,
    depending,
    derived,
    like,
    sizes_at,
    written,
)

DTYPES = {
    torch.float16: DType.F16,
    torch.bfloat16: DType.BF16,
    torch.float32: DType.F32,
    torch.float64: DType.F64,
}
NARROW = (torch.float16, torch.bfloat16)
DIRECT: Any = Direct  # torch does not say the types of `apply`
Names = tuple[str, ...]
Dtypes = tuple[tuple[str, DType], ...]
KNOWN: dict[str, "Operator"] = {}  # by name; torch, too, has one of each name for all


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

    def call(self, given: Sequence[Any], *, in_tensors: bool) -> Any:
        """Return the results of a call, and let gradients flow through it.

        Where nothing but autograd looks at the call, it does not go through torch's dispatcher:
        this takes longer than small kernels do.
        """
        if not is_direct(given):
            return self.calls[in_tensors](*given)
        if torch.is_grad_enabled() and any(needs_gradient(one) for one in given):
            return DIRECT.apply(self, *given)
        return self.compute(*given)

    def take(self, content: Content) -> None:
        """Compute by the schedules of a content from now on."""
        self.content = content
        self.is_open = is_unscheduled(content.schedule)
        self.chosen: dict[tuple[str, torch.dtype], Scheduled] = {}
        self.wide: Scheduled | None = None
        self.backwards: dict[tuple[Names, Names], Backward] = {}
        self.gradients: dict[tuple[Names, Names, Dtypes], _Gradient] = {}
        # By what identifies a schedule, which is kept beside its function.
        self.functions: dict[int, tuple[Scheduled, Callable[..., Any]]] = {}
        self.flows: dict[tuple[bool, ...], _Flow] = {}
        self.reached: dict[tuple[Names, Names], Names] = {}
        results = content.results
        self.written = [written(content.schedule, one, results) for one in content.backward]

    def compute(self, *given: Any) -> Any:
        """Run the kernels; on fake tensors, make results without values."""
        content = self.content
        count = len(content.inputs)
        sizes = zip(content.labels.values(), given[count:], strict=True)
        named = {word: size for word, size in sizes if size is not None}
        schedule = self._schedule(given[:count], given[count:])
        return self._function(schedule)(*given[:count], **named)

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

    def _tensors(self, values: tuple[Any, ...]) -> dict[str, torch.Tensor]:
        named = zip(self.content.inputs, values, strict=True)
        numbers = self.content.numbers
        return {name: one for at, (name, one) in enumerate(named) if at not in numbers}

    def gradient(self, of: Names, by: Names, dtypes: Dtypes = ()) -> "_Gradient":
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
            self.gradients[of, by, dtypes] = _Gradient(self, made)
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
        made: Any = torch.library.custom_op(name, self.compute, mutates_args=(), schema=schema)
        made.register_fake(self.compute)
        made.register_autograd(self.backward_of_call, setup_context=self._keep)
        made.register_vmap(dt_batched(made))
        return made._opoverload

    def _flow(self, needed: tuple[bool, ...]) -> "_Flow":
        """Return what a gradient flows from and to, and what it reads; it is found once."""
        if needed not in self.flows:
            inputs = self.content.inputs
            asked = [one for one, is_asked in zip(inputs, needed, strict=False) if is_asked]
            for one in asked:
                if one not in self.content.by:
                    raise RuntimeError(
                        f"'{one}' requires a gradient, and {self.content.name} was made without "
                        f"one: pass {one}.detach(), or name it in by="
                    )
            program = self.content.schedule.program
            of = depending(program, self.content.results, asked)
            by = depended_on(program, of, asked)
            self.flows[needed] = _Flow(of, by, tuple(self._read(of, by)))
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

    def _keep(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        self.keep(ctx, inputs, output, ctx.needs_input_grad)

    def keep(
        self, ctx: Any, inputs: tuple[Any, ...], output: Any, needed: tuple[bool, ...]
    ) -> None:
        """Keep what the backward reads, and nothing else."""
        names = self.content.inputs
        ctx.set_materialize_grads(False)
        flow = self._flow(tuple(needed[: len(names)]))
        results = (output,) if isinstance(output, torch.Tensor) else output
        known = {**dict(zip(names, inputs, strict=False)), **self._named(results)}
        kept = {one: known[one] for one in flow.read}
        tensors = {name: one for name, one in kept.items() if isinstance(one, torch.Tensor)}
        ctx.save_for_backward(*tensors.values())
        ctx.kept = (flow.of, flow.by, tuple(tensors))
        ctx.numbers = {name: one for name, one in kept.items() if name not in tensors}
        ctx.sizes = dict(zip(self.content.labels, inputs[len(names) :], strict=True))
        shown = self._tensors(inputs[: len(names)])
        ctx.shapes = {name: tuple(one.shape) for name, one in shown.items()}
        ctx.dtypes = {one: known[one].dtype for one in flow.by}
        ctx.forms = [(one.shape, one.dtype, one.device) for one in results]

    def _named(self, results: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(self.content.results, results, strict=True))

    def backward_of_call(self, ctx: Any, *gifts: Any) -> tuple[Any, ...]:
        """Compute the gradients that are asked for of those results that were given one."""
        of, by, tensors = ctx.kept
        given = {one: gift for one, gift in self._named(gifts).items() if gift is not None}
        reached = tuple(one for one in of if one in given)
        wanted = self._reached(reached, by)
        found: dict[str, Any] = {}
        if wanted:
            kept = {**dict(zip(tensors, ctx.saved_tensors, strict=True)), **ctx.numbers}
            if not set(self.backward(reached, wanted).read) <= kept.keys():
                reached, wanted = of, by
            dtypes = self._dtypes(self.backward(reached, wanted), ctx.dtypes, kept, given)
            gradient = self.gradient(reached, wanted, dtypes)
            forms = dict(zip(self.content.results, ctx.forms, strict=True))
            for one in gradient.backward.gifts:
                if one not in given:
                    shape, dtype, device = forms[one]
                    given[one] = torch.zeros(shape, dtype=dtype, device=device)
            found = gradient.compute(self, kept, given, ctx.shapes, ctx.sizes)
        every = [found.get(one) if one in wanted else None for one in self.content.inputs]
        cast = [
            one if one is None else one.to(ctx.dtypes[name])
            for name, one in zip(self.content.inputs, every, strict=True)
        ]
        return (*cast, *[None] * len(ctx.sizes))

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


@dataclass(frozen=True, slots=True)
class _Flow:
    """The results and inputs between which a gradient flows, and what it reads of a call."""

    of: Names
    by: Names
    read: Names


class _Gradient:
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
        )
        self.backward, self.operator = backward, operator_of(content)

    def compute(
        self,
        forward: Operator,
        kept: Mapping[str, Any],
        gifts: Mapping[str, Any],
        shapes: Mapping[str, tuple[int, ...]],
        passed: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the gradient by each input that has one."""
        content, backward = self.operator.content, self.backward
        known = {**kept, **{new: gifts[one] for one, new in backward.given.items() if one in gifts}}
        sized = {label: size for label, size in passed.items() if size is not None}
        sizes = sizes_at(forward.content.schedule.program, backward, shapes, sized)
        values = [known[one] for one in content.inputs]
        in_tensors = any(isinstance(values[at], torch.Tensor) for at in content.numbers)
        more = [sizes.get(label) for label in content.labels]
        made = self.operator.call((*values, *more), in_tensors=in_tensors)
        results = (made,) if isinstance(made, torch.Tensor) else made
        return dict(zip(backward.results, results, strict=True))


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in DTYPES


def _hint(size: Any) -> int:
    """Return a size as a number; where torch traces any size, the one that it traces with."""
    return int(size) if isinstance(size, int) else int(size.node.hint)
