"""Sets of floats: everything that a computation may give, whatever the order of its roundings.

A set is an interval, and NaN if `nan`; of NaN alone the interval is empty. Ends are f64. All that
is computed from sets contains every result that some choice of their elements has, rounded or not
to the type in which it is computed.
"""

from dataclasses import dataclass
from math import inf

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.reference.labelled_values import TORCH_DTYPE

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Floats:
    """A set of floats for each element of a tensor: all from low to high, and perhaps NaN."""

    low: Tensor
    high: Tensor
    nan: Tensor

    @property
    def is_nan(self) -> Tensor:
        """True where the set has only NaN."""
        return self.low > self.high

    @property
    def size(self) -> Tensor:
        """Return the largest absolute value."""
        return torch.maximum(self.low.abs(), self.high.abs())

    def has(self, value: float) -> Tensor:
        """True where a number is in the set."""
        return (self.low <= value) & (value <= self.high)

    @property
    def is_point(self) -> Tensor:
        """True where the set has a single element."""
        return ((self.low == self.high) & ~self.nan) | self.is_nan


@dataclass(frozen=True, slots=True)
class Precision:
    """The type in which floats are computed."""

    dtype: torch.dtype

    @property
    def unit(self) -> float:
        """Return the largest relative error of a rounding."""
        return torch.finfo(self.dtype).eps / 2

    @property
    def tiny(self) -> float:
        """Return the smallest number that has all its digits; smaller ones may become 0."""
        return torch.finfo(self.dtype).tiny

    @property
    def largest(self) -> float:
        """Return the largest finite number."""
        return torch.finfo(self.dtype).max


SINGLE, DOUBLE = Precision(torch.float32), Precision(torch.float64)


def point(tensor: Tensor) -> Floats:
    """Return sets with one element each, which are the elements of a tensor."""
    exact = tensor.double()
    nan = exact.isnan()
    low, high = torch.where(nan, inf, exact), torch.where(nan, -inf, exact)
    return Floats(low, high, nan)


def settled(low: Tensor, high: Tensor, nan: Tensor, *operands: Floats) -> Floats:
    """Return sets with these ends.

    They have all floats where an end is unknown, and NaN where an operand is NaN.
    """
    unknown = low.isnan() | high.isnan()
    low = torch.where(unknown, -inf, low)
    high = torch.where(unknown, inf, high)
    nan = nan | unknown
    for operand in operands:
        nan = nan | operand.nan
        low = torch.where(operand.is_nan, inf, low)
        high = torch.where(operand.is_nan, -inf, high)
    return Floats(low, high, nan)


def anything_where(condition: Tensor, values: Floats) -> Floats:
    """Return the sets, with all floats where a condition holds."""
    is_open = condition & ~values.is_nan
    return Floats(
        torch.where(is_open, -inf, values.low),
        torch.where(is_open, inf, values.high),
        values.nan | is_open,
    )


def hull(one: Floats, two: Floats) -> Floats:
    """Return sets with everything that is in one of two sets."""
    return Floats(
        torch.minimum(one.low, two.low), torch.maximum(one.high, two.high), one.nan | two.nan
    )


def perhaps_rounded(values: Floats, dtype: DType) -> Floats:
    """Return the sets with what is in them rounded to a type.

    Too large numbers become the largest there is, an infinity, or NaN in a type without infinities.
    """
    if dtype is DType.F64:
        return values
    theirs = TORCH_DTYPE[dtype]
    largest = torch.finfo(theirs).max

    def rounded(end: Tensor) -> Tensor:
        # Through f32 a number would be rounded twice, but not by more than its neighbour.
        return end.clamp(-largest, largest).to(theirs).double()

    low = torch.minimum(values.low, rounded(values.low))
    high = torch.maximum(values.high, rounded(values.high))
    over = (values.high > largest) & ~values.is_nan
    under = (values.low < -largest) & ~values.is_nan
    nan = values.nan | (over | under if dtype is DType.F8E4M3 else False)
    high = torch.where(over, inf, high)
    low = torch.where(under, -inf, low)
    return settled(
        torch.where(over, low.clamp(max=largest), low),
        torch.where(under, high.clamp(min=-largest), high),
        nan,
        values,
    )


def rounded(values: Floats, precision: Precision) -> Floats:
    """Return the possible results of operations that round once, correctly, to a type."""
    if precision is DOUBLE:
        return widened(values, precision, 2)
    return _flushed(perhaps_rounded(values, DType.F32), precision)


def widened(values: Floats, precision: Precision, units: float | Tensor) -> Floats:
    """Return the sets, made wider by so many units of rounding."""
    share = units * precision.unit
    low = values.low - torch.where(values.low.isinf(), 0, values.low.abs() * share)
    high = values.high + torch.where(values.high.isinf(), 0, values.high.abs() * share)
    largest = precision.largest
    low = torch.where(low < -largest, -inf, low)
    high = torch.where(high > largest, inf, high)
    wide = Floats(
        torch.where(low > largest, largest, low),
        torch.where(high < -largest, -largest, high),
        values.nan,
    )
    return _flushed(settled(wide.low, wide.high, wide.nan, values), precision)


def moved(values: Floats, by: float | Tensor) -> Floats:
    """Return the sets, made wider by so much on both sides."""
    return settled(values.low - by, values.high + by, values.nan, values)


def _flushed(values: Floats, precision: Precision) -> Floats:
    """Return the sets in which very small numbers may have lost their digits, or be 0."""
    near = 4 * precision.tiny
    low, high = values.low, values.high
    return Floats(
        torch.where((low != 0) & (low.abs() < near), low.clamp(max=0) - near * (low < 0), low),
        torch.where((high != 0) & (high.abs() < near), high.clamp(min=0) + near * (high > 0), high),
        values.nan,
    )
