"""Applies elementwise operations to elements of the ring and to whole numbers.

Whole numbers are computed in the type that the operands promote to, and wrap there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.inference import Type, combine
from dtpoly.algorithm.operations import COMPARISON, OPERATION, Result
from dtpoly.ring import field
from dtpoly.ring.interpreter import power, tanh
from dtpoly.ring.values import Array, Value, converted, is_elements, laid_out

Operation = Callable[..., Any]


def _sigmoid(a: Array) -> Array:
    one = np.asarray(field.number(1))
    return field.divide(one, field.add(one, field.exp(field.negative(a))))


def _clamp(a: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(a, low), high)


def _fma(a: Array, b: Array, c: Array) -> Array:
    return field.add(field.multiply(a, b), c)


def _fma_whole(a: Array, b: Array, c: Array) -> Array:
    return np.asarray(a * b + c)


def _rest(a: Array, b: Array) -> Array:
    """Compute a remainder that has the sign of the divisor, as the remainder of numbers has."""
    rest = field.tag("rem", a, b)
    is_other = (rest != 0) & ((rest < 0) != (b < 0))
    return np.asarray(np.where(is_other, field.add(rest, b), rest))


def _ceil_of_quotient(a: Array, b: Array) -> Array:
    return field.tag("ceil", field.divide(a, b))


def _divided(operation: Operation) -> Operation:
    """A division of whole numbers; those by 0 give 0."""

    def of_wholes(a: Array, b: Array) -> Array:
        nothing = b == 0
        found: Array = operation(a, np.where(nothing, np.ones_like(b), b))
        return np.where(nothing, np.zeros_like(found), found)

    return of_wholes


def _rounded_up(a: Array, b: Array) -> Array:
    # Not the negated quotient of the negated number: of the least number there is none.
    return np.asarray(a // b + (np.mod(a, b) != 0).astype(a.dtype))


def _power_of_whole(a: Array, b: Array) -> Array:
    """Products that wrap; below 0 only 1 and -1 have whole powers, of others it is 0."""
    odd = np.mod(b, np.full_like(b, 2)) != 0
    result, factor = np.ones_like(a), a
    # As many rounds as an exponent has bits; the least number is its own opposite, and is below 0.
    rest = np.abs(b)
    for _ in range(8 * b.dtype.itemsize):
        result = np.where(rest & np.ones_like(rest), result * factor, result)
        factor = factor * factor
        rest = rest >> np.ones_like(rest)
    # No unsigned number is -1, and no unsigned exponent is below 0.
    minus = np.where(odd, np.negative(np.ones_like(a)), np.ones_like(a))
    below = np.where(a == 1, a, np.where(a == -1, minus, np.zeros_like(a)))
    return np.where(b < 0, below, result)


def _same(a: Array) -> Array:
    return a


def _tagged(name: str) -> Operation:
    return lambda *operands: field.tag(name, *operands)


FLOATS: Mapping[str, Operation] = {
    "add": field.add,
    "sub": field.subtract,
    "mul": field.multiply,
    "neg": field.negative,
    "div": field.divide,
    "fdiv": field.divide,
    "div_rn": field.divide,
    "mod": _rest,
    "cdiv": _ceil_of_quotient,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "clamp": _clamp,
    "fma": _fma,
    "exp": field.exp,
    "exp2": field.exp2,
    "sigmoid": _sigmoid,
    "tanh": tanh,
    "pow": power,
    "sqrt_rn": _tagged("sqrt"),
    **{
        name: _tagged(name)
        for name in ("abs", "floor", "ceil", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf")
    },
}
WHOLES: Mapping[str, Operation] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "mod": _divided(np.mod),
    "cdiv": _divided(_rounded_up),
    "maximum": np.maximum,
    "minimum": np.minimum,
    "clamp": _clamp,
    "fma": _fma_whole,
    "pow": _power_of_whole,
    "abs": np.abs,
    "floor": _same,
    "ceil": _same,
}
TRUTHS: Mapping[str, Operation] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}
COMPARED: Mapping[str, Operation] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


def applied(operation: str, operands: Sequence[Value]) -> Value:
    """An elementwise operation on operands that meet where they share a label."""
    info = OPERATION[operation]
    if info.result is Result.BOOL:
        weak = all(one.weak for one in operands)
        found = _compared if info.precedence == COMPARISON else _of_truths
        return replace(found(operation, operands), weak=weak)
    if info.result is Result.CHOSEN:
        type_ = joined(operands[1:])
        both = [converted(one, _dtype(type_)) for one in operands[1:]]
        return replace(_met(np.where, [operands[0], *both]), weak=type_.weak)
    type_ = joined(operands)
    dtype = _dtype(type_)
    if info.result is Result.FLOAT or is_float(dtype):
        elements = [converted(one, DType.F64) for one in operands]
        return replace(_met(FLOATS[operation], elements), weak=type_.weak)
    # Bools count as 0 and 1, and what is not 0 is true.
    within = DType.U8 if dtype is DType.BOOL else dtype
    # Of what wraps numpy warns where an array has no axes.
    with np.errstate(all="ignore"):
        total = _met(WHOLES[operation], [converted(one, within) for one in operands])
    return replace(converted(total, dtype), weak=type_.weak)


def _met(operation: Operation, operands: Sequence[Value]) -> Value:
    labels = tuple(dict.fromkeys(label for one in operands for label in one.labels))
    arrays = np.broadcast_arrays(*(laid_out(one, labels) for one in operands))
    return Value(labels, np.asarray(operation(*arrays)))


def _of_truths(operation: str, operands: Sequence[Value]) -> Value:
    return _met(TRUTHS[operation], operands)


def _compared(operation: str, operands: Sequence[Value]) -> Value:
    """Whole numbers are compared as what they are, whatever their types; so are literals."""
    compare = COMPARED[operation]
    if not any(is_elements(one.array) for one in operands):
        return _met(compare, [converted(one, DType.I64) for one in operands])
    literals = [one.literal for one in operands if one.literal is not None]
    if len(literals) == len(operands):
        return Value((), np.asarray(compare(*literals)))
    return _met(compare, [converted(one, DType.F64) for one in operands])


def joined(operands: Sequence[Value]) -> Type:
    """The type that they promote to."""
    return reduce(_combined, (one.type for one in operands))


def _combined(one: Type, other: Type) -> Type:
    both = combine(one, other)
    assert both is not None, "there are no floats of 8 bits here"
    return both


def _dtype(type_: Type) -> DType:
    assert type_.dtype is not None, "every array has a type"
    return type_.dtype
