"""Elementwise operations, reductions and dots of labelled values; torch does the arithmetic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from dtpoly.algorithm.dtypes import summed
from dtpoly.algorithm.operations import COMPARISON, OPERATION, Result
from dtpoly.reference.values import (
    DTYPE,
    TORCH_DTYPE,
    Value,
    labels_of,
    laid_out,
    promoted,
    spread,
)

Tensor = torch.Tensor

DOUBLE_BITS, TF32_BITS = 52, 10  # of their fractions


def _maximum(a: Tensor, b: Tensor) -> Tensor:
    return torch.maximum(a, b)


def _minimum(a: Tensor, b: Tensor) -> Tensor:
    return torch.minimum(a, b)


def _clamp(a: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return torch.minimum(torch.maximum(a, low), high)


def _divided(a: Tensor, b: Tensor, divide: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Whole numbers divided by 0 give 0, as in NumPy; torch refuses."""
    if a.is_floating_point():
        return divide(a, b)
    nothing = b == 0
    return torch.where(nothing, 0, divide(a, torch.where(nothing, 1, b))).to(a.dtype)


def _mod(a: Tensor, b: Tensor) -> Tensor:
    return _divided(a, b, torch.remainder)


def _cdiv(a: Tensor, b: Tensor) -> Tensor:
    if a.is_floating_point():
        return torch.ceil(a / b)

    def rounded_up(dividend: Tensor, divisor: Tensor) -> Tensor:
        down = torch.div(dividend, divisor, rounding_mode="floor")
        return down + (torch.remainder(dividend, divisor) != 0)

    return _divided(a, b, rounded_up)


