"""Elementwise operations, reductions and dots of labelled values; torch does the arithmetic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from dtpoly.algorithm.dtypes import summed
from dtpoly.algorithm.expressions import ScanOrder
from dtpoly.algorithm.operations import COMPARISON, OPERATION, ResultRule
from dtpoly.reference.labelled_values import (
    DTYPE,
    TORCH_DTYPE,
    TabulatedValue,
    labels_of,
    laid_out,
    promoted,
    spread,
)
from dtpoly.reference.philox import random, random_bits

Tensor = torch.Tensor

DOUBLE_BITS, TF32_BITS = 52, 10  # of their fractions


def _maximum(a: Tensor, b: Tensor) -> Tensor:
    return torch.maximum(a, b)


def _minimum(a: Tensor, b: Tensor) -> Tensor:
    return torch.minimum(a, b)


def _clamp(a: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return torch.minimum(torch.maximum(a, low), high)


def _divided(a: Tensor, b: Tensor, divide: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Divide whole numbers. By 0 this gives 0, as in NumPy; torch refuses it."""
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


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    """Divide whole numbers and round down.

    The least number divided by -1 wraps to itself. torch does not say so for each type, so -1 gets
    a way of its own.
    """
    opposite = b == -1 if b.dtype.is_signed else torch.zeros_like(b, dtype=torch.bool)

    def down(dividend: Tensor, divisor: Tensor) -> Tensor:
        safe = torch.where(opposite, 1, divisor)
        found = torch.div(dividend, safe, rounding_mode="floor")
        return torch.where(opposite, torch.neg(dividend), found)

    return _divided(a, b, down)


def _is_far(a: Tensor, b: Tensor) -> Tensor:
    """Find the shifts that leave no bit of a number: by its width or more, or by less than 0."""
    return (b < 0) | (b >= 8 * a.element_size())


def _shl(a: Tensor, b: Tensor) -> Tensor:
    far = _is_far(a, b)
    return torch.where(far, 0, torch.bitwise_left_shift(a, torch.where(far, 0, b))).to(a.dtype)


def _shr(a: Tensor, b: Tensor) -> Tensor:
    far = _is_far(a, b)
    near = torch.bitwise_right_shift(a, torch.where(far, 0, b))
    return torch.where(far, torch.where(a < 0, -1, 0).to(a.dtype), near).to(a.dtype)


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
    "quotient": _quotient,
    "shl": _shl,
    "shr": _shr,
    "bitand": torch.bitwise_and,
    "bitor": torch.bitwise_or,
    "bitxor": torch.bitwise_xor,
    "invert": torch.bitwise_not,
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
    "random": random,
    "random_bits": random_bits,
    "round": torch.round,
    "rsqrt": torch.rsqrt,
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "sqrt": torch.sqrt,
    "sqrt_rn": torch.sqrt,
    "tanh": torch.tanh,
    "trunc": torch.trunc,
    "where": torch.where,
}


def apply(
    operation: str, operands: Sequence[TabulatedValue], compute: torch.dtype
) -> TabulatedValue:
    """Return an elementwise operation; operands meet where they share a label."""
    result = OPERATION[operation].result
    conditions = list(operands[:1]) if result is ResultRule.CHOSEN else []
    if result in (ResultRule.LONG, ResultRule.SINGLE):
        return _drawn(operation, operands, compute)
    compared = operands[len(conditions) :]
    if OPERATION[operation].precedence == COMPARISON:
        # A number that the other side's type cannot hold is still compared as what it is.
        compared = [replace(value, weak=value.weak and _is_float(value)) for value in compared]
    values, weak = promoted(compared)
    if result is ResultRule.BOOL:
        # What numbers alone are compared to is as weak as they are.
        weak = all(value.weak for value in operands)
    if result is ResultRule.FLOAT and not _is_float(values[0]):
        # Not by way of the whole-number type: it may not hold a number that stands beside it.
        values = [replace(value, tensor=value.tensor.to(compute)) for value in compared]
    dtype = values[0].tensor.dtype
    labels = labels_of(operands)
    tensors = [laid_out(value, labels) for value in (*conditions, *values)]
    # bool + bool is bool in torch, but not every operation has a kernel for it.
    has_bools = OPERATION[operation].operands_are_whole  # such an operation knows bools as they are
    through_bytes = result is ResultRule.PROMOTED and dtype is torch.bool and not has_bools
    if through_bytes:
        tensors = [tensor.to(torch.uint8) for tensor in tensors]
    total: Tensor = ELEMENTWISE[operation](*tensors)
    return TabulatedValue(total.bool() if through_bytes else total, labels, weak)


