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
    Conditions,
    DataIndex,
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
    ScanOrder,
    Size,
    labels_of_conditions,
)
from dtpoly.algorithm.outside import padding_of
from dtpoly.algorithm.program import Into, Program, in_order
from dtpoly.algorithm.sum_starts import with_typed_starts
from dtpoly.frozen import dataclass
from dtpoly.ring import ring_elements as field
from dtpoly.ring.ring_operations import applied, joined
from dtpoly.ring.ring_reductions import along, nothing
from dtpoly.ring.ring_values import (
    DTYPE,
    Array,
    NoRing,
    RingValue,
    cast,
    cast_as_told,
    converted,
    is_elements,
    laid_out,
)


def in_ring(
    program: Program, inputs: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """Compute every Func; tensors are arrays, and scalars have the declared dtypes."""
    scalars = {one.name: _scalar(inputs[one.name], one.dtype) for one in program.scalars}
    known: dict[str, Array] = {}
    for func in in_order(with_typed_starts(program)):
        reading = _RingReading(sizes, {**inputs, **known}, scalars)
        value = reading.value(func.body)
        if func.when:
            value = reading.taken(value, func.when, np.zeros((), value.array.dtype))
        if func.dtype is not None:
            value = converted(value, func.dtype)
        shape = tuple(sizes[label] for label in func.labels)
        known[func.name] = np.broadcast_to(laid_out(value, func.labels), shape).copy()
        if func.into is not None and func.into.at is not None:
            known[func.name] = reading.placed(known[func.name], func.labels, func.into)
    return known


def _added(whole: Array, chosen: Array, values: Array) -> Array:
    """Return a tensor to which values are added at flat places, one after another."""
    flat = whole.reshape(-1)
    for place, value in zip(chosen, values, strict=True):
        if is_elements(whole):
            flat[place] = field.add(flat[place : place + 1], np.asarray([value]))[0]
        else:
            flat[place] += value
    return whole


def _scalar(given: Any, dtype: DType | None) -> RingValue:
    """Return a scalar input: a number, which is weak beside a tensor."""
    if dtype is None or is_float(dtype):
        return RingValue((), np.asarray(field.number(float(given))), weak=True)
    return RingValue((), cast(np.asarray(given), dtype), weak=True)


@dataclass(frozen=True, slots=True, eq=False)
class _RingReading:
    sizes: Mapping[str, int]
    tensors: Mapping[str, Any]
    scalars: Mapping[str, RingValue]

    def value(self, expr: Expr) -> RingValue:
        match expr:
            case Integer(value=value):
                return RingValue((), np.asarray(value, np.int64), weak=True, literal=value)
            case Float(value=value):
                return RingValue((), np.asarray(field.number(value)), weak=True, literal=value)
            case ScalarRead(name=name):
                return self.scalars[name]
            case Size(label=label):
                return RingValue((), np.asarray(self.sizes[label], np.int64), weak=True)
            case Index(label=label):
                return RingValue((label,), np.arange(self.sizes[label], dtype=np.int64))
            case ProgramId():
                raise NoRing("program_id")
            case Read():
                return self.read(expr)
            case Apply(operation=operation, operands=operands):
                return applied(operation, [self.value(one) for one in operands])
            case Cast(operand=operand, dtype=dtype):
                return cast_as_told(self.value(operand), dtype)
            case Reduce(scan=ScanOrder(factor=factor, initial=initial) as order) if (
                factor is not None and initial is not None
            ):
                return self.recurrence(expr, order, (factor, expr.operand, initial))
            case Reduce(operation=operation, operand=operand, labels=labels, when=when):
                return self.reduced(operation, self.value(operand), labels, when)
            case Dot(left=left, right=right, labels=labels, when=when):
                return self.dot(self.value(left), self.value(right), labels, when)
            case Reshape(operand=operand):
                return self.value(operand)
            case _:
                assert_never(expr)

    def taken(self, value: RingValue, when: Conditions, other: Array) -> RingValue:
        """Return the value where all conditions hold, and another one elsewhere."""
        labels = tuple(dict.fromkeys((*value.labels, *labels_of_conditions(when))))
        holds = np.ones((), bool)
        for one in when:
            sizes = sum(c * self.sizes[label] for label, c in one.sizes.linear)
            holds = holds & (self.index(one.index, labels) + sizes >= 0)
        return RingValue(labels, np.where(holds, laid_out(value, labels), other), value.weak)

    def dot(
        self, left: RingValue, right: RingValue, labels: tuple[str, ...], when: Conditions
    ) -> RingValue:
        """Return the sum of the products, both in the type of the sum."""
        dtype = joined((left, right)).dtype
        assert dtype is not None
        both = [converted(one, summed(dtype)) for one in (left, right)]
        return self.reduced("rsum", applied("mul", both), labels, when)

    def reduced(
        self, operation: str, value: RingValue, labels: tuple[str, ...], when: Conditions
    ) -> RingValue:
        if when:
            value = self.taken(value, when, nothing(operation, value.array))
        shape = tuple(self.sizes[one] for one in dict.fromkeys((*value.labels, *labels)))
        named = tuple(dict.fromkeys((*value.labels, *labels)))
        array = np.broadcast_to(laid_out(value, named), shape)
        kept = tuple(label for label in named if label not in labels)
        array = array.transpose([named.index(one) for one in (*kept, *labels)])
        array = array.reshape(*array.shape[: len(kept)], math.prod(array.shape[len(kept) :]))
        return RingValue(kept, along(operation, array))

    def recurrence(self, expr: Reduce, order: ScanOrder, operands: tuple[Expr, ...]) -> RingValue:
        """Return the results of h = a * h + b, step by step."""
        (label,) = expr.labels
        values = [converted(self.value(one), DType.F64) for one in operands]
        labels = dict.fromkeys(one for value in values for one in value.labels)
        kept = tuple(one for one in labels if one != label)
        names = (*kept, label)
        shape = tuple(self.sizes[one] for one in names)
        factor, added = (np.broadcast_to(laid_out(one, names), shape) for one in values[:2])
        state = np.broadcast_to(laid_out(values[2], kept), shape[:-1])
        found = np.array(added)
        places = range(shape[-1])
        for place in reversed(places) if order.is_reverse else places:
            after = field.add(field.multiply(factor[..., place], state), added[..., place])
            found[..., place] = state if order.is_before else after
            state = after
        return RingValue((*kept, order.at), found)

    def read(self, read: Read) -> RingValue:
        tensor = np.asarray(self.tensors[read.tensor])
        labels = tuple(dict.fromkeys(label for index in read.indices for label in index.labels))
        places = [self.index(index, labels) for index in read.indices]
        if not places:
            return RingValue((), tensor)
        places = list(np.broadcast_arrays(*places))
        inside = np.ones(places[0].shape, bool)
        for place, size in zip(places, tensor.shape, strict=True):
            inside = inside & (place >= 0) & (place < size)
        outside = padding_of(read)
        if outside is None:
            return RingValue(labels, tensor[tuple(places)])
        safe = [np.where(inside, place, 0) for place in places]
        empty = 0 in tensor.shape
        found = np.zeros(inside.shape, tensor.dtype) if empty else tensor[tuple(safe)]
        padding = converted(self.value(outside), DTYPE[tensor.dtype])
        names = tuple(dict.fromkeys((*labels, *padding.labels)))
        parts = (RingValue(labels, inside), RingValue(labels, found), padding)
        return RingValue(names, np.where(*(laid_out(one, names) for one in parts)))

    def placed(self, value: Array, labels: tuple[str, ...], into: Into) -> Array:
        """Return a tensor with elements at their places, or added there, where these are inside.

        Raises NoRing if two elements have one place: the caller has promised that there are none.
        """
        assert into.at is not None
        whole = np.array(self.tensors[into.tensor])
        inside, place = np.ones(value.shape, bool), np.zeros(value.shape, np.int64)
        for index, extent in zip(into.at.indices, whole.shape, strict=True):
            found = np.broadcast_to(self.index(index, labels), value.shape)
            inside &= (found >= 0) & (found < extent)
            place = place * extent + found
        chosen = place[inside]
        if into.is_added:
            return _added(whole, chosen, value[inside].astype(whole.dtype))
        if len(np.unique(chosen)) < len(chosen):
            raise NoRing("distinct places that are not")
        whole.reshape(-1)[chosen] = value[inside].astype(whole.dtype)
        return whole

    def index(self, index: Affine, labels: tuple[str, ...]) -> Array:
        total = np.full((1,) * len(labels), index.constant, np.int64)
        for term, coefficient in index.terms:
            if isinstance(term, str):
                shape = [1] * len(labels)
                shape[labels.index(term)] = self.sizes[term]
                value = np.arange(self.sizes[term]).reshape(shape)
            elif isinstance(term, DataIndex):
                value = np.asarray(laid_out(self.value(term.value), labels)).astype(np.int64)
            else:
                inner = self.index(term.inner, labels)
                value = np.divmod(inner, term.divisor)[term.operator == "%"]
            total = total + coefficient * value
        return np.broadcast_to(total, tuple(self.sizes[label] for label in labels))
