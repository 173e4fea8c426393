"""Computes each operation of a term on numbers, in the types that Triton computes in.

Sums, differences, products, quotients and square roots are rounded as the types say. For other
functions of floats the result may be off by a few digits in the last place, as `LOOSE` says.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
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
# The most by which a function may be off, in its last digits: units of 2^-24 or 2^-53 of the
# result.
LOOSE = {"sqrt_rn": 0.0, "sqrt": 0.0}
LOOSE_ELSE = 16.0
# sin and cos are off by a part of 1, not of the result.
# These operations on large whole numbers need only the residues.
RESIDUES = ("add", "sub", "mul", "neg", "round")
OF_ONE = ("sin", "cos")
LEAST_NORMAL = 2.0**-126
LEAST_STEP_OF = {np.dtype(np.float32): 2.0**-149, np.dtype(np.float64): 5e-324}


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
        case (("and" | "or" | "xor" | "bitand" | "bitor" | "bitxor"), [a, b]):
            return _bits(head.removeprefix("bit"), a, b)
        case (("shl" | "shr"), [a, b]):
            return _shifted(head, a, b)
        case "invert", [a]:
            first = as_whole(a)
            return Number(~first.data, _any(first))
        case "not", [a]:
            if not a.is_truth:
                raise CannotSayError("'not' of a number")
            return Number(~a.data, a.slack)
        case "neg", [a]:
            if a.is_float:
                return Number(-a.data, a.slack, a.is_written)
            return arithmetic("sub", Number(np.zeros((), np.int64), None, a.is_written), a)
        case "abs", [a]:
            made = Number(np.abs(a.data), a.slack, a.is_written)
            return _in_floats([a], _size, made)
        case _, [a, b] if head in COMPARED:
            return _compared(head, a, b)
        case "where", [condition, yes, no]:
            return chosen(condition, yes, no)
        case (("ceil" | "floor"), [a]):
            return _rounded_to_whole(head, _flushed(a, looseness))
        case "fma", [a, b, c]:
            return arithmetic("add", arithmetic("mul", a, b), c)
        case "pow", [a, b]:
            of = float_type(a, b)
            return _function(
                lambda x: np.power(x, b.data.astype(np.float64)), as_float(a, of), 64.0
            )
        case _, [a] if head in FUNCTIONS:
            loose = LOOSE.get(head, LOOSE_ELSE)
            found = _flushed(as_float(a, float_type(a)), looseness)
            return _function(
                FUNCTIONS[head], found, max(loose, looseness), is_of_one=head in OF_ONE
            )
        case _:
            raise CannotSayError(f"'{word}' of {len(operands)}")


def _flushed(number: Number, looseness: float) -> Number:
    """Return an argument of a function.

    A GPU may take 0 for one below the least normal number of f32.
    """
    if not looseness or number.data.dtype != np.float32:
        return number
    size = np.abs(number.data.astype(np.float64))
    tiny = np.where((size > 0) & (size < LEAST_NORMAL), size, 0.0)
    return replace(number, slack=slack_of(number.slack, tiny))


def _both_float(a: Number, b: Number) -> tuple[Number, Number] | None:
    """Return both operands as floats if one of them is one, or None if both are whole."""
    if not a.is_float and not b.is_float:
        return None
    if a.is_written and b.is_written:
        return as_float(a, np.float64), as_float(b, np.float64)
    of = float_type(a, b)
    return as_float(a, of), as_float(b, of)


def arithmetic(word: str, a: Number, b: Number) -> Number:
    """Compute a sum, a difference or a product."""
    operation: Any = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[word]
    is_written = a.is_written and b.is_written
    floats = _both_float(a, b)
    if floats is None:
        first, second = as_whole(a), as_whole(b)
        found = operation(first.data, second.data)
        near = operation(first.data.astype(np.float64), second.data.astype(np.float64))
        wide = (np.abs(near) > 9e18) | _wide(first) | _wide(second)
        is_wide = wide if np.any(wide) else None
        made = Number(found, _any(first, second), is_written, is_wide)
        of = float_type(a, b)
        if is_written or (a.floats is None and b.floats is None and _is_exact(near, of)):
            return made
        if any(one.floats is None and not _is_exact(one.data, of) for one in (first, second)):
            # To bring such a number to floats changes it, and the term would say that.
            return made
        return replace(made, floats=arithmetic(word, as_float(a, of), as_float(b, of)))
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


def _is_exact(data: Array, of: Any) -> bool:
    """True if whole numbers are small enough for a type of floats."""
    return not bool(np.any(np.abs(data.astype(np.float64)) > 1 / EPSILON[np.dtype(of)]))


def _size(number: Number) -> Number:
    """Return the absolute value of a float."""
    return Number(np.abs(number.data), number.slack)


def _in_floats(numbers: Sequence[Number], again: Callable[..., Number], made: Number) -> Number:
    """Return the result, also in floats if one of the numbers has another value in floats."""
    if all(one.floats is None for one in numbers):
        return made
    of = float_type(*numbers)
    return replace(made, floats=again(*(as_float(one, of) for one in numbers)))


def _wide(number: Number) -> Array:
    return np.zeros((), np.bool_) if number.is_wide is None else number.is_wide


def _grown(data: Array, error: Array) -> Array | None:
    """Return the slack of a result: the operands' slack and, if they have any, one rounding."""
    error = np.where(np.isnan(error), np.inf, error)
    small = EPSILON[data.dtype] * 2
    # Below the least normal number steps do not become smaller.
    more = np.abs(data.astype(np.float64)) * small + LEAST_STEP_OF[data.dtype]
    more = np.where(error > 0, more, 0.0)
    total = error + np.where(np.isnan(more), np.inf, more)
    # A number with slack may be an infinity or a nan elsewhere.
    total = np.where((error > 0) & ~np.isfinite(data), np.inf, total)
    return slack_of(total)


