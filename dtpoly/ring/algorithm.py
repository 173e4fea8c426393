"""A Program and inputs in the ring in, what each Func is out: straight from the definitions."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    ProgramId,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
)
from dtpoly.algorithm.program import Program, in_order
from dtpoly.ring import field
from dtpoly.ring.interpreter import power, tanh, whole_of

# Floats are elements of the ring; whole numbers and bools are themselves.
Array: TypeAlias = NDArray[Any]
# Beyond this, floats of 64 bits lack whole numbers.
EXACT = 2**53
NUMPY = {
    DType.BOOL: np.bool_,
    DType.U8: np.uint8,
    DType.I8: np.int8,
    DType.I16: np.int16,
    DType.I32: np.int32,
    DType.I64: np.int64,
}


class NoRing(Exception):
    """The Program has something that the ring cannot say; with what it is."""


@dataclass(frozen=True)
class Value:
    """An array with an axis for each of its labels, in order."""

    labels: tuple[str, ...]
    array: Array


def in_ring(
    program: Program, inputs: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """Every Func."""
    known: dict[str, Array] = {}
    for func in in_order(program):
        value = _Reading(sizes, {**inputs, **known}).value(func.body)
        if func.dtype is not None:
            value = Value(value.labels, cast(value.array, func.dtype))
        shape = tuple(sizes[label] for label in func.labels)
        known[func.name] = np.broadcast_to(laid_out(value, func.labels), shape).copy()
    return known


def laid_out(value: Value, labels: Sequence[str]) -> Array:
    """The array with an axis for each of these labels, of one element where it lacks it."""
    order = [value.labels.index(label) for label in labels if label in value.labels]
    array = value.array.transpose(order)
    return array[tuple(slice(None) if label in value.labels else None for label in labels)]


def cast(array: Array, dtype: DType) -> Array:
    """The values as those of another type; floats are all alike."""
    if is_float(dtype):
        return as_elements(array)
    if array.dtype == np.float64:
        return array != 0 if dtype is DType.BOOL else whole_of(array).astype(NUMPY[dtype])
    return array != 0 if dtype is DType.BOOL else array.astype(NUMPY[dtype])


def as_elements(array: Array) -> Array:
    """Whole numbers and bools as elements."""
    if array.dtype == np.float64:
        return array
    if ((array > EXACT) | (array < -EXACT)).any():
        raise NoRing("whole numbers that a float rounds")
    return field.whole(array)


def _floats(operation: Callable[..., Array]) -> Callable[..., Array]:
    def of_elements(*operands: Array) -> Array:
        return operation(*(as_elements(one) for one in operands))

    return of_elements


def _either(
    of_elements: Callable[..., Array], of_wholes: Callable[..., Array]
) -> Callable[..., Array]:
    def operation(*operands: Array) -> Array:
        if any(one.dtype == np.float64 for one in operands):
            return of_elements(*(as_elements(one) for one in operands))
        if all(one.dtype == np.bool_ for one in operands):
            raise NoRing("arithmetic of bools")
        return of_wholes(*(one.astype(np.int64) for one in operands))

    return operation


def _no_wholes(*_: Array) -> Array:
    raise NoRing("division of whole numbers")


def _tagged(name: str) -> Callable[..., Array]:
    def operation(*operands: Array) -> Array:
        return field.tag(name, *(as_elements(one) for one in operands))

    return operation


def _tagged_or(name: str, of_wholes: Callable[..., Array]) -> Callable[..., Array]:
    return _either(_tagged(name), of_wholes)


def _sigmoid(a: Array) -> Array:
    one = np.asarray(field.number(1))
    return field.divide(one, field.add(one, field.exp(field.negative(a))))


def _clamp(a: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(a, low), high)


def _fma(a: Array, b: Array, c: Array) -> Array:
    return field.add(field.multiply(a, b), c)


def _fma_whole(a: Array, b: Array, c: Array) -> Array:
    return np.asarray(a * b + c)


def _ceil_of_quotient(a: Array, b: Array) -> Array:
    return field.tag("ceil", field.divide(a, b))


def _same(a: Array) -> Array:
    return a


OPERATIONS: dict[str, Callable[..., Array]] = {
    "add": _either(field.add, np.add),
    "sub": _either(field.subtract, np.subtract),
    "mul": _either(field.multiply, np.multiply),
    "neg": _either(field.negative, np.negative),
    "div": _floats(field.divide),
    "fdiv": _floats(field.divide),
    "div_rn": _floats(field.divide),
    "mod": _tagged_or("rem", _no_wholes),
    "cdiv": _either(_ceil_of_quotient, _no_wholes),
    "maximum": _either(np.maximum, np.maximum),
    "minimum": _either(np.minimum, np.minimum),
    "clamp": _either(_clamp, _clamp),
    "fma": _either(_fma, _fma_whole),
    "exp": _floats(field.exp),
    "exp2": _floats(field.exp2),
    "sigmoid": _floats(_sigmoid),
    "tanh": _floats(tanh),
    "pow": _either(power, _no_wholes),
    "sqrt_rn": _tagged("sqrt"),
    "abs": _tagged_or("abs", np.abs),
    "floor": _tagged_or("floor", _same),
    "ceil": _tagged_or("ceil", _same),
    **{name: _tagged(name) for name in ("log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf")},
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}
COMPARED = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


@dataclass(frozen=True)
class _Reading:
    sizes: Mapping[str, int]
    tensors: Mapping[str, Any]

    def value(self, expr: Expr) -> Value:
        match expr:
            case Integer(value=value):
                return Value((), np.asarray(value, np.int64))
            case Float(value=value):
                return Value((), np.asarray(field.number(value)))
            case ScalarRead(name=name):
                given = self.tensors[name]
                if isinstance(given, float):
                    return Value((), np.asarray(field.number(given)))
                return Value((), np.asarray(given))
            case Size(label=label):
                return Value((), np.asarray(self.sizes[label], np.int64))
            case Index(label=label):
                return Value((label,), np.arange(self.sizes[label], dtype=np.int64))
            case ProgramId():
                raise NoRing("program_id")
            case Read():
                return self.read(expr)
            case Apply(operation=operation, operands=operands):
                return self.applied(operation, [self.value(one) for one in operands])
            case Cast(operand=operand, dtype=dtype):
                inner = self.value(operand)
                return Value(inner.labels, cast(inner.array, dtype))
            case Reduce(operation=operation, operand=operand, labels=labels):
                return self.reduced(operation, self.value(operand), labels)
            case Dot(left=left, right=right, labels=labels):
                both = self.applied("mul", [self.value(left), self.value(right)])
                return self.reduced("rsum", both, labels)
            case Reshape(operand=operand):
                return self.value(operand)

    def applied(self, operation: str, operands: list[Value]) -> Value:
        labels = tuple(dict.fromkeys(label for one in operands for label in one.labels))
        arrays = np.broadcast_arrays(*(laid_out(one, labels) for one in operands))
        if operation == "where":
            chosen = np.broadcast_arrays(*_alike(arrays[1], arrays[2]))
            return Value(labels, np.where(arrays[0], *chosen))
        if operation in COMPARED:
            return Value(labels, COMPARED[operation](*_alike(*arrays)))
        if operation == "pow" and (exponent := _small(operands[1])) is not None:
            return Value(labels, reduce(OPERATIONS["mul"], [arrays[0]] * exponent))
        return Value(labels, OPERATIONS[operation](*arrays))

    def reduced(self, operation: str, value: Value, labels: tuple[str, ...]) -> Value:
        shape = tuple(self.sizes[one] for one in dict.fromkeys((*value.labels, *labels)))
        named = tuple(dict.fromkeys((*value.labels, *labels)))
        array = np.broadcast_to(laid_out(value, named), shape)
        kept = tuple(label for label in named if label not in labels)
        array = array.transpose([named.index(one) for one in (*kept, *labels)])
        array = array.reshape(*array.shape[: len(kept)], math.prod(array.shape[len(kept) :]))
        return Value(kept, _along(operation, array))

    def read(self, read: Read) -> Value:
        tensor = np.asarray(self.tensors[read.tensor])
        labels = tuple(dict.fromkeys(label for index in read.indices for label in index.labels))
        places = [self.index(index, labels) for index in read.indices]
        if not places:
            return Value((), tensor)
        places = list(np.broadcast_arrays(*places))
        inside = np.ones(places[0].shape, bool)
        for place, size in zip(places, tensor.shape, strict=True):
            inside = inside & (place >= 0) & (place < size)
        if read.padding is None:
            return Value(labels, tensor[tuple(places)])
        safe = [np.where(inside, place, 0) for place in places]
        empty = 0 in tensor.shape
        found = np.zeros(inside.shape, tensor.dtype) if empty else tensor[tuple(safe)]
        padding = self.value(read.padding)
        names = tuple(dict.fromkeys((*labels, *padding.labels)))
        values = _alike(laid_out(Value(labels, found), names), laid_out(padding, names))
        return Value(names, np.where(laid_out(Value(labels, inside), names), *values))

    def index(self, index: Affine, labels: tuple[str, ...]) -> Array:
        total = np.full((1,) * len(labels), index.constant, np.int64)
        for label, coefficient in index.terms:
            shape = [1] * len(labels)
            shape[labels.index(label)] = self.sizes[label]
            total = total + coefficient * np.arange(self.sizes[label]).reshape(shape)
        return np.broadcast_to(total, tuple(self.sizes[label] for label in labels))


def _small(value: Value) -> int | None:
    """The exponent, if a power is a product."""
    if value.labels or value.array.dtype == np.float64:
        return None
    exponent = int(value.array)
    return exponent if 1 <= exponent <= 16 else None


def _alike(a: Array, b: Array) -> tuple[Array, Array]:
    if a.dtype == np.float64 or b.dtype == np.float64:
        return as_elements(a), as_elements(b)
    return a, b


def _along(operation: str, array: Array) -> Array:
    """The reduction of the last axis."""
    if operation == "rprod" and array.dtype == np.float64:
        result: Array = np.full(array.shape[:-1], field.number(1))
        for at in range(array.shape[-1]):
            result = field.multiply(result, array[..., at])
        return result
    if operation == "rsum" and array.dtype == np.float64:
        return field.total(array, -1)
    if operation in REDUCED:
        return REDUCED[operation](array)
    if operation in ("rmax", "rmin") and array.dtype == np.float64:
        least = operation == "rmax"
        start = np.full((*array.shape[:-1], 1), -np.inf if least else np.inf)
        values = np.concatenate((start, array), axis=-1)
        return np.asarray(values.max(axis=-1) if least else values.min(axis=-1))
    raise NoRing(f"{operation} of whole numbers")


def _sum(array: Array) -> Array:
    return np.asarray(np.sum(array, axis=-1, dtype=np.int64))


def _product(array: Array) -> Array:
    return np.asarray(np.prod(array, axis=-1, dtype=np.int64))


def _any(array: Array) -> Array:
    return np.asarray(np.any(array != 0, axis=-1))


def _all(array: Array) -> Array:
    return np.asarray(np.all(array != 0, axis=-1))


def _largest(array: Array) -> Array:
    return np.asarray(np.argmax(array, axis=-1))


def _smallest(array: Array) -> Array:
    return np.asarray(np.argmin(array, axis=-1))


REDUCED: dict[str, Callable[[Array], Array]] = {
    "rsum": _sum,
    "rprod": _product,
    "rany": _any,
    "rall": _all,
    "rargmax": _largest,
    "rargmin": _smallest,
}
