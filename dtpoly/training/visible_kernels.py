"""Makes a form of an operator whose kernels Inductor sees: torch.library.triton_op.

A registered operator is one box for torch.compile. In this form the box is opened: the memory that
is made and each launch are steps of the graph, so Inductor plans the memory together with all other
tensors, puts other kernels between, and compiles the kernels of dtpoly itself, also for a program
that runs without Python. What a plan says is carried out with what holds for each call: no truth
about sizes is passed to a kernel, no descriptor, and offsets have 64 bits. The verifier has proved
that, too. This module imports torch.
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import torch

from dtpoly.algorithm.program import Scalar
from dtpoly.training.content import Content, number_kind
from dtpoly.training.operator_messages import not_visible

WRAP_TRITON: Callable[..., Any] = vars(torch.library)["wrap_triton"]
TRITON_OP: Callable[..., Any] = vars(torch.library)["triton_op"]
is_traced: Callable[[], bool] = import_module("torch._library.triton").is_wrap_triton_enabled
Formula = Callable[[Mapping[str, Any]], Any]


def visible_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does what a function of kernels does, in steps that torch traces.

    Raises DtpolyError for a plan of which some step is none that torch could trace.
    """
    name = function.__name__
    module = vars(sys.modules[function.__module__])
    plan: dict[str, Any] = module[f"{name}_plan"]
    if "panels" in plan:
        raise not_visible(name, "all its launches are done for one part after the other")
    launches = [_Launch(name, plan, one, module[one["kernel"]]) for one in plan["launches"]]
    return _Carrier(plan, launches).call


class _Carrier:
    """Carries out a plan for tensors that may have no memory yet."""

    def __init__(self, plan: dict[str, Any], launches: Sequence["_Launch"]) -> None:
        carried: Any = import_module("dtpoly.carried.functions")
        sizes: Any = import_module("dtpoly.carried.sizes")
        shapes: Any = import_module("dtpoly.carried.launches").dt_shapes
        self.plan, self.launches = plan, launches
        self.inputs: dict[str, Any] = plan.get("inputs", {})
        self.read = [one for one, what in self.inputs.items() if len(what) == 2]
        self.types_of, self.dtype_of = carried.dt_typing(plan, self.read)
        self.note_sizes, self.require = sizes.dt_sizes(plan), sizes.dt_require
        self.note_passed = sizes.dt_passed(plan) if "passed" in plan else None
        self.demands = sizes.dt_demands(plan)
        self.passed = plan.get("passed", ())
        self.results, self.between = shapes(plan["results"]), shapes(plan.get("between", {}))

    def call(self, *given: Any, **named: Any) -> Any:
        """Make the results, and launch all kernels."""
        known: dict[str, Any] = dict(zip(self.inputs, given, strict=True))
        known |= dict.fromkeys(self.passed) | named
        if self.note_passed:
            self.note_passed(known)
        self.note_sizes(known)
        self.require(self.demands, known)
        tensors = [known[one] for one in self.read]
        dtypes = [one.dtype for one in tensors]
        device = tensors[0].device
        for name, what, shape in (*self.results, *self.between):
            extents = [compute(known) for compute in shape]
            dtype = self.dtype_of(what["dtype"], *dtypes)
            known[name] = torch.empty(extents, dtype=dtype, device=device)
        types = self.types_of(*dtypes)
        if not any([known[name].numel() for name, _, _ in self.results]):
            return self._results(known)
        for one in self.launches:
            one.run(known, types)
        return self._results(known)

    def _results(self, known: Mapping[str, Any]) -> Any:
        first, *others = [known[name] for name, _, _ in self.results]
        return (first, *others) if others else first


class _Launch:
    """One launch of a plan."""

    def __init__(self, name: str, plan: dict[str, Any], one: dict[str, Any], kernel: Any) -> None:
        values: Any = import_module("dtpoly.carried.values")
        formula: Callable[[str], Formula] = values.dt_formula
        self.one, self.kernel = one, kernel
        for step, why in (
            ("before", "two kernels share one launch"),
            ("scratch", "a kernel takes memory for each of its programs"),
        ):
            if step in one:
                raise not_visible(name, why)
        self.tensors = tuple(one["tensors"])
        self.numbers = [formula(text) for text in one.get("numbers", {}).values()]
        factors = one.get("programs", ("1",))
        self.programs = formula(" * ".join(["1", *(f"({text})" for text in factors)]))
        self.lanes = [
            (lane, formula(text), values.dt_terms(text))
            for lane, text in one.get("lanes", {}).items()
        ]
        self.count = len(one.get("descriptors", {}))
        self.options = {key: one[key] for key in ("num_warps", "num_stages") if key in one}

    def run(self, known: Mapping[str, Any], types: Mapping[str, Any]) -> None:
        """Launch the kernel, in a way that torch traces."""
        if not (programs := self.programs(known)):
            return
        args: list[Any] = []
        for name in self.tensors:
            tensor = known[name]
            args += [tensor, *tensor.stride()]
        args += [compute(known) for compute in self.numbers]
        args += [None] * self.count
        how: dict[str, Any] = {one: types[one] for one in self.one.get("types", ())}
        # How many lanes a tile has is a constant of the kernel, so it is compiled for this size.
        how |= {
            lane: compute({term: int(known[term]) for term in terms if term in known})
            for lane, compute, terms in self.lanes
        }
        how |= dict.fromkeys(self.one.get("flags", {}), False)
        how |= {"offset": _language().int64}
        how |= {"fours": False} if "fours" in self.one else {}
        how |= {"specialized": 0} if "specialized" in self.one else {}
        how |= {"early": 0} if self.one.get("early") else {}
        WRAP_TRITON(self.kernel)[(programs,)](*args, **how, **self.options)


def _language() -> Any:
    return import_module("triton.language")


def visible_operator(
    name: str, content: Content, run: Callable[..., Any], *, in_tensors: bool
) -> Any:
    """Register a function as an operator that torch.compile sees into.

    torch reads the operator's schema from the parameters of the function.
    """

    def steps(*given: Any) -> Any:
        return run(*given)

    kind, kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, {"float": float, "int": int}
    kinds["bool"] = bool
    parameters: list[inspect.Parameter] = []
    for one, word in zip(content.schedule.program.inputs, content.words, strict=True):
        of: Any = torch.Tensor
        if isinstance(one, Scalar) and not in_tensors:
            of = kinds[number_kind(one.dtype)]
        parameters.append(inspect.Parameter(word, kind, annotation=of))
    for word in content.labels.values():
        parameters.append(inspect.Parameter(word, kind, default=None, annotation=int | None))
    count = len(content.results)
    whole: Any = tuple
    many = torch.Tensor if count == 1 else whole[(torch.Tensor,) * count]
    signature = inspect.Signature(parameters, return_annotation=many)
    vars(steps)["__signature__"] = signature
    return TRITON_OP(name, steps, mutates_args=())


def can_be_visible() -> bool:
    """Return whether kernels are compiled: torch traces none that Triton's interpreter runs."""
    return not import_module("dtpoly.carried.values").dt_interpreted
