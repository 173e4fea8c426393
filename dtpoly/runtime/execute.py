"""Generated code, sizes and a seed in; its results beside those of the reference out.

Imports torch, and with the generated file triton. Where kernels are to run on the CPU,
TRITON_INTERPRET=1 has to be set before.
"""

from collections.abc import Mapping, Sequence
from math import prod
from types import ModuleType

import torch

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Dot, Reduce, walk
from dtpoly.algorithm.program import Program, in_order
from dtpoly.algorithm.sizes import Sizes, size_rules, used_labels
from dtpoly.codegen.names import file_names
from dtpoly.frozen import dataclass
from dtpoly.generate import Code
from dtpoly.reference.inputs import Inputs
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.reference.values import DTYPE, TORCH_DTYPE
from dtpoly.runtime.load import load_module
from dtpoly.schedule.program_id import program_index
from dtpoly.schedule.state import State

# The share of a value that its type may lose at most, for products that are not exact.
TF32 = 2.0**-10
# So many times as much as the reference loses in the type of the kernels.
MARGIN = 32


class Refused(Exception):
    """A function does not take such inputs: a size is out of its range."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one function, and how far it is from the reference.

    `error` is the largest difference of two elements, `allowed` what rounding explains. Of
    `wrong` elements that differ by more, `first` has the indices of the first one.
    """

    func: str
    labels: tuple[str, ...]
    result: torch.Tensor
    expected: torch.Tensor
    error: float
    allowed: float
    wrong: int
    first: tuple[int, ...] | None

    @property
    def dtype(self) -> DType:
        """The dtype of the result."""
        return DTYPE[self.result.dtype]


@dataclass(frozen=True, slots=True)
class Question:
    """What is run: sizes of all labels, the dtype of inputs that declare none, a seed."""

    sizes: Sizes
    seed: int
    dtype: DType
    device: str


def execute(state: State, code: Code, question: Question) -> tuple[Outcome, ...]:
    """Call each function on made-up inputs, and compare. Raises Refused."""
    program = state.program
    dtypes = {tensor.name: question.dtype for tensor in program.tensors}
    inputs = random_inputs(program, question.sizes, question.seed, dtypes, question.device)
    module = load_module(code.text, "kernels")
    results = {func: called(module, state, code, func, inputs, question) for func in outputs(code)}

    def program_of(func: str, indices: Mapping[str, torch.Tensor]) -> torch.Tensor | int:
        number: torch.Tensor | int = program_index(program, func, question.sizes)(indices)
        return number

    def reference(compute: torch.dtype) -> dict[str, torch.Tensor]:
        return run(
            program,
            inputs,
            sizes=question.sizes,
            wanted=outputs(code),
            compute=compute,
            program_index=program_of,
        )

    exact, rough = reference(torch.float64), reference(_computed(program, question.dtype))
    return tuple(
        compared(func, program.func(func).labels, result, exact[func], rough[func], share)
        for func, result in results.items()
        for share in (lost(state, func, question),)
    )


def has_bf16_product(program: Program, dtype: DType) -> bool:
    """Whether matrices of bf16 are multiplied: Triton's interpreter does that wrongly."""
    dtypes = {tensor.dtype or dtype for tensor in program.tensors} | {
        f.dtype for f in program.funcs
    }
    products = (isinstance(node, Dot) for f in program.funcs for node in walk(f.body))
    return DType.BF16 in dtypes and any(products)


def outputs(code: Code) -> tuple[str, ...]:
    """The Funcs that have a function."""
    return code.stages.outputs


def called(
    module: ModuleType, state: State, code: Code, func: str, inputs: Inputs, question: Question
) -> torch.Tensor:
    """What the function of a Func gives. Raises Refused."""
    program = state.program
    launched = [launch.name for launch in code.stages.launches]
    names = file_names(program, outputs(code), launched)
    used = used_labels(program)
    passed = [r.label for r in size_rules(program) if r.is_passed and r.label in used]
    keywords: dict[str, object] = {names.labels[one]: question.sizes[one] for one in passed}
    if not program.tensors:
        keywords["device"] = torch.device(question.device)
    try:
        result = getattr(module, names.funcs[func])(*inputs.values(), **keywords)
    except ValueError as error:
        raise Refused(str(error)) from error
    assert isinstance(result, torch.Tensor)
    return result


def lost(state: State, func: str, question: Question) -> float:
    """The share of its largest element that a result may lose by rounding.

    A value loses one when it is stored, a sum one at each of its steps.
    """
    program = state.program
    needed = in_order(program, (func,))
    steps = sum(_steps(program, one.name, question.sizes) for one in needed)
    coarse = max(map(_unit, _floats(program, question.dtype)))
    has_product = any(isinstance(node, Dot) for one in needed for node in walk(one.body))
    if has_product and any(kernel.options.precision == "tf32" for kernel in state.kernels):
        coarse = max(coarse, TF32)
    fine = float(torch.finfo(_computed(program, question.dtype)).eps)
    return 4 * coarse + (steps + 16) * fine


def _floats(program: Program, dtype: DType) -> list[DType]:
    """The types in which floats are given and stored."""
    stored = [func.dtype for func in program.funcs if func.dtype is not None]
    given = [tensor.dtype or dtype for tensor in program.tensors]
    return [one for one in (*given, *stored) if is_float(one)] or [DType.F32]


def _computed(program: Program, dtype: DType) -> torch.dtype:
    """The type in which floats are computed."""
    return torch.float64 if DType.F64 in _floats(program, dtype) else torch.float32


def _unit(dtype: DType) -> float:
    return float(torch.finfo(TORCH_DTYPE[dtype]).eps)


def _steps(program: Program, func: str, sizes: Sizes) -> int:
    reductions = (n for n in walk(program.func(func).body) if isinstance(n, Dot | Reduce))
    return sum(prod(sizes[label] for label in one.labels) for one in reductions)


def compared(
    func: str,
    labels: Sequence[str],
    result: torch.Tensor,
    exact: torch.Tensor,
    rough: torch.Tensor,
    share: float,
) -> Outcome:
    """How far a result is from the exact one, of which it may lose a share.

    `rough` is the reference as it is in the type that kernels compute in: where that is far off,
    they may be so, too. NaN and infinities have to be the same, unless an element is too large
    for a type on the way.
    """
    wide = exact.double()
    finite = wide.isfinite() & rough.double().isfinite()
    sizes, losses = wide.abs()[finite], (rough.double() - wide).abs()[finite]
    allowed = 0.0
    if exact.dtype.is_floating_point and sizes.numel():
        allowed = share * float(sizes.max()) + MARGIN * float(losses.max())
    same = (result == exact.to(result.dtype)) | (result.isnan() & exact.isnan())
    same |= wide.isfinite() & ~rough.isfinite()
    apart = (result.double() - wide).abs()
    # The difference to an infinity or to NaN is no number, even if both are the same.
    apart = torch.where(apart.isfinite(), apart, torch.where(same, 0.0, float("inf")))
    bad = ~same & (apart > allowed)
    wrong = int(bad.sum())
    first = tuple(int(i) for i in bad.nonzero()[0]) if wrong else None
    error = float(apart.max()) if apart.numel() else 0.0
    return Outcome(func, tuple(labels), result, exact, error, allowed, wrong, first)