def _drawn(
    operation: str, operands: Sequence[TabulatedValue], compute: torch.dtype
) -> TabulatedValue:
    """Return what is drawn for a seed and two numbers; each becomes one of 64 bits by itself."""
    labels = labels_of(operands)
    total: Tensor = ELEMENTWISE[operation](
        *(laid_out(value, labels).to(torch.int64) for value in operands)
    )
    return TabulatedValue(total.to(compute) if total.is_floating_point() else total, labels)


def _is_float(value: TabulatedValue) -> bool:
    return value.tensor.dtype.is_floating_point


def _extreme(tensor: Tensor, axes: Sequence[int], *, largest: bool) -> Tensor:
    if any(tensor.shape[axis] == 0 for axis in axes):
        kept = [size for axis, size in enumerate(tensor.shape) if axis not in axes]
        return tensor.new_full(kept, _identity(tensor.dtype, largest=largest))
    return tensor.amax(list(axes)) if largest else tensor.amin(list(axes))


def _identity(dtype: torch.dtype, *, largest: bool) -> float | int | bool:
    """Return the least value that there is, or the greatest."""
    if dtype is torch.bool:
        return not largest
    if dtype.is_floating_point:
        return float("-inf" if largest else "inf")
    bounds = torch.iinfo(dtype)
    return bounds.min if largest else bounds.max


def _first_extreme(
    tensor: Tensor, axes: Sequence[int], taken: Tensor | None, *, largest: bool
) -> Tensor:
    """Place of the first extreme, counted over the axes in the order given.

    torch.argmax promises no order among equals, so the first place is looked for.
    """
    kept = [axis for axis in range(tensor.dim()) if axis not in axes]
    lines = tensor.permute(*kept, *axes).flatten(len(kept))
    best = _extreme(lines, [len(kept)], largest=largest).unsqueeze(-1)
    hit = (lines == best) | (lines.isnan() & best.isnan())
    if taken is not None:
        hit = hit & taken.permute(*kept, *axes).flatten(len(kept))
    places = torch.arange(lines.shape[-1], device=lines.device)
    return torch.where(hit, places, lines.shape[-1]).amin(-1)


def _product(tensor: Tensor, axes: Sequence[int], dtype: torch.dtype) -> Tensor:
    for axis in sorted(axes, reverse=True):
        tensor = tensor.prod(axis, dtype=dtype)
    return tensor


def _neutral(operation: str, dtype: torch.dtype) -> float | int | bool:
    """Return the value that changes nothing in a reduction."""
    if operation in ("rmax", "rargmax", "rmin", "rargmin"):
        return _identity(dtype, largest=operation.endswith("max"))
    return operation in ("rprod", "rall")


def reduce(
    operation: str,
    operand: TabulatedValue,
    labels: Sequence[str],
    sizes: Mapping[str, int],
    taken: TabulatedValue | None = None,
) -> TabulatedValue:
    """Reduce over labels; sums and products of whole numbers widen (see `dtypes.summed`).

    Only the indices that are taken count, if not all of them are.
    """
    every = labels_of((operand, taken) if taken else (operand,))
    kept = tuple(label for label in every if label not in labels)
    tensor = spread(operand, (*kept, *labels), sizes)
    axes = tuple(range(len(kept), len(kept) + len(labels)))
    dtype = _summed(tensor.dtype)
    where = None if taken is None else spread(taken, (*kept, *labels), sizes)
    if where is not None:
        tensor = tensor.masked_fill(~where, _neutral(operation, tensor.dtype))
    match operation:
        case "rsum":
            return TabulatedValue(tensor.sum(axes, dtype=dtype) + 0, kept)
        case "rprod":
            return TabulatedValue(_product(tensor, axes, dtype), kept)
        case "rmax":
            return TabulatedValue(_extreme(tensor, axes, largest=True), kept)
        case "rmin":
            return TabulatedValue(_extreme(tensor, axes, largest=False), kept)
        case "rany":
            return TabulatedValue(tensor.any(axes), kept)
        case "rall":
            return TabulatedValue(tensor.all(axes), kept)
        case "rargmax":
            return TabulatedValue(_first_extreme(tensor, axes, where, largest=True), kept)
        case "rargmin":
            return TabulatedValue(_first_extreme(tensor, axes, where, largest=False), kept)
        case _:
            raise AssertionError(f"no such reduction: {operation}")


