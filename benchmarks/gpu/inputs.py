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
    "add + rms_norm": {"X": "x y", "R": "x y", "W": "y", "eps": ""},
    "layer_norm forward": {"X": "x y", "W": "y", "B": "y", "eps": ""},
    "layer_norm backward": {"D": "x y", "X": "x y", "W": "y", "mean": "x", "rstd": "x"},
    "adam in place": {
        **{name: "x" for name in ("P", "G", "M", "V")},
        **dict.fromkeys(("rate", "beta1", "beta2", "eps", "c", "d"), ""),
    },
    "embedding": {"E": "v k", "T": "l"},
    "scan of rows": {"A": "x t"},
    "scan of long rows": {"A": "x t"},
    "quantize rows": {"A": "x y"},
    "w4a16, pairs": {"A": "m k", "W": "n k/2", "S": "n k/128"},
    "w4a16, halves": {"A": "m k", "W": "n k/2", "S": "n k/128"},
    "grouped matmul": {
        **{"X": "t*i k", "W": "e k n", "C": "t*i n"},
        **{"rows": "t i", "expert": "t", "ends": "e"},  # ends of experts: what torch takes
    },
    "top 8": {"A": "x k"},
    "moe gate": {"L": "t k"},
    "dropout": {"A": "x y", "seed": "", "p": ""},
    "log_sum_exp": {"A": "x y"},
    "attention, heads": {"Q": "b h m k", "K": "b h l k", "V": "b h l n"},
    "attention, causal": {"Q": "b h m k", "K": "b h l k", "V": "b h l n"},
    "attention, grouped": {"Q": "b h m k", "K": "b h/4 l k", "V": "b h/4 l n"},
    "attention, window": {"Q": "b h m k", "K": "b h l k", "V": "b h l n"},
    "attention, decoding": {"Q": "b h g k", "K": "b h l k", "V": "b h l n"},
}
# The types of inputs that have not that of the row.
TYPES: Mapping[tuple[str, str], torch.dtype] = {
    ("cross_entropy", "T"): torch.int64,
    ("embedding", "T"): torch.int64,
    ("w4a16, pairs", "W"): torch.uint8,
    ("w4a16, halves", "W"): torch.uint8,
    ("grouped matmul", "rows"): torch.int64,
    ("grouped matmul", "expert"): torch.int64,
    ("grouped matmul", "ends"): torch.int32,
}
# The same of results, where some have another type: in their order.
RESULTS: Mapping[str, tuple[torch.dtype | None, ...]] = {
    "quantize rows": (torch.int8, None),
    "top 8": (None, torch.int64),
    "moe gate": (None, torch.int64),
}
# Which inputs the results take the place of, in their order.
IN_PLACE: Mapping[str, tuple[str, ...]] = {
    "adam in place": ("P", "M", "V"),
    "grouped matmul": ("C",),
}
STEP = 10  # of an optimiser
NUMBERS: Mapping[str, float] = {
    "alpha": 0.5,
    "eps": 1e-5,
    "rate": 1e-3,
    "beta1": 0.9,
    "beta2": 0.999,
    "c": 1 - 0.9**STEP,
    "d": 1 - 0.999**STEP,
    "seed": 1234,
    "p": 0.125,
}
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
    return {
        name: torch.empty(_extents(row, shape.split()), dtype=_type(row, name), device=device)
        if shape
        else NUMBERS[name]
        for name, shape in SHAPES[row.kernel].items()
    }


def in_place(row: Row, given: Inputs) -> Inputs:
    """Return inputs of which a candidate may change those that its results take the place of."""
    return {
        name: value.clone()
        if isinstance(value, Tensor) and name in IN_PLACE.get(row.kernel, ())
        else value
        for name, value in given.items()
    }


def _type(row: Row, name: str) -> torch.dtype:
    own: torch.dtype = getattr(torch, DTYPES[row.dtype])
    return TYPES.get((row.kernel, name), own)


