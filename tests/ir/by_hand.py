"""Runs and compiles kernels that tests build by hand from nodes of the kernel IR.

A kernel is checked, printed by the printer of all kernels, and run in Triton's interpreter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.called import helpers
from dtpoly.codegen.python_names import pointer, strides
from dtpoly.codegen.triton_text import kernel_lines
from dtpoly.frozen import dataclass
from dtpoly.ir.check import complaints
from dtpoly.ir.kernel import OFFSET, GridAxis, Instruction, Pointer, Step, TileKernel
from dtpoly.ir.tile_values import Axes, Call, Test, Value, Variable, axes_of
from dtpoly.plan.runtime_text import IMPORTS, runtime_text
from dtpoly.runtime.load import load_module
from dtpoly.targets.argument import CONSTANT, TYPES, ParameterType

# A kernel in a file of its own: it is launched as files that dtpoly writes launch theirs.
LAUNCH = "dt_interpret({0}_kernel, 1, (), {{}})"


def at(name: str, constant: int = 0) -> Affine:
    """Return an index that is a variable and a number."""
    return Affine(((name, 1),), constant)


def inside(name: str, size: str) -> Test:
    """Return whether lanes are below a size."""
    return Test(Affine(((name, -1), (size, 1)), -1), (name,))


def within(label: str) -> Test:
    """Return whether lanes are below the size of their label, as the mask of that label says."""
    return replace(inside(label, f"{label}_size"), name=f"{label}_mask", own=(label,))


def f32(name: str, *axes: str) -> Variable:
    """Return a variable of 32-bit floats."""
    return Variable(name, axes, DType.F32)


def call(operation: str, *operands: Value, axes: Axes | None = None) -> Call:
    """Return an operation on 32-bit floats; it varies along what its operands vary along."""
    found = dict.fromkeys(axis for one in operands for axis in axes_of(one))
    return Call(operation, operands, tuple(found) if axes is None else axes, DType.F32)


def steps(*body: Instruction) -> tuple[Step, ...]:
    """Return a body, of which no step comes from a statement."""
    return tuple(Step(one, "") for one in body)


def blocks_of(label: str, step: int) -> GridAxis:
    """Return a grid of blocks of one label."""
    start = f"{label}_start"
    return GridAxis(start, label, f"{label}_size", step, 1, None, start)


def sizes(*labels: str) -> tuple[tuple[str, str], ...]:
    """Return the parameters for the sizes of labels."""
    return tuple((f"N_{label}", f"{label}_size") for label in labels)


def kernel_of(
    name: str,
    tensors: Sequence[Pointer],
    labels: Sequence[str],
    grid: Sequence[GridAxis],
    body: tuple[Step, ...],
    scalars: tuple[tuple[str, str, DType], ...] = (),
) -> TileKernel:
    """Return a kernel that is told nothing at compile time but the type of offsets."""
    return TileKernel(
        name=name,
        tensors=tuple(tensors),
        scalars=scalars,
        sizes=sizes(*labels),
        shapes=(),
        counts=(),
        flags=(),
        elements=(),
        grid=tuple(grid),
        body=body,
        comment=("Built by hand.",),
    )


@dataclass(frozen=True, slots=True)
class HandKernel:
    """A kernel that was built by hand, and the types that its tensors have in memory."""

    kernel: TileKernel
    dtypes: Mapping[str, DType]

    @property
    def text(self) -> str:
        """Return a file with the kernel and what it calls."""
        own = "".join(f"{line.text}\n" for line in kernel_lines(self.kernel))
        body = (*helpers([self.kernel]), own)
        return "\n\n".join((IMPORTS, *body, runtime_text()))

    @property
    def module(self) -> ModuleType:
        """Return the file as a module."""
        return load_module(self.text, self.kernel.name)

    def arguments(self) -> Iterator[ParameterType]:
        """Yield the types of the parameters."""
        for tensor in self.kernel.tensors:
            yield ParameterType(
                pointer(tensor), f"*{TYPES[self.dtypes[tensor.variable]]}", is_aligned=True
            )
            for name in strides(tensor):
                yield ParameterType(name, "i32")
        for _, name, _ in self.kernel.scalars:
            yield ParameterType(name, TYPES[DType.F64])
        for _, name in self.kernel.sizes:
            yield ParameterType(name, "i32")
        yield ParameterType(OFFSET, CONSTANT, DType.I32)


def told(kernel: TileKernel) -> list[str]:
    """Return what is wrong with a kernel."""
    return [str(one) for one in complaints(kernel)]


def run(
    hand: HandKernel,
    programs: int,
    tensors: Mapping[str, torch.Tensor],
    numbers: Mapping[str, float],
) -> None:
    """Run a kernel in Triton's interpreter: it writes into its tensors."""
    language: Any = hand.module.__dict__["tl"]
    given: dict[str, Any] = {**numbers, OFFSET: language.int64}
    for one in hand.kernel.tensors:
        tensor = tensors[one.variable]
        given[pointer(one)] = tensor
        given |= zip(strides(one), tensor.stride(), strict=True)
    names, kernel = hand.module.__dict__, hand.module.__dict__[f"{hand.kernel.name}_kernel"]
    names["dt_note_text"](kernel)  # as the import of a file does for the kernels of its functions
    names["dt_interpret"](kernel, programs, (), given)
