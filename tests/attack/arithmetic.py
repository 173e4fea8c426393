"""What each operation of a term does to numbers, in the types that Triton computes in.

Sums, differences, products, quotients and square roots are rounded as the types say. For other
functions of floats the result may be off by a few digits in the last place, as `LOOSE` says.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.attack.numbers import (
    EPSILON,
    UNKNOWN,
    Array,
    CannotSayError,
    Number,
    as_float,
    as_float_of_whole,
    as_whole,
    cast_to_whole,
    certain,
    float_type,
    nearest,
    rounded,
    slack_of,
)

COMPARED: dict[str, Callable[[Array, Array], Array]] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(data: Array) -> Array:
    return 1 / (1 + np.exp(-data))


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "sqrt_rn": np.sqrt,
    "rsqrt": lambda data: 1 / np.sqrt(data),
    "sin": np.sin,
    "cos": np.cos,
    "erf": _erf,
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
}
# By how many digits in the last place of the type a function may be off, in units of 2^-24 or
# 2^-53 of the result.
LOOSE = {"sqrt_rn": 0.0, "sqrt": 0.0}
LOOSE_ELSE = 16.0
# sin and cos are off by a part of 1, not of the result.
# Of large whole numbers, what needs no more than their residues.
RESIDUES = ("add", "sub", "mul", "neg", "round")
OF_ONE = ("sin", "cos")


def applied(word: str, operands: Sequence[Number], looseness: float = 0.0) -> Number:
    """One operation; with some looseness quotients and roots may be off, as they are on a GPU.

    Raises CannotSayError for a word that it does not know.
    """
    if word.partition(" ")[0] not in RESIDUES:
        operands = [certain(one) for one in operands]
    with np.errstate(all="ignore"):
        return _applied(word, operands, looseness)


def _applied(word: str, operands: Sequence[Number], looseness: float) -> Number:
    head, _, tail = word.partition(" ")
    match head, operands:
        case "round", [a]:
            return rounded(tail, a)
        case "cast", [a] if tail == "tl.int1":
            return _compared("ne", a, Number(np.asarray(0, np.int64)))
        case "cast", [a] if tail.startswith(("tl.int", "tl.uint")):
            return cast_to_whole(tail, as_float_of_whole(a))
        case ("nan", [a]) if tail.startswith(("above in ", "below in ")):
            return rounded(tail.partition(" in ")[2], a)
        case (("maximum" | "minimum"), [a, b]) if tail in ("", "without nan"):
            return extreme(head == "maximum", a, b, nan_wins=not tail)
        case _ if tail:
            raise CannotSayError(f"'{word}'")
        case (("add" | "sub" | "mul"), [a, b]):
            return arithmetic(head, a, b)
        case (("div" | "div_rn"), [a, b]):
            return _divided(a, b, looseness if head == "div" else 0.0)
        case (("floordiv" | "rem"), [a, b]):
            return _quotient(head, a, b)
        case (("and" | "or" | "xor"), [a, b]):
            return _bits(head, a, b)
        case "not", [a]:
            if not a.is_truth:
                raise CannotSayError("'not' of a number")
            return Number(~a.data, a.slack)
        case "neg", [a]:
            if a.is_float:
                return Number(-a.data, a.slack, a.is_written)
            return arithmetic("sub", Number(np.zeros((), np.int64), None, a.is_written), a)
        case "abs", [a]:
            return Number(np.abs(a.data), a.slack, a.is_written)
        case _, [a, b] if head in COMPARED:
            return _compared(head, a, b)
        case "where", [condition, yes, no]:
            return chosen(condition, yes, no)
        case (("ceil" | "floor"), [a]):
            return _rounded_to_whole(head, a)
        case "fma", [a, b, c]:
            return arithmetic("add", arithmetic("mul", a, b), c)
        case "pow", [a, b]:
            of = float_type(a, b)
            return _function(
                lambda x: np.power(x, b.data.astype(np.float64)), as_float(a, of), 64.0
            )
        case _, [a] if head in FUNCTIONS:
            loose = LOOSE.get(head, LOOSE_ELSE)
            found = as_float(a, float_type(a))
            return _function(
                FUNCTIONS[head], found, max(loose, looseness), is_of_one=head in OF_ONE
            )
        case _:
            raise CannotSayError(f"'{word}' of {len(operands)}")


def _both_float(a: Number, b: Number) -> tuple[Number, Number] | None:
    """Both operands as floats, if one of them is one; None if both are whole."""
    if not a.is_float and not b.is_float:
        return None
    if a.is_written and b.is_written:
        return as_float(a, np.float64), as_float(b, np.float64)
    of = float_type(a, b)
    return as_float(a, of), as_float(b, of)


def arithmetic(word: str, a: Number, b: Number) -> Number:
    """A sum, a difference or a product."""
    operation: Any = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[word]
    is_written = a.is_written and b.is_written
    floats = _both_float(a, b)
    if floats is None:
        first, second = as_whole(a), as_whole(b)
        found = operation(first.data, second.data)
        near = operation(first.data.astype(np.float64), second.data.astype(np.float64))
        wide = (np.abs(near) > 9e18) | _wide(first) | _wide(second)
        is_wide = wide if np.any(wide) else None
        return Number(found, _any(first, second), is_written, is_wide)
    first, second = floats
    data = operation(first.data, second.data)
    if first.slack is None and second.slack is None:
        return Number(data, None, is_written)
    size_a, size_b = np.abs(first.data.astype(np.float64)), np.abs(second.data.astype(np.float64))
    if word == "mul":
        error = size_a * second.error + size_b * first.error + first.error * second.error
    else:
        error = first.error + second.error
    return Number(data, _grown(data, error), is_written)


def _wide(number: Number) -> Array:
    return np.zeros((), np.bool_) if number.is_wide is None else number.is_wide


def _grown(data: Array, error: Array) -> Array | None:
    """The slack of a result: that of the operands, and one rounding more where they have any."""
    error = np.where(np.isnan(error), np.inf, error)
    small = EPSILON[data.dtype] * 2
    more = np.where(error > 0, np.abs(data.astype(np.float64)) * small, 0.0)
    total = error + np.where(np.isnan(more), np.inf, more)
    # What is off may be an infinity or a nan elsewhere.
    total = np.where((error > 0) & ~np.isfinite(data), np.inf, total)
    return slack_of(total)


def _any(*numbers: Number) -> Array | None:
    """Of exact results: nothing is said where nothing is said of an operand."""
    total = slack_of(*(one.slack for one in numbers))
    return None if total is None else np.where(total > 0, np.inf, 0.0)


def _divided(a: Number, b: Number, looseness: float) -> Number:
    if a.is_written and b.is_written:
        of: Any = np.float64
    else:
        of = float_type(a, b)
    first, second = as_float(a, of), as_float(b, of)
    data = first.data / second.data
    error: Array | None = None
    if first.slack is not None or second.slack is not None:
        size = np.abs(second.data.astype(np.float64))
        left = np.maximum(size - second.error, 0.0)
        error = (first.error + np.abs(data.astype(np.float64)) * second.error) / left
        error = np.where((first.error > 0) | (second.error > 0), error, 0.0)
    if looseness and data.dtype == np.float32:
        more = np.abs(data.astype(np.float64)) * EPSILON[data.dtype] * looseness
        # A GPU divides by what is large, or tiny, in its own way.
        size = np.abs(second.data.astype(np.float64))
        is_far = (size > 2.0**125) | (size < 2.0**-120) | (np.abs(data) < 2.0**-120)
        more = np.where(is_far & np.isfinite(size) & (size > 0), np.inf, more)
        more = np.where(np.isnan(more), 0.0, more)
        error = more if error is None else error + more
    is_written = a.is_written and b.is_written
    return Number(data, None if error is None else _grown(data, error), is_written)


def _quotient(word: str, a: Number, b: Number) -> Number:
    """Towards 0, and what that leaves, which has the sign of the dividend."""
    if a.is_float or b.is_float:
        if word == "floordiv":
            raise CannotSayError("'//' of floats")
        floats = _both_float(a, b)
        assert floats is not None
        return Number(np.fmod(floats[0].data, floats[1].data), _any(*floats))
    first, second = as_whole(a), as_whole(b)
    by = np.where(second.data == 0, 1, second.data)
    left: Array = np.fmod(first.data, by)
    data = left if word == "rem" else (first.data - left) // by
    nothing = np.where(second.data == 0, np.inf, 0.0)
    return Number(data, slack_of(_any(first, second), nothing), a.is_written and b.is_written)


def _bits(word: str, a: Number, b: Number) -> Number:
    operation: Any = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[word]
    if a.is_truth and b.is_truth:
        return Number(operation(a.data, b.data), _any(a, b))
    first, second = as_whole(a), as_whole(b)
    return Number(operation(first.data, second.data), _any(first, second))


def _compared(word: str, a: Number, b: Number) -> Number:
    floats = _both_float(a, b)
    first, second = floats if floats is not None else (as_whole(a), as_whole(b))
    data = COMPARED[word](first.data, second.data)
    if first.slack is None and second.slack is None:
        return Number(data)
    off = first.error + second.error
    apart = np.abs(first.data.astype(np.float64) - second.data.astype(np.float64))
    is_open = (off > 0) & ~(apart > off)
    return Number(data, slack_of(np.where(is_open, np.inf, 0.0)))


def chosen(condition: Number, yes: Number, no: Number) -> Number:
    """One number where a truth holds, else the other."""
    yes, no = certain(yes), certain(no)
    if yes.is_truth and no is UNKNOWN:
        no = Number(np.asarray(False), UNKNOWN.slack)
    truth = condition.data if condition.is_truth else condition.data != 0
    is_written = yes.is_written and no.is_written
    if yes.is_truth and no.is_truth:
        first, second = yes, no
    else:
        floats = _both_float(yes, no)
        first, second = floats if floats is not None else (as_whole(yes), as_whole(no))
    data = np.where(truth, first.data, second.data)
    slack = None
    if first.slack is not None or second.slack is not None:
        slack = np.where(truth, first.error, second.error)
    return Number(data, slack_of(slack, _any(condition)), is_written)


def extreme(is_largest: bool, a: Number, b: Number, *, nan_wins: bool) -> Number:
    """The smaller or the larger of two; whether a nan wins or loses is said."""
    is_written = a.is_written and b.is_written
    floats = _both_float(a, b)
    if floats is None:
        first, second = as_whole(a), as_whole(b)
        both: Any = np.maximum if is_largest else np.minimum
        return Number(both(first.data, second.data), _any(first, second), is_written)
    first, second = floats
    ways: Any = (np.maximum, np.minimum) if nan_wins else (np.fmax, np.fmin)
    data = ways[0 if is_largest else 1](first.data, second.data)
    slack = None
    if first.slack is not None or second.slack is not None:
        # Exactly one of them is taken, unless they are so near that it may be either.
        taken = np.where(data == first.data, first.error, second.error)
        apart = np.abs(first.data.astype(np.float64) - second.data.astype(np.float64))
        is_sure = apart > first.error + second.error
        slack = np.where(is_sure, taken, np.maximum(first.error, second.error))
    return Number(data, slack_of(slack), is_written)


def _rounded_to_whole(word: str, a: Number) -> Number:
    if not a.is_float:
        return a
    operation: Any = np.ceil if word == "ceil" else np.floor
    data = operation(a.data)
    if a.slack is None:
        return Number(data, None, a.is_written)
    ends = [operation(a.data.astype(np.float64) + side * a.slack) for side in (-1, 1)]
    return Number(data, slack_of(np.where(ends[0] == ends[1], 0.0, np.inf)))


def _function(
    function: Callable[[Array], Array], a: Number, loose: float, *, is_of_one: bool = False
) -> Number:
    """A function of floats, computed in 64 bits and rounded once."""
    wide = a.data.astype(np.float64)
    exact = function(wide)
    data = exact.astype(a.data.dtype)
    size = np.abs(exact) + (1.0 if is_of_one else 0.0)
    # Functions of what is large are off by a part of that, too.
    large = np.where(np.isfinite(wide), np.abs(wide), 0.0)
    error = size * EPSILON[a.data.dtype] * loose * (1.0 + large / 16.0)
    # Results that are no number with all digits, and such that f32 does not hold.
    tiny = np.abs(exact) < 2.0**-120
    error = np.where(tiny & (loose > 0), error + 2.0**-120, error)
    error = np.where(np.isfinite(data), error, 0.0)
    if loose:
        error = np.where(np.isfinite(exact) & (np.abs(exact) > 3e38), np.inf, error)
    if a.slack is not None:
        ends = [function(wide + side * a.slack) for side in (-1, 1)]
        moved = np.maximum(np.abs(ends[0] - exact), np.abs(ends[1] - exact))
        moved = np.where(a.slack > 0, np.where(np.isnan(moved), np.inf, moved), 0.0)
        error = error + moved
    return Number(data, slack_of(error))


def total(word: str, values: Number, inside: Array, looseness: float = 0.0) -> Number:
    """A reduction of the first axis, over the points that are inside; of nothing: its identity.

    With some looseness each step of a sum may be cut off, as tensor cores do it.
    """
    shape = np.broadcast_shapes(values.data.shape, inside.shape)
    data, where = np.broadcast_to(values.data, shape), np.broadcast_to(inside, shape)
    slack = None if values.slack is None else np.broadcast_to(values.slack, shape)
    head, _, tail = word.partition(" ")
    with np.errstate(all="ignore"):
        match head:
            case "add":
                return _sum(data, where, slack, looseness, is_written=values.is_written)
            case "or" | "and" if data.dtype.kind == "b":
                if head == "or":
                    found = np.any(data & where, axis=0)
                else:
                    found = np.all(data | ~where, axis=0)
                return Number(found, _any_of(slack, where))
            case "maximum" | "minimum" if tail in ("", "without nan"):
                return _best(head == "maximum", data, where, slack, nan_wins=not tail)
            case "mul":
                return _product(data, where, slack)
            case _:
                raise CannotSayError(f"a reduction by '{word}'")


def _any_of(slack: Array | None, where: Array) -> Array | None:
    if slack is None:
        return None
    return slack_of(np.where(np.any((slack > 0) & where, axis=0), np.inf, 0.0))


def _sum(
    data: Array, where: Array, slack: Array | None, looseness: float, *, is_written: bool
) -> Number:
    if data.dtype.kind in "bi":
        found = np.sum(np.where(where, data, 0).astype(np.int64), axis=0)
        wide = np.sum(np.where(where, np.abs(data.astype(np.float64)), 0.0), axis=0) > 9e18
        return Number(found, _any_of(slack, where), is_written, wide if np.any(wide) else None)
    kept = np.where(where, data, data.dtype.type(0)).astype(np.float64)
    found = np.sum(kept, axis=0)
    sizes = np.sum(np.abs(kept), axis=0)
    count = np.sum(where, axis=0)
    error = sizes * EPSILON[data.dtype] * np.maximum(count - 1, 0) * (1.0 + looseness)
    # Multiples of 2^-10 whose sizes add up to less than 2^13 are added exactly in any order.
    is_exact = np.all(~where | (kept * 1024 == np.round(kept * 1024)), axis=0) & (sizes < 2**13)
    error = np.where(is_exact, 0.0, error)
    # Whether it is infinite may depend on the order.
    error = np.where(~np.isfinite(error), np.where(np.isnan(found), 0.0, np.inf), error)
    is_far = (sizes > 3e38) & np.isfinite(sizes) & (data.dtype == np.float32)
    error = np.where(is_far, np.inf, error)
    has_infinity = np.any(np.isinf(kept), axis=0)
    error = np.where(
        has_infinity & (np.sum(np.where(np.isfinite(kept), np.abs(kept), 0), axis=0) < 1e38),
        0.0,
        error,
    )
    if slack is not None:
        error = error + np.sum(np.where(where, slack, 0.0), axis=0)
    return Number(found.astype(data.dtype), slack_of(error))


def _best(
    is_largest: bool, data: Array, where: Array, slack: Array | None, *, nan_wins: bool
) -> Number:
    if data.dtype.kind == "f":
        nothing: Any = data.dtype.type(-np.inf if is_largest else np.inf)
    elif data.dtype.kind == "b":
        data, nothing = data.astype(np.int64), 0 if is_largest else 1
    else:
        limits = np.iinfo(np.int64)
        nothing = limits.min if is_largest else limits.max
    kept = np.where(where, data, nothing)
    ways: Any = (np.maximum, np.minimum) if nan_wins else (np.fmax, np.fmin)
    found = ways[0 if is_largest else 1].reduce(kept, axis=0)
    if slack is None:
        return Number(found)
    error = np.max(np.where(where, slack, 0.0), axis=0)
    return Number(found, slack_of(error))


def _product(data: Array, where: Array, slack: Array | None) -> Number:
    kept = np.where(where, data, data.dtype.type(1))
    if data.dtype.kind != "f":
        return Number(np.multiply.reduce(kept.astype(np.int64), axis=0), _any_of(slack, where))
    found = np.multiply.reduce(kept.astype(np.float64), axis=0)
    count = np.sum(where, axis=0)
    error = np.abs(found) * EPSILON[data.dtype] * count
    if slack is not None:
        error = np.where(np.any(np.where(where, slack, 0.0) > 0, axis=0), np.inf, error)
    return Number(found.astype(data.dtype), slack_of(error))


def of_type(kind: str, data: Array) -> Number:
    """Elements of a tensor of a type, as they are kept here."""
    if kind == "tl.int1":
        return Number(data.astype(np.bool_))
    if kind.startswith(("tl.int", "tl.uint")):
        return Number(data.astype(np.int64))
    return Number(nearest(kind, data))