def _fma(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return a * b + c


# Operands arrive in one dtype, except for `where`, whose first is a condition.
ELEMENTWISE: Mapping[str, Callable[..., Tensor]] = {
    "neg": torch.neg,
    "not": torch.logical_not,
    "mul": torch.mul,
    "div": torch.div,
    "mod": _mod,
    "add": torch.add,
    "sub": torch.sub,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "eq": torch.eq,
    "ne": torch.ne,
    "and": torch.logical_and,
    "or": torch.logical_or,
    "abs": torch.abs,
    "cdiv": _cdiv,
    "ceil": torch.ceil,
    "clamp": _clamp,
    "cos": torch.cos,
    "div_rn": torch.div,
    "erf": torch.erf,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "fdiv": torch.div,
    "floor": torch.floor,
    "fma": _fma,
    "log": torch.log,
    "log2": torch.log2,
    "maximum": _maximum,
    "minimum": _minimum,
    "pow": torch.pow,
    "rsqrt": torch.rsqrt,
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "sqrt": torch.sqrt,
    "sqrt_rn": torch.sqrt,
    "tanh": torch.tanh,
    "where": torch.where,
}


def apply(operation: str, operands: Sequence[Value], compute: torch.dtype) -> Value:
    """An elementwise operation; operands meet where they share a label."""
    result = OPERATION[operation].result
    conditions = list(operands[:1]) if result is Result.CHOSEN else []
    compared = operands[len(conditions) :]
    if OPERATION[operation].precedence == COMPARISON:
        # A number that the other side's type cannot hold is still compared as what it is.
        compared = [replace(value, weak=value.weak and _is_float(value)) for value in compared]
    values, weak = promoted(compared)
    if result is Result.BOOL:
        # What numbers alone are compared to is as weak as they are.
        weak = all(value.weak for value in operands)
    if result is Result.FLOAT and not _is_float(values[0]):
        # Not by way of the whole-number type: it may not hold a number that stands beside it.
        values = [replace(value, tensor=value.tensor.to(compute)) for value in compared]
    dtype = values[0].tensor.dtype
    labels = labels_of(operands)
    tensors = [laid_out(value, labels) for value in (*conditions, *values)]
    # bool + bool is bool in torch, but not every operation has a kernel for it.
    through_bytes = result is Result.PROMOTED and dtype is torch.bool
    if through_bytes:
        tensors = [tensor.to(torch.uint8) for tensor in tensors]
    total: Tensor = ELEMENTWISE[operation](*tensors)
    return Value(total.bool() if through_bytes else total, labels, weak)


def _is_float(value: Value) -> bool:
    return value.tensor.dtype.is_floating_point


def _extreme(tensor: Tensor, axes: Sequence[int], *, largest: bool) -> Tensor:
    if any(tensor.shape[axis] == 0 for axis in axes):
        kept = [size for axis, size in enumerate(tensor.shape) if axis not in axes]
        return tensor.new_full(kept, _identity(tensor.dtype, largest=largest))
    return tensor.amax(list(axes)) if largest else tensor.amin(list(axes))


def _identity(dtype: torch.dtype, *, largest: bool) -> float | int | bool:
    """The least value that there is, or the greatest."""
    if dtype is torch.bool:
        return not largest
    if dtype.is_floating_point:
        return float("-inf" if largest else "inf")
    bounds = torch.iinfo(dtype)
    return bounds.min if largest else bounds.max


def _first_extreme(tensor: Tensor, axes: Sequence[int], *, largest: bool) -> Tensor:
    """Place of the first extreme, counted over the axes in the order given.

    torch.argmax promises no order among equals, so the first place is looked for.
    """
    kept = [axis for axis in range(tensor.dim()) if axis not in axes]
    lines = tensor.permute(*kept, *axes).flatten(len(kept))
    best = _extreme(lines, [len(kept)], largest=largest).unsqueeze(-1)
    hit = (lines == best) | (lines.isnan() & best.isnan())
    places = torch.arange(lines.shape[-1], device=lines.device)
    return torch.where(hit, places, lines.shape[-1]).amin(-1)


def _product(tensor: Tensor, axes: Sequence[int], dtype: torch.dtype) -> Tensor:
    for axis in sorted(axes, reverse=True):
        tensor = tensor.prod(axis, dtype=dtype)
    return tensor


def reduce(
    operation: str, operand: Value, labels: Sequence[str], sizes: Mapping[str, int]
) -> Value:
    """A reduction over labels; sums and products of whole numbers widen as in `dtypes.summed`."""
    kept = tuple(label for label in operand.labels if label not in labels)
    tensor = spread(operand, (*kept, *labels), sizes)
    axes = tuple(range(len(kept), len(kept) + len(labels)))
    dtype = _summed(tensor.dtype)
    match operation:
        case "rsum":
            return Value(tensor.sum(axes, dtype=dtype) + 0, kept)
        case "rprod":
            return Value(_product(tensor, axes, dtype), kept)
        case "rmax":
            return Value(_extreme(tensor, axes, largest=True), kept)
        case "rmin":
            return Value(_extreme(tensor, axes, largest=False), kept)
        case "rany":
            return Value(tensor.any(axes), kept)
        case "rall":
            return Value(tensor.all(axes), kept)
        case "rargmax":
            return Value(_first_extreme(tensor, axes, largest=True), kept)
        case "rargmin":
            return Value(_first_extreme(tensor, axes, largest=False), kept)
        case _:
            raise AssertionError(f"no such reduction: {operation}")


def _summed(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else TORCH_DTYPE[summed(DTYPE[dtype])]


def _cut(tensor: Tensor) -> Tensor:
    """Of each fraction the bits that tf32 keeps; the others become 0, as on tensor cores."""
    beyond = (1 << DOUBLE_BITS - TF32_BITS) - 1
    kept = tensor.double().view(torch.int64) & ~beyond
    return kept.view(torch.float64).to(tensor.dtype)


def dot(
    left: Value,
    right: Value,
    labels: Sequence[str],
    sizes: Mapping[str, int],
    *,
    is_rough: bool = False,
) -> Value:
    """The sum over the labels of the products, exact for whole numbers until they wrap."""
    (left, right), _ = promoted((left, right))
    if is_rough and _is_float(left):
        left, right = (replace(side, tensor=_cut(side.tensor)) for side in (left, right))
    device = left.tensor.device
    dtype = _summed(left.tensor.dtype)
    both = labels_of((left, right))
    missing = tuple(label for label in labels if label not in both)
    tensors = [
        spread(left, (*left.labels, *missing), sizes).to(dtype),
        right.tensor.to(dtype),
    ]
    if not dtype.is_floating_point:
        tensors = [tensor.cpu() for tensor in tensors]  # elsewhere torch has no such product
    every = (*both, *missing)
    kept = tuple(label for label in both if label not in labels)
    axes = [
        [every.index(label) for label in side]
        for side in ((*left.labels, *missing), right.labels, kept)
    ]
    total = torch.einsum(tensors[0], axes[0], tensors[1], axes[1], axes[2])
    return Value(total.to(device) + 0, kept)  # a sum starts from 0, so that one of -0 is 0
