"""Makes tensors for a Program at sizes, in every memory layout that a caller may have."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.reference.random_inputs import random_inputs

Inputs = dict[str, torch.Tensor | int | float | bool]


class Layout(StrEnum):
    """The ways in which the elements of a tensor lie in memory."""

    PLAIN = "plain"
    TRANSPOSED = "transposed"  # the first axis is the one without gaps
    SLICED = "sliced"  # every second element of something larger, from the second on
    EXPANDED = "expanded"  # the first axis repeats one slice


class Data(StrEnum):
    """The kinds of elements."""

    RANDOM = "random"
    ASCENDING = "ascending"
    BELOW_ZERO = "below zero"
    SOME_NAN = "some NaN"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe for inputs, which gives the same on every machine."""

    seed: int = 1
    dtype: DType = DType.F32  # of inputs that declare none
    layout: Layout = Layout.PLAIN
    data: Data = Data.RANDOM

    dtypes: Mapping[str, DType] = field(default_factory=dict[str, DType])  # of some of them

    def __str__(self) -> str:
        others = "".join(f" {name}:{dtype}" for name, dtype in self.dtypes.items())
        return f"{self.dtype}{others} {self.layout} {self.data}"

    def inputs(
        self, program: Program, sizes: Mapping[str, int], device: torch.device | str = "cpu"
    ) -> Inputs:
        """Return the inputs of a Program at some sizes."""
        chosen = {t.name: self.dtype for t in program.tensors} | dict(self.dtypes)
        kept = {t.name for t in program.tensors if t.within is not None}
        return {
            name: laid_out(
                value if name in kept else changed(value, self.data), self.layout, device
            )
            if isinstance(value, torch.Tensor)
            else value
            for name, value in random_inputs(program, sizes, self.seed, chosen).items()
        }


def changed(tensor: torch.Tensor, data: Data) -> torch.Tensor:
    """Return other elements of the same type; unsigned numbers have none below zero."""
    if data is Data.RANDOM or not tensor.numel():
        return tensor
    if not tensor.dtype.is_floating_point:
        if data is Data.BELOW_ZERO and tensor.dtype not in (torch.bool, torch.uint8):
            return -tensor.abs() - 1
        return tensor
    if data is Data.BELOW_ZERO:
        return (-tensor.double().abs() - 0.5).to(tensor.dtype)
    if data is Data.SOME_NAN:
        return with_nans(tensor)
    steps = torch.linspace(-2, 2, tensor.numel(), dtype=torch.float64)
    return steps.reshape(tensor.shape).to(tensor.dtype)


def with_nans(tensor: torch.Tensor) -> torch.Tensor:
    """Make every fifth element NaN, with a clear and a set sign bit in turn."""
    made = tensor.clone()
    flat = made.view(-1)
    flat[1::10] = torch.nan
    flat[6::10] = -torch.nan
    return made


def laid_out(
    tensor: torch.Tensor, layout: Layout, device: torch.device | str = "cpu"
) -> torch.Tensor:
    """Return the elements in a layout; of an expanded tensor only the first slice is kept."""
    match layout:
        case Layout.PLAIN:
            return tensor.to(device)
        case Layout.TRANSPOSED:
            order = list(reversed(range(tensor.dim())))
            return tensor.permute(order).contiguous().to(device).permute(order)
        case Layout.SLICED:
            view = sliced(tensor.shape, tensor.dtype, device)
            view.copy_(tensor)
            return view
        case Layout.EXPANDED:
            if not tensor.dim() or not tensor.shape[0]:
                return tensor.to(device)
            return tensor[:1].contiguous().to(device).expand(tensor.shape)


def sliced(
    shape: tuple[int, ...], dtype: torch.dtype, device: torch.device | str = "cpu"
) -> torch.Tensor:
    """Return room for a tensor inside a larger one, all of which is poisoned."""
    whole = poisoned([2 * size + 2 for size in shape], dtype, device)
    for axis, size in enumerate(shape):
        whole = whole.narrow(axis, 1, 2 * size + 1)
        whole = whole[(slice(None),) * axis + (slice(0, 2 * size, 2),)]
    return whole


def poisoned(
    shape: list[int] | tuple[int, ...], dtype: torch.dtype, device: torch.device | str = "cpu"
) -> torch.Tensor:
    """Return memory that nobody has written: NaN, or numbers that are easy to see."""
    size = dtype.itemsize
    count = 1
    for extent in shape:
        count *= extent
    if dtype is torch.bool:
        return torch.ones(list(shape), dtype=dtype, device=device)
    if dtype.is_floating_point:
        # All bits set are NaN in every type.
        raw = torch.full((count * size,), 255, dtype=torch.uint8, device=device)
    else:
        raw = torch.full((count * size,), 0x5B, dtype=torch.uint8, device=device)
    return raw.view(dtype).reshape(list(shape))