def _any(*numbers: Number) -> Array | None:
    """Return the slack of exact results: unknown where an operand is unknown."""
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
        # A GPU divides by large and tiny numbers in its own way.
        size = np.abs(second.data.astype(np.float64))
        is_far = (size > 2.0**125) | (size < 2.0**-120) | (np.abs(data) < 2.0**-120)
        more = np.where(is_far & np.isfinite(size) & (size > 0), np.inf, more)
        more = np.where(np.isnan(more), 0.0, more)
        error = more if error is None else error + more
    is_written = a.is_written and b.is_written
    grown = None if error is None else _grown(data, error)
    # The sign of 0 is not proved, so an infinity may have either sign.
    is_open = (second.data == 0) & np.isinf(data)
    if np.any(is_open):
        grown = slack_of(grown, np.where(is_open, np.inf, 0.0))
    return Number(data, grown, is_written)


def _quotient(word: str, a: Number, b: Number) -> Number:
    """Return a quotient rounded towards 0, and the remainder with the sign of the dividend."""
    if a.is_float or b.is_float or a.floats is not None or b.floats is not None:
        if word == "floordiv":
            raise CannotSayError("'//' of floats")
        is_written = a.is_written and b.is_written
        of: Any = np.float64 if is_written else float_type(a, b)
        first, second = as_float(a, of), as_float(b, of)
        return Number(np.fmod(first.data, second.data), _any(first, second))
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


def _shifted(word: str, a: Number, b: Number) -> Number:
    """Shift whole numbers of 64 bits. A text is read only where the places are in its type."""
    operation: Any = {"shl": np.left_shift, "shr": np.right_shift}[word]
    first, second = as_whole(a), as_whole(b)
    far = (second.data < 0) | (second.data >= 64)
    if np.any(far):
        raise CannotSayError("a shift by what is no place")
    return Number(operation(first.data, second.data), _any(first, second))


