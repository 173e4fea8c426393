"""Reduces the last axis of an array in the ring, in the type that the language says."""

from collections.abc import Callable, Mapping

import numpy as np

from dtpoly.algorithm.dtypes import DType, is_float, summed
from dtpoly.algorithm.operations import LIST
from dtpoly.ring import ring_elements as field
from dtpoly.ring.ring_values import DTYPE, Array, NoRing, cast, is_elements


def along(operation: str, array: Array) -> Array:
    """Reduce the last axis; sums and products of whole numbers wrap in their type."""
    if operation in ("rsum", "rprod"):
        if is_elements(array):
            return field.total(array, -1) if operation == "rsum" else _product_of_elements(array)
        dtype = summed(DTYPE[array.dtype])
        return _summed(operation, cast(array, dtype))
    if operation in ("rmax", "rmin"):
        return _extreme(array, largest=operation == "rmax")
    if operation == LIST:
        raise NoRing("a list of the largest")
    return REDUCED[operation](array)


def nothing(operation: str, array: Array) -> Array:
    """Return the value that changes nothing in a reduction. Raises NoRing where there is none."""
    if operation in ("rmax", "rmin"):
        return np.asarray(_identity(array, largest=operation == "rmax"), array.dtype)
    if operation in ("rargmax", "rargmin"):
        raise NoRing(f"{operation} over a range")
    number = int(operation in ("rprod", "rall"))
    return np.asarray(field.number(number) if is_elements(array) else number).astype(array.dtype)


def _product_of_elements(array: Array) -> Array:
    result: Array = np.full(array.shape[:-1], field.number(1))
    for at in range(array.shape[-1]):
        result = field.multiply(result, array[..., at])
    return result


def _summed(operation: str, array: Array) -> Array:
    total = np.sum if operation == "rsum" else np.prod
    return np.asarray(total(array, axis=-1, dtype=array.dtype))


def _extreme(array: Array, *, largest: bool) -> Array:
    """Return the largest or smallest element; of nothing the smallest or largest that there is."""
    start = np.full((*array.shape[:-1], 1), _identity(array, largest=largest), array.dtype)
    values = np.concatenate((start, array), axis=-1)
    return np.asarray(values.max(axis=-1) if largest else values.min(axis=-1))


def _identity(array: Array, *, largest: bool) -> float | int | bool:
    dtype = DTYPE[array.dtype]
    if is_float(dtype):
        return -np.inf if largest else np.inf
    if dtype is DType.BOOL:
        return not largest
    bounds = np.iinfo(array.dtype)
    return int(bounds.min if largest else bounds.max)


def _any(array: Array) -> Array:
    return np.asarray(np.any(array != 0, axis=-1))


def _all(array: Array) -> Array:
    return np.asarray(np.all(array != 0, axis=-1))


def _largest(array: Array) -> Array:
    return np.asarray(np.argmax(array, axis=-1))


def _smallest(array: Array) -> Array:
    return np.asarray(np.argmin(array, axis=-1))


REDUCED: Mapping[str, Callable[[Array], Array]] = {
    "rany": _any,
    "rall": _all,
    "rargmax": _largest,
    "rargmin": _smallest,
}
