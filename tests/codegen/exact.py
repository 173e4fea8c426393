"""The set of values that a result may be: floats, or a whole number or boolean, known or open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.inference import LARGEST
from dtpoly.reference.labelled_values import TORCH_DTYPE
from tests.codegen.floats import (
    DOUBLE,
    SINGLE,
    Floats,
    Precision,
    perhaps_rounded,
    point,
    settled,
    widened,
)

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """Whole numbers or booleans; where not known, any."""

    tensor: Tensor
    known: Tensor


Allowed = Floats | Exact


def exactly(tensor: Tensor) -> Allowed:
    if tensor.dtype.is_floating_point:
        return point(tensor)
    return Exact(tensor, torch.ones_like(tensor, dtype=torch.bool))


def parts(value: Allowed) -> tuple[Tensor, ...]:
    match value:
        case Floats(low=low, high=high, nan=nan):
            return low, high, nan
        case Exact(tensor=tensor, known=known):
            return tensor, known


def each(value: Allowed, change: Callable[[Tensor], Tensor]) -> Allowed:
    match value:
        case Floats(low=low, high=high, nan=nan):
            return Floats(change(low), change(high), change(nan))
        case Exact(tensor=tensor, known=known):
            return Exact(change(tensor), change(known))


def as_floats(value: Allowed, precision: Precision) -> Floats:
    """Whole numbers as floats, rounded or not; of those that are not known all of their type."""
    match value:
        case Floats():
            return value
        case Exact(tensor=tensor, known=known):
            double = tensor.double()
            exact = widened(point(tensor), DOUBLE, torch.where(double.abs() < 2.0**53, 0.0, 2.0))
            if precision is SINGLE:
                exact = perhaps_rounded(exact, DType.F32)
            low, high = limits(tensor.dtype)
            return Floats(
                torch.where(known, exact.low, low), torch.where(known, exact.high, high), exact.nan
            )


def limits(dtype: torch.dtype) -> tuple[float, float]:
    if dtype is torch.bool:
        return 0.0, 1.0
    bounds = torch.iinfo(dtype)
    return float(bounds.min), float(bounds.max)


def logical(operation: str, values: Sequence[Allowed]) -> Exact:
    """`and`, `or`, `not`, of which some may be known although an operand is not."""
    exact: list[Exact] = []
    for value in values:
        assert isinstance(value, Exact)
        exact.append(value)
    if operation == "not":
        return Exact(~exact[0].tensor.bool(), exact[0].known)
    one, two = exact
    a, b = one.tensor.bool(), two.tensor.bool()
    decisive = operation == "or"
    known = (one.known & two.known) | (one.known & (a == decisive)) | (two.known & (b == decisive))
    return Exact(
        torch.where(known & ~(one.known & two.known), decisive, (a | b) if decisive else (a & b)),
        known,
    )


def compared(operation: str, one: Floats, two: Floats) -> Exact:
    """Return a comparison; NaN is like nothing, itself included."""
    nan, is_nan = one.nan | two.nan, one.is_nan | two.is_nan
    match operation:
        case "lt" | "le" | "gt" | "ge":
            if operation in ("gt", "ge"):
                one, two = two, one
            if operation in ("lt", "gt"):
                yes, no = one.high < two.low, one.low >= two.high
            else:
                yes, no = one.high <= two.low, one.low > two.high
            yes, no = yes & ~nan, no | is_nan
        case _:
            same = (one.low == one.high) & (two.low == two.high) & (one.low == two.low) & ~nan
            apart = (one.high < two.low) | (two.high < one.low) | is_nan
            yes, no = (same, apart) if operation == "eq" else (apart, same)
    return Exact(yes, yes | no)


def cast(value: Allowed, source: DType | None, dtype: DType) -> Allowed:
    """Values of a type rounded to another one, for certain."""
    theirs = TORCH_DTYPE[dtype]
    if is_float(dtype):
        floats = as_floats(value, DOUBLE)
        if dtype is DType.F64:
            return floats
        # On the way from f64 a number may be rounded to f32 first.
        near = widened(floats, DOUBLE, 0)
        if source in (DType.F64, DType.I64, DType.I32):
            near = perhaps_rounded(near, DType.F32)
        wide = perhaps_rounded(near, dtype)
        largest = torch.finfo(theirs).max

        def cut(end: Tensor) -> Tensor:
            inside = end.abs() <= largest
            return torch.where(inside, end.clamp(-largest, largest).to(theirs).double(), end)

        return settled(cut(wide.low), cut(wide.high), wide.nan, floats)
    if isinstance(value, Exact):
        return Exact(value.tensor.to(theirs), value.known)
    if dtype is DType.BOOL:
        no = (value.low == 0) & (value.high == 0) & ~value.nan
        return Exact(~no, no | ~value.has(0))
    low, high = value.low.trunc(), value.high.trunc()
    least, most = -LARGEST[dtype] - 1 if dtype is not DType.U8 else 0, LARGEST[dtype]
    known = (low == high) & (low >= least) & (high <= most) & ~value.nan & (high < 2.0**62)
    number = torch.where(known, low, 0.0).to(theirs)
    return Exact(number, known)