def _compared(word: str, a: Number, b: Number) -> Number:
    floats = _both_float(a, b)
    if a.floats is not None or b.floats is not None:
        # Whole numbers that are compared are brought to their type before.
        floats = as_float(a, float_type(a, b)), as_float(b, float_type(a, b))
    first, second = floats if floats is not None else (as_whole(a), as_whole(b))
    data = COMPARED[word](first.data, second.data)
    if first.slack is None and second.slack is None:
        return Number(data)
    off = first.error + second.error
    apart = np.abs(first.data.astype(np.float64) - second.data.astype(np.float64))
    is_open = (off > 0) & ~(apart > off)
    return Number(data, slack_of(np.where(is_open, np.inf, 0.0)))


def chosen(condition: Number, yes: Number, no: Number) -> Number:
    """Return one number where a condition is true, else the other."""
    yes, no = certain(yes), certain(no)
    if yes.is_truth and no is UNKNOWN:
        no = Number(np.asarray(False), UNKNOWN.slack)
    truth = condition.data if condition.is_truth else condition.data != 0
    # A boolean that is chosen from two whole literals is a number, which has a type.
    is_written = yes.is_written and no.is_written and (yes.is_float or no.is_float)
    if yes.is_truth and no.is_truth:
        first, second = yes, no
    else:
        floats = _both_float(yes, no)
        first, second = floats if floats is not None else (as_whole(yes), as_whole(no))
    data = np.where(truth, first.data, second.data)
    slack = None
    if first.slack is not None or second.slack is not None:
        slack = np.where(truth, first.error, second.error)
    made = Number(data, slack_of(slack, _any(condition)), is_written)
    if made.is_float:
        return made
    return _in_floats([yes, no], partial(chosen, condition), made)


def extreme(is_largest: bool, a: Number, b: Number, *, nan_wins: bool) -> Number:
    """Return the smaller or the larger number; an argument says if a nan wins or loses."""
    is_written = a.is_written and b.is_written
    floats = _both_float(a, b)
    if floats is None:
        first, second = as_whole(a), as_whole(b)
        both: Any = np.maximum if is_largest else np.minimum
        made = Number(both(first.data, second.data), _any(first, second), is_written)

        def again(one: Number, other: Number) -> Number:
            return extreme(is_largest, one, other, nan_wins=nan_wins)

        return _in_floats([a, b], again, made)
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
    """Return a function of floats, computed in 64 bits and rounded once."""
    wide = a.data.astype(np.float64)
    exact = function(wide)
    data = exact.astype(a.data.dtype)
    size = np.abs(exact) + (1.0 if is_of_one else 0.0)
    # Functions of large numbers are off by a part of these, too.
    large = np.where(np.isfinite(wide), np.abs(wide), 0.0)
    error = size * EPSILON[a.data.dtype] * loose * (1.0 + large / 16.0)
    # These results lack some of their digits, or f32 does not hold them.
    tiny = np.abs(exact) < 2.0**-120
    error = np.where(tiny & (loose > 0), error + 2.0**-120, error)
    error = np.where(np.isfinite(data), error, 0.0)
    if loose:
        error = np.where(np.isfinite(exact) & (np.abs(exact) > 3e38), np.inf, error)
    if a.slack is not None:
        ends = [function(wide + side * a.slack) for side in (-1, 1)]
        moved = np.maximum(np.abs(ends[0] - exact), np.abs(ends[1] - exact))
        if is_of_one:  # between the ends it goes up and down, by no more than the argument moves
            moved = np.where(np.isfinite(moved), np.minimum(a.slack, 2.0), moved)
        moved = np.where(a.slack > 0, np.where(np.isnan(moved), np.inf, moved), 0.0)
        error = error + moved
    return Number(data, slack_of(error))


def of_type(kind: str, data: Array) -> Number:
    """Return elements of a tensor of a type, as they are kept here."""
    if kind == "tl.int1":
        return Number(data.astype(np.bool_))
    if kind.startswith(("tl.int", "tl.uint")):
        return Number(data.astype(np.int64))
    return Number(nearest(kind, data))
