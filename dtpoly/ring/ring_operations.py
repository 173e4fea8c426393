"""Applies elementwise operations to elements of the ring and to whole numbers.

Whole numbers are computed in the type that the operands promote to, and wrap there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.inference import InferredType, combine
from dtpoly.algorithm.operations import COMPARISON, OPERATION, ResultRule
from dtpoly.ring import ring_elements as field
from dtpoly.ring.interpreter import power, tanh
from dtpoly.ring.ring_values import Array, RingValue, converted, is_elements, laid_out

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
    """Return a division of whole numbers; those by 0 give 0."""

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


def _places(a: Array, b: Array) -> tuple[Array, Array]:
    """Find the shifts that leave no bit of a number; of these, shift by 0 instead."""
    far = np.asarray((b < 0) | (b >= 8 * a.dtype.itemsize))
    return far, np.where(far, np.zeros_like(b), b)


def _shifted_left(a: Array, b: Array) -> Array:
    far, by = _places(a, b)
    return np.where(far, np.zeros_like(a), np.left_shift(a, by))


def _shifted_right(a: Array, b: Array) -> Array:
    far, by = _places(a, b)
    signs = np.where(a < 0, ~np.zeros_like(a), np.zeros_like(a))
    return np.where(far, signs, np.right_shift(a, by))


def _rounded(name: str) -> Operation:
    """Return a rounding as `TAGS` of the interpreter defines it."""

    def rounded(a: Array) -> Array:
        return field.tag(name, field.tag("floor", a))

    return rounded


def _random_bits(seed: Array, x: Array, y: Array) -> Array:
    """Draw by Philox 4x32-10, in words of 32 bits: the first two that the counter (x, y) gives."""
    word = np.uint64(2**32 - 1)
    one, two, a, b, c, d = (
        (part.astype(np.uint64) >> np.uint64(shift)) & word
        for part in (seed, x, y)
        for shift in (0, 32)
    )
    for _ in range(10):
        left, right = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, b = (right >> np.uint64(32)) ^ b ^ one, right & word
        c, d = (left >> np.uint64(32)) ^ d ^ two, left & word
        one = (one + np.uint64(0x9E3779B9)) & word
        two = (two + np.uint64(0xBB67AE85)) & word
    return (a | (b << np.uint64(32))).astype(np.int64)


def _random(seed: Array, x: Array, y: Array) -> Array:
    upper = (_random_bits(seed, x, y) >> np.int64(8)) & np.int64(2**24 - 1)
    return field.multiply(field.whole(upper), np.asarray(field.number(2.0**-24)))


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
    "log": field.log,
    "log2": field.log2,
    "sigmoid": _sigmoid,
    "tanh": tanh,
    "pow": power,
    "sqrt_rn": _tagged("sqrt"),
    "round": _rounded("sin"),
    "trunc": _rounded("cos"),
    **{
        name: _tagged(name)
        for name in ("abs", "floor", "ceil", "sqrt", "rsqrt", "sin", "cos", "erf")
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
    "round": _same,
    "trunc": _same,
    "quotient": _divided(np.floor_divide),
    "shl": _shifted_left,
    "shr": _shifted_right,
    "bitand": np.bitwise_and,
    "bitor": np.bitwise_or,
    "bitxor": np.bitwise_xor,
    "invert": np.invert,
}
TRUTHS: Mapping[str, Operation] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}
DRAWN: Mapping[str, Operation] = {"random": _random, "random_bits": _random_bits}
COMPARED: Mapping[str, Operation] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


def applied(operation: str, operands: Sequence[RingValue]) -> RingValue:
    """Return an elementwise operation on operands that meet where they share a label."""
    info = OPERATION[operation]
    if info.result is ResultRule.BOOL:
        weak = all(one.weak for one in operands)
        found = _compared if info.precedence == COMPARISON else _of_truths
        return replace(found(operation, operands), weak=weak)
    if info.result is ResultRule.CHOSEN:
        type_ = joined(operands[1:])
        both = [converted(one, _dtype(type_)) for one in operands[1:]]
        return replace(_met(np.where, [operands[0], *both]), weak=type_.weak)
    if info.result in (ResultRule.LONG, ResultRule.SINGLE):
        with np.errstate(all="ignore"):
            return _met(DRAWN[operation], [converted(one, DType.I64) for one in operands])
    type_ = joined(operands)
    dtype = _dtype(type_)
    if info.result is ResultRule.FLOAT or is_float(dtype):
        elements = [converted(one, DType.F64) for one in operands]
        return replace(_met(FLOATS[operation], elements), weak=type_.weak)
    # Bools count as 0 and 1, and what is not 0 is true. Their bits are theirs.
    has_bits = info.operands_are_whole and info.takes_bools
    within = DType.U8 if dtype is DType.BOOL and not has_bits else dtype
    # Of what wraps numpy warns where an array has no axes.
    with np.errstate(all="ignore"):
        total = _met(WHOLES[operation], [converted(one, within) for one in operands])
    return replace(converted(total, dtype), weak=type_.weak)


def _met(operation: Operation, operands: Sequence[RingValue]) -> RingValue:
    labels = tuple(dict.fromkeys(label for one in operands for label in one.labels))
    arrays = np.broadcast_arrays(*(laid_out(one, labels) for one in operands))
    return RingValue(labels, np.asarray(operation(*arrays)))


def _of_truths(operation: str, operands: Sequence[RingValue]) -> RingValue:
    return _met(TRUTHS[operation], operands)


def _compared(operation: str, operands: Sequence[RingValue]) -> RingValue:
    """Compare whole numbers, and literals, by their values, whatever their types."""
    compare = COMPARED[operation]
    if not any(is_elements(one.array) for one in operands):
        return _met(compare, [converted(one, DType.I64) for one in operands])
    literals = [one.literal for one in operands if one.literal is not None]
    if len(literals) == len(operands):
        return RingValue((), np.asarray(compare(*literals)))
    return _met(compare, [converted(one, DType.F64) for one in operands])


def joined(operands: Sequence[RingValue]) -> InferredType:
    """Return the type that they promote to."""
    return reduce(_combined, (one.type for one in operands))


def _combined(one: InferredType, other: InferredType) -> InferredType:
    both = combine(one, other)
    assert both is not None, "there are no floats of 8 bits here"
    return both


def _dtype(type_: InferredType) -> DType:
    assert type_.dtype is not None, "every array has a type"
    return type_.dtype
