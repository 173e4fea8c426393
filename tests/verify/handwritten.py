"""Hand-written kernels, and what they compute when they are launched as their files say."""

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from numpy.lib import NumpyVersion

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Program
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.reference.run import run
from dtpoly.ring.ring_memory import RingMemory
from dtpoly.verify.plan.callers import typed
from dtpoly.verify.triton.said import said_in
from tests.codegen.interpreter import interpreted
from tests.codegen.running import Wrong, imported
from tests.verify.texts import ROOT, program_of

triton: Any = importlib.import_module("triton")
errors: Any = importlib.import_module("triton.runtime.errors")
FOLDER = ROOT / "tests/data/handwritten"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.dt")))
PROGRAMS = 3
# Before 3.7, Triton's interpreter takes an index from a tensor in a way that NumPy 2.5 refuses.
LOOPS_FAIL = triton.__version__ < "3.7" and NumpyVersion(numpy.__version__) >= "2.5.0"
# Of what is computed in f32, and stored in 16 bits.
CLOSE = {torch.float32: 1e-4, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def algorithm(name: str) -> Program:
    return program_of(FOLDER / f"{name}.dt")


@cache
def text(name: str) -> str:
    return Path(FOLDER / f"{name}.py.txt").read_text()


def launch(program: Program, written: str, sizes: Mapping[str, int]) -> None:
    """Launch the kernels at these sizes, also with no value above 0, and with values that ascend.

    Raises Wrong for another value, OutsideError for what is no element, RaceError.
    """
    if LOOPS_FAIL:
        pytest.skip("the interpreter of this Triton has no loop over tensors with this NumPy")
    for made in (_far, _below, _ascending):
        _launch(typed(program), written, sizes, made)


def _far(values: torch.Tensor) -> torch.Tensor:
    """Return values far from each other: what is reduced too much, or too little, is seen."""
    return 3 * values


def _below(values: torch.Tensor) -> torch.Tensor:
    return -values.abs() - 0.1


def _ascending(values: torch.Tensor) -> torch.Tensor:
    """Return values that ascend along each axis: running maxima grow until the end."""
    found = 2 * values.abs()
    for axis in range(values.dim()):
        found = found.sort(dim=axis).values
    return found


def _launch(
    program: Program,
    written: str,
    sizes: Mapping[str, int],
    made: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = input_shapes(program, sizes)
    lines = [one for one in said_in(written) if one.word == "verify"]
    asked = " ".join(one.text for one in lines)
    inputs: dict[str, torch.Tensor | float] = {}
    for tensor in program.tensors:
        assert tensor.dtype is not None
        values = torch.randn(shapes[tensor.name], generator=generator)
        values = made(values).to(TORCH_DTYPE[tensor.dtype])
        inputs[tensor.name] = _strided(tensor.name, values, asked)
    inputs |= {scalar.name: 0.5 for scalar in program.scalars}
    results = run(program, inputs, sizes=sizes)
    types = types_of(program)
    memory = RingMemory()
    given: dict[str, Any] = dict(inputs)
    for func in program.funcs:
        if f" {func.name}," in f" {asked}".replace("(", " ").replace(")", ","):
            dtype = TORCH_DTYPE[types[func.name].dtype or DType.F32]
            blank = torch.full_like(results[func.name], torch.nan, dtype=dtype)
            given[func.name] = _strided(func.name, blank, asked)
    for name, tensor in given.items():
        if isinstance(tensor, torch.Tensor):
            memory.add(tensor, is_output=name not in inputs)
    labels = {label: range(size) for label, size in sizes.items()}
    words = {"cdiv": triton.cdiv, "next_power_of_2": triton.next_power_of_2, "any": PROGRAMS}
    kernels = vars(imported(written))
    with interpreted(memory):
        for one in lines:
            try:
                eval(one.text, {**kernels, **words, **labels, **given})
            except errors.InterpreterError as error:
                raise error.__cause__ or error from None
    for name, tensor in given.items():
        if name not in inputs:
            _compare(name, tensor, results[name])


def _strided(name: str, tensor: torch.Tensor, asked: str) -> torch.Tensor:
    """Return the values with strides that a caller may have where the line asks for them."""
    if tensor.dim() < 2 or f"{name}.stride(" not in asked:
        return tensor.contiguous()
    wide = torch.full((*tensor.shape[:-1], tensor.shape[-1] + 5), 100.0, dtype=tensor.dtype)
    wide[..., : tensor.shape[-1]] = tensor
    return wide[..., : tensor.shape[-1]]


def _compare(name: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
    allowed = CLOSE[found.dtype] * (1 + wanted.abs().double())
    apart = (found.double() - wanted.double()).abs()
    if not bool((apart <= allowed).all()):
        raise Wrong(f"'{name}' is {found}, and should be {wanted}")