def _extents(row: Row, labels: Sequence[str]) -> list[int]:
    """Return the sizes of an axis each; `k/2` has half as many indices as k, rounded up.

    `t*i` has as many as there are pairs of both.
    """
    pairs = (label.partition("/") for label in labels)
    return [
        -(-math.prod(row.sizes[one] for one in label.split("*")) // int(by or 1))
        for label, _, by in pairs
    ]


def _value(
    row: Row, name: str, labels: Sequence[str], dtype: torch.dtype, made: torch.Generator
) -> Tensor | float:
    if not labels:
        return NUMBERS[name]
    shape = _extents(row, labels)
    if row.kernel == "grouped matmul" and name in ("rows", "expert", "ends"):
        return _routed(row.sizes, name).to(TYPES[row.kernel, name]).to(made.device)
    if (kind := TYPES.get((row.kernel, name))) is not None:
        # Bytes, or places along the label that they are places of.
        largest = 256 if kind is torch.uint8 else row.sizes["v" if "v" in row.sizes else "y"]
        drawn = torch.randint(largest, shape, generator=made, device=made.device)
        return drawn.to(kind)
    # Sums of what is positive have no cancellation, which no tolerance would allow for.
    if row.kernel.startswith("sum"):
        return torch.rand(shape, generator=made, device=made.device, dtype=dtype)
    value = torch.randn(shape, generator=made, device=made.device, dtype=dtype)
    match row.kernel, name:
        case ("kl_div", "Y"):
            return torch.log_softmax(value, -1)
        case ("tvd" | "kl_div", _):
            return torch.softmax(value, -1)
        case ("layer_norm backward", "rstd") | ("adam in place", "V"):
            return value.abs() + 0.5
        case ("w4a16, pairs" | "w4a16, halves", "S"):
            return value / (4 * math.sqrt(row.sizes["k"]))
        case ("grouped matmul", "W"):
            return value / math.sqrt(row.sizes["k"])
        case ("conv2d", "W"):
            return value / math.sqrt(math.prod(shape[1:]))
        case (kernel, "A" | "B") if kernel in PRODUCTS:
            # Results of a size that 16 bits hold, whatever is summed.
            summed = {"A": row.sizes["k"], "B": row.sizes.get("l", 1)}
            return value / math.sqrt(summed[name])
        case _:
            return value


def _routed(sizes: Mapping[str, int], name: str) -> Tensor:
    """Return the rows of each group, its expert, or where the rows of each expert end.

    Rows are sorted by their experts, and each expert has as many groups as the others have.
    """
    groups, size, experts = sizes["t"], sizes["i"], sizes["e"]
    expert = torch.arange(groups) * experts // groups
    match name:
        case "rows":
            return torch.arange(groups * size).view(groups, size)
        case "expert":
            return expert
        case _:
            return torch.bincount(expert, minlength=experts).cumsum(0) * size


def tensors(given: Inputs) -> dict[str, Tensor]:
    """Return those inputs that are tensors."""
    return {name: value for name, value in given.items() if isinstance(value, Tensor)}


def size_in_bytes(row: Row, given: Inputs, result: Tensor | Sequence[Tensor]) -> int:
    """Count the bytes that are read and written at least once."""
    results = [result] if isinstance(result, Tensor) else result
    known = RESULTS.get(row.kernel, (None,) * len(results))
    own: torch.dtype = getattr(torch, DTYPES[row.dtype])
    written = sum(
        one.numel() * (kind or own).itemsize for one, kind in zip(results, known, strict=True)
    )
    if row.kernel == "embedding":  # of the table only the rows that are named
        return 2 * written + tensors(given)["T"].nbytes
    read = sum(one.nbytes for one in tensors(given).values())
    if row.kernel == "grouped matmul":  # its results are written over what nobody reads
        read -= tensors(given)["C"].nbytes
    return written + read