def scan(
    operation: str,
    operand: TabulatedValue,
    label: str,
    order: ScanOrder,
    sizes: Mapping[str, int],
) -> TabulatedValue:
    """Return the reduction up to each index of a label, element after element."""
    kept = tuple(other for other in operand.labels if other != label)
    tensor = spread(operand, (*kept, label), sizes)
    if order.is_reverse:
        tensor = tensor.flip(-1)
    dtype = _summed(tensor.dtype)
    match operation:
        case "rsum":
            found = tensor.cumsum(-1, dtype=dtype) + 0
        case "rprod":
            found = tensor.cumprod(-1, dtype=dtype)
        case "rmax" | "rmin":
            found = _extremes_so_far(tensor, largest=operation == "rmax")
        case _:
            raise AssertionError(f"no such scan: {operation}")
    if order.is_before and found.shape[-1]:
        first = torch.full_like(found[..., :1], _neutral(operation, found.dtype))
        found = torch.cat((first, found[..., :-1]), -1)
    if order.is_reverse:
        found = found.flip(-1)
    return TabulatedValue(found, (*kept, order.at))


def recurrence(
    factor: TabulatedValue,
    added: TabulatedValue,
    first: TabulatedValue,
    label: str,
    order: ScanOrder,
    sizes: Mapping[str, int],
) -> TabulatedValue:
    """Return the results of h = a * h + b up to each index of a label, element after element."""
    (factor, added, first), _ = promoted((factor, added, first))
    kept = tuple(other for other in labels_of((factor, added, first)) if other != label)
    scale, more = (spread(one, (*kept, label), sizes) for one in (factor, added))
    state = spread(first, kept, sizes).to(scale.dtype)
    found = torch.empty(more.shape, dtype=scale.dtype, device=scale.device)
    places = range(sizes[label])
    for place in reversed(places) if order.is_reverse else places:
        if order.is_before:
            found[..., place] = state
        state = scale[..., place] * state + more[..., place]
        if not order.is_before:
            found[..., place] = state
    return TabulatedValue(found, (*kept, order.at))


def _extremes_so_far(tensor: Tensor, *, largest: bool) -> Tensor:
    """Return the largest or smallest element up to each one; a NaN stays from where it is on."""
    if not tensor.shape[-1]:
        return tensor
    found = (tensor.cummax(-1) if largest else tensor.cummin(-1)).values
    if not tensor.dtype.is_floating_point:
        return found
    return found.masked_fill(tensor.isnan().cumsum(-1) > 0, float("nan"))


def _summed(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else TORCH_DTYPE[summed(DTYPE[dtype])]


def _cut(tensor: Tensor) -> Tensor:
    """Keep the bits of each fraction that tf32 has, and set the others to 0 as tensor cores do."""
    beyond = (1 << DOUBLE_BITS - TF32_BITS) - 1
    kept = tensor.double().view(torch.int64) & ~beyond
    return kept.view(torch.float64).to(tensor.dtype)


def dot(
    left: TabulatedValue,
    right: TabulatedValue,
    labels: Sequence[str],
    sizes: Mapping[str, int],
    *,
    is_rough: bool = False,
    taken: TabulatedValue | None = None,
) -> TabulatedValue:
    """Return the sum over the labels of the products, exact for whole numbers until they wrap.

    Only the indices that are taken count, if not all of them are: a product that is not taken
    adds nothing, whatever its factors are.
    """
    (left, right), _ = promoted((left, right))
    if is_rough and _is_float(left):
        left, right = (replace(side, tensor=_cut(side.tensor)) for side in (left, right))
    if taken is not None:
        every = labels_of((left, right, taken))
        sides = [
            spread(side, every, sizes).to(_summed(side.tensor.dtype)) for side in (left, right)
        ]
        return reduce("rsum", TabulatedValue(sides[0] * sides[1], every), labels, sizes, taken)
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
    return TabulatedValue(total.to(device) + 0, kept)  # a sum starts from 0, so that one of -0 is 0
