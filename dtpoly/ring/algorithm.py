"""Computes each Func of a Program in the ring, straight from its definition.

The ring's test compares these values with those that the kernels store.
"""

import math
from collections.abc import Mapping
from typing import Any, assert_never

import numpy as np

from dtpoly.algorithm.dtypes import DType, is_float, summed
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
from dtpoly.frozen import dataclass
from dtpoly.ring import field
from dtpoly.ring.operations import applied, joined
from dtpoly.ring.reductions import along
from dtpoly.ring.values import DTYPE, Array, NoRing, Value, cast, cast_as_told, converted, laid_out


def in_ring(
    program: Program, inputs: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """Every Func; tensors are arrays, and scalars are of the dtypes that the Program declares."""
    scalars = {one.name: _scalar(inputs[one.name], one.dtype) for one in program.scalars}
    known: dict[str, Array] = {}
    for func in in_order(program):
        value = _Reading(sizes, {**inputs, **known}, scalars).value(func.body)
        if func.dtype is not None:
            value = converted(value, func.dtype)
        shape = tuple(sizes[label] for label in func.labels)
        known[func.name] = np.broadcast_to(laid_out(value, func.labels), shape).copy()
    return known


def _scalar(given: Any, dtype: DType | None) -> Value:
    """A scalar input: a number, which is weak beside a tensor."""
    if dtype is None or is_float(dtype):
        return Value((), np.asarray(field.number(float(given))), weak=True)
    return Value((), cast(np.asarray(given), dtype), weak=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    sizes: Mapping[str, int]
    tensors: Mapping[str, Any]
    scalars: Mapping[str, Value]

    def value(self, expr: Expr) -> Value:
        match expr:
            case Integer(value=value):
                return Value((), np.asarray(value, np.int64), weak=True, literal=value)
            case Float(value=value):
                return Value((), np.asarray(field.number(value)), weak=True, literal=value)
            case ScalarRead(name=name):
                return self.scalars[name]
            case Size(label=label):
                return Value((), np.asarray(self.sizes[label], np.int64), weak=True)
            case Index(label=label):
                return Value((label,), np.arange(self.sizes[label], dtype=np.int64))
            case ProgramId():
                raise NoRing("program_id")
            case Read():
                return self.read(expr)
            case Apply(operation=operation, operands=operands):
                return applied(operation, [self.value(one) for one in operands])
            case Cast(operand=operand, dtype=dtype):
                return cast_as_told(self.value(operand), dtype)
            case Reduce(operation=operation, operand=operand, labels=labels):
                return self.reduced(operation, self.value(operand), labels)
            case Dot(left=left, right=right, labels=labels):
                return self.dot(self.value(left), self.value(right), labels)
            case Reshape(operand=operand):
                return self.value(operand)
            case _:
                assert_never(expr)

    def dot(self, left: Value, right: Value, labels: tuple[str, ...]) -> Value:
        """The sum of the products, both in the type of the sum."""
        dtype = joined((left, right)).dtype
        assert dtype is not None
        both = [converted(one, summed(dtype)) for one in (left, right)]
        return self.reduced("rsum", applied("mul", both), labels)

    def reduced(self, operation: str, value: Value, labels: tuple[str, ...]) -> Value:
        shape = tuple(self.sizes[one] for one in dict.fromkeys((*value.labels, *labels)))
        named = tuple(dict.fromkeys((*value.labels, *labels)))
        array = np.broadcast_to(laid_out(value, named), shape)
        kept = tuple(label for label in named if label not in labels)
        array = array.transpose([named.index(one) for one in (*kept, *labels)])
        array = array.reshape(*array.shape[: len(kept)], math.prod(array.shape[len(kept) :]))
        return Value(kept, along(operation, array))

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
        padding = converted(self.value(read.padding), DTYPE[tensor.dtype])
        names = tuple(dict.fromkeys((*labels, *padding.labels)))
        parts = (Value(labels, inside), Value(labels, found), padding)
        return Value(names, np.where(*(laid_out(one, names) for one in parts)))

    def index(self, index: Affine, labels: tuple[str, ...]) -> Array:
        total = np.full((1,) * len(labels), index.constant, np.int64)
        for label, coefficient in index.terms:
            shape = [1] * len(labels)
            shape[labels.index(label)] = self.sizes[label]
            total = total + coefficient * np.arange(self.sizes[label]).reshape(shape)
        return np.broadcast_to(total, tuple(self.sizes[label] for label in labels))
