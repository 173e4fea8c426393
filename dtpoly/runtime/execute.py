"""Runs generated code on made-up inputs, and compares its results with those of the reference.

This module imports torch, and with the generated file triton. If kernels are to run on the CPU,
TRITON_INTERPRET=1 has to be set before.
"""

from collections.abc import Mapping
from types import ModuleType

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import ProgramId, walk
from dtpoly.algorithm.label_sizes import Sizes, size_rules, used_labels
from dtpoly.algorithm.program import Program, in_order, labels_of_axes
from dtpoly.codegen.python_names import file_names
from dtpoly.frozen import dataclass
from dtpoly.generate import Code
from dtpoly.reference.inputs import Inputs
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.runtime.load import load_module
from dtpoly.runtime.tolerance import ComparedResult, compared, computed, multiplies, share_lost
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.program_id import program_index
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import launch_of


class RunRefused(Exception):
    """A function does not take such inputs, or nothing says what it should give."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run that is asked for: sizes of labels, the dtype of other inputs, a seed, a device."""

    sizes: Sizes
    seed: int
    dtype: DType
    device: str


def execute(
    state: State, code: Code, question: RunRequest, primitives: Primitives
) -> tuple[ComparedResult, ...]:
    """Call each function on made-up inputs, and compare. Raises Refused."""
    # As the file says it where something was divided into parts; else with what was inlined, whose
    # `program_id` is that of its reader.
    program = state.sized if state.program.parts else state.program
    _check_program_ids(program, state, code)
    dtypes = {tensor.name: question.dtype for tensor in program.tensors}
    # Shapes are those of the file, since reads of a Func that is inlined show sizes, too.
    made = (question.sizes, question.seed, dtypes, question.device)
    inputs = random_inputs(state.sized, *made)
    module = load_module(code.text, "kernels")
    results: dict[str, torch.Tensor] = {}
    for func, names in code.stages.returned.items():
        got = called(module, state, code, func, inputs, question)
        results |= zip(names, got, strict=True)

    def program_of(func: str, indices: Mapping[str, torch.Tensor]) -> torch.Tensor | int:
        index = program_index(program, func, question.sizes, primitives)
        number: torch.Tensor | int = index(indices)
        return number

    def reference(compute: torch.dtype, is_rough: bool = False) -> dict[str, torch.Tensor]:
        return run(
            program,
            inputs,
            sizes=question.sizes,
            wanted=code.stages.results,
            compute=compute,
            program_index=program_of,
            is_rough=is_rough,
        )

    exact, rough = reference(torch.float64), reference(computed(program, question.dtype))
    is_cut = has_rough_products(state) and any(multiplies(program, func) for func in results)
    cut = reference(torch.float64, is_rough=True) if is_cut else {}
    return tuple(
        compared(
            func,
            labels_of_axes(program, func),
            result,
            exact[func],
            rough[func],
            lost(state, func, question),
            cut.get(func),
        )
        for func, result in results.items()
    )


def _check_program_ids(program: Program, state: State, code: Code) -> None:
    """Refuse a Func that is fused and has `program_id`: each of its copies has other elements."""
    for func in in_order(program, code.stages.results):
        has_one = any(isinstance(node, ProgramId) for node in walk(func.body))
        if has_one and not state.kernels_of(func.name):
            why = f"'{func.name}' has program_id, and is computed in a kernel of another Func"
            raise RunRefused(f"{why}, so that no reference says what its elements are")


def has_rough_products(state: State) -> bool:
    """Return whether a kernel's products may lose what tf32 loses."""
    return any(launch_of(kernel).precision == "tf32" for kernel in state.kernels)


def called(
    module: ModuleType, state: State, code: Code, func: str, inputs: Inputs, question: RunRequest
) -> tuple[torch.Tensor, ...]:
    """Call the function of a Func, and give its results. Raises Refused."""
    program = state.sized  # the function's sizes are those that the file shows
    launched = [launch.name for launch in code.stages.launches]
    names = file_names(program, code.stages.results, launched)
    used = used_labels(program)
    passed = [r.label for r in size_rules(program) if r.may_be_passed and r.label in used]
    keywords: dict[str, object] = {names.labels[one]: question.sizes[one] for one in passed}
    if not program.tensors:
        keywords["device"] = torch.device(question.device)
    # What is written in place is a copy: the inputs are needed again.
    given = [
        value.clone() if one in program.into and isinstance(value, torch.Tensor) else value
        for one, value in inputs.items()
    ]
    try:
        result = getattr(module, names.funcs[func])(*given, **keywords)
    except ValueError as error:
        raise RunRefused(str(error)) from error
    return (result,) if torch.is_tensor(result) else tuple(result)


def lost(state: State, func: str, question: RunRequest) -> float:
    """Return the share of its largest element that a result may lose by rounding."""
    is_rough = has_rough_products(state)
    return share_lost(state.sized, func, question.sizes, question.dtype, is_rough)
