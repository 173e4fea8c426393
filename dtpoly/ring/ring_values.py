"""Arrays with an axis for each label, of elements, whole numbers or bools, and their types."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dtpoly.algorithm.dtypes import DType, is_float, is_integer
from dtpoly.algorithm.inference import LARGEST, InferredType
from dtpoly.frozen import dataclass
from dtpoly.ring import ring_elements as field
from dtpoly.ring.interpreter import whole_of

# Floats are elements of the ring; whole numbers and bools are themselves.
Array: TypeAlias = NDArray[Any]
# Beyond this, floats of 64 bits lack whole numbers, and a text may hold another one.
EXACT = 2**53
NUMPY: Mapping[DType, type[np.generic]] = {
    DType.BOOL: np.bool_,
    DType.U8: np.uint8,
    DType.I8: np.int8,
    DType.I16: np.int16,
    DType.I32: np.int32,
    DType.I64: np.int64,
}
# In the ring all floats are alike.
DTYPE: Mapping[Any, DType] = {
    **{np.dtype(theirs): ours for ours, theirs in NUMPY.items()},
    np.dtype(np.float64): DType.F64,
}


class NoRing(Exception):
    """The Program has something that the ring cannot say; with what it is."""


@dataclass(frozen=True, slots=True, eq=False)
class RingValue:
    """An array with an axis for each of its labels, in order; a weak one is a number.

    Of a literal it is known which one: what a cast makes of it is no tag.
    """

    labels: tuple[str, ...]
    array: Array
    weak: bool = False
    literal: int | float | None = None

    @property
    def type(self) -> InferredType:
        """Return the type that the value counts as where types are promoted."""
        return InferredType(DTYPE[self.array.dtype], self.weak)


def laid_out(value: RingValue, labels: Sequence[str]) -> Array:
    """Return the array with an axis for each of these labels, of one element where it lacks it."""
    order = [value.labels.index(label) for label in labels if label in value.labels]
    array = value.array.transpose(order)
    return array[tuple(slice(None) if label in value.labels else None for label in labels)]


def converted(value: RingValue, dtype: DType) -> RingValue:
    """Return the values as those of another type: whole numbers wrap, floats are all alike."""
    if not is_float(dtype):
        return RingValue(value.labels, cast(value.array, dtype))
    if isinstance(value.literal, int) and abs(value.literal) > EXACT:
        raise NoRing("a whole number that a float rounds")
    return RingValue(value.labels, as_elements(value.array))


def cast_as_told(value: RingValue, dtype: DType) -> RingValue:
    """Apply `cast`. Raises NoRing where the language leaves open what the result is."""
    if not isinstance(value.literal, float) or not is_integer(dtype):
        return converted(value, dtype)
    least = 0 if dtype is DType.U8 else -LARGEST[dtype] - 1
    if not least - 1 < value.literal < LARGEST[dtype] + 1:
        raise NoRing(f"a float that {dtype} lacks")
    return RingValue(value.labels, np.asarray(int(value.literal), NUMPY[dtype]))


def cast(array: Array, dtype: DType) -> Array:
    """Return the values as bools or whole numbers."""
    if dtype is DType.BOOL:
        return np.asarray(array != 0)
    return (whole_of(array) if is_elements(array) else array).astype(NUMPY[dtype])


def is_elements(array: Array) -> bool:
    """Return whether it holds floats."""
    return array.dtype == np.float64


def as_elements(array: Array) -> Array:
    """Return values as elements, whole numbers and bools too."""
    return array if is_elements(array) else field.whole(array)
