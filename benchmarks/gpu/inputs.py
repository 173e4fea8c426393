"""Makes the tensors that every candidate of a row is given."""

import math
import zlib
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from benchmarks.gpu.rows import DTYPES, Row

Inputs = Mapping[str, Tensor | float]

# By the names that the files of examples/ have; a number has no shape.
SHAPES: Mapping[str, Mapping[str, str]] = {
    "dyt": {"X": "x y", "gamma": "y", "beta": "y", "alpha": ""},
    "geglu": {"A": "x y", "B": "x y"},
    "swiglu": {"A": "x y", "B": "x y"},
    "tvd": {"P": "x y", "Q": "x y"},
    "kl_div": {"Y": "x y", "T": "x y"},
    "rms_norm": {"X": "x y", "W": "y", "eps": ""},
    "layer_norm": {"X": "x y", "W": "y", "B": "y", "eps": ""},
    "softmax": {"A": "x y"},
    "cross_entropy": {"L": "x y", "T": "x"},
    "sum": {"A": "x"},
    "sum of rows": {"A": "x y"},
    "sum of columns": {"A": "x y"},
    "matmul": {"A": "m k", "B": "k n"},
    "batched matmul": {"A": "b m k", "B": "b k n"},
    "mmsigmoid": {"A": "m k", "B": "k n"},
    "2mm, inner fusion": {"A": "m k", "B": "k l", "C": "l n"},
    "2mm, outer fusion": {"A": "m k", "B": "k l", "C": "l n"},
    "attention": {"Q": "m k", "K": "l k", "V": "l n"},
    "conv2d": {"A": "b h w c", "W": "f r s c"},
}
NUMBERS: Mapping[str, float] = {"alpha": 0.5, "eps": 1e-5}
PRODUCTS = ("matmul", "batched matmul", "mmsigmoid", "2mm, inner fusion", "2mm, outer fusion")


def inputs(row: Row, device: str) -> Inputs:
    """Tensors from a seed that is the row's own, so that each run has the same ones."""
    made = torch.Generator(device)
    made.manual_seed(zlib.crc32(row.name.encode()))
    dtype: torch.dtype = getattr(torch, DTYPES[row.dtype])
    return {
        name: _value(row, name, shape.split(), dtype, made)
        for name, shape in SHAPES[row.kernel].items()
    }


def unfilled(row: Row, device: str) -> Inputs:
    """Tensors of the same shapes and types, with whatever is in memory."""
    dtype: torch.dtype = getattr(torch, DTYPES[row.dtype])
    return {
        name: torch.empty(
            [row.sizes[label] for label in shape.split()],
            dtype=torch.int64 if _has_places(row, name) else dtype,
            device=device,
        )
        if shape
        else NUMBERS[name]
        for name, shape in SHAPES[row.kernel].items()
    }


def _has_places(row: Row, name: str) -> bool:
    """Return whether its values are places in a row."""
    return (row.kernel, name) == ("cross_entropy", "T")


def _value(
    row: Row, name: str, labels: Sequence[str], dtype: torch.dtype, made: torch.Generator
) -> Tensor | float:
    if not labels:
        return NUMBERS[name]
    shape = [row.sizes[label] for label in labels]
    if _has_places(row, name):
        return torch.randint(row.sizes["y"], shape, generator=made, device=made.device)
    # Sums of what is positive have no cancellation, which no tolerance would allow for.
    if row.kernel.startswith("sum"):
        return torch.rand(shape, generator=made, device=made.device, dtype=dtype)
    value = torch.randn(shape, generator=made, device=made.device, dtype=dtype)
    match row.kernel, name:
        case ("kl_div", "Y"):
            return torch.log_softmax(value, -1)
        case ("tvd" | "kl_div", _):
            return torch.softmax(value, -1)
        case ("conv2d", "W"):
            return value / math.sqrt(math.prod(shape[1:]))
        case (kernel, "A" | "B") if kernel in PRODUCTS:
            # Results of a size that 16 bits hold, whatever is summed.
            summed = {"A": row.sizes["k"], "B": row.sizes.get("l", 1)}
            return value / math.sqrt(summed[name])
        case _:
            return value


def tensors(given: Inputs) -> dict[str, Tensor]:
    """Return those inputs that are tensors."""
    return {name: value for name, value in given.items() if isinstance(value, Tensor)}


def size_in_bytes(row: Row, given: Inputs, result: Tensor) -> int:
    """Count the bytes that are read and written at least once.

    A result has the dtype of the inputs.
    """
    dtype: torch.dtype = getattr(torch, DTYPES[row.dtype])
    read = sum(one.nbytes for one in tensors(given).values())
    return read + result.numel() * dtype.itemsize
