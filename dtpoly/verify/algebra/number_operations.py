"""Carry out the operations of terms on numbers, in a table of them by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.between import Between, NoNumberError, Plain, is_nan

MOST_BITS = 256
# The bits of the widest type of whole numbers.
LONGEST = 64

OF_ONE: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "exp2": lambda a: 2.0**a,
    "log": math.log,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "sqrt_rn": math.sqrt,
    "rsqrt": lambda a: 1 / math.sqrt(a),
    "sin": math.sin,
    "cos": math.cos,
    "erf": math.erf,
    "tanh": math.tanh,
    "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
}

# Operations that give NaN if an operand is NaN. (Those of OF_ONE do, too.)
NAN_AGAIN = frozenset(
    ("add", "sub", "mul", "div", "div_rn", "neg", "abs", "maximum", "minimum"),
)


def with_nan(operation: str, operands: Sequence[Plain]) -> Plain:
    """Return what an operation gives if an operand is NaN, where that is beyond doubt."""
    match operation, operands:
        case "where", [a, b, c] if not isinstance(a, Between) and not is_nan(a):
            return b if a else c
        case _ if operation in NAN_AGAIN or operation in OF_ONE:
            return math.nan
        case _:
            raise NoNumberError


def carried_out(operation: str, numbers: Sequence[float]) -> float | None:
    """Return the result of an operation; None if there is none of that name for these numbers.

    Raises NoNumberError where the result is no number.
    """
    match numbers:
        case [int() as first] if operation == "invert":
            return ~first
        case [int() as first, int() as second] if operation in OF_BITS:
            return OF_BITS[operation](first, second)
        case [a] if (of_one := OF_ONE.get(operation) or OF_ANY_ONE.get(operation)) is not None:
            return of_one(a)
        case [a] if operation.startswith("cast tl.") and kinds.is_whole(operation[5:]):
            return _in_whole(operation[5:], a)
        case [a, b] if (of_two := OF_TWO.get(operation)) is not None:
            return of_two(a, b)
        case [a, b, c] if operation == "where":
            return b if a else c
        case _:
            return None


def _in_whole(kind: str, a: float) -> int:
    if not kinds.LEAST[kind] <= int(a) <= kinds.LARGEST[kind]:
        raise NoNumberError
    return int(a)


def _remainder(a: float, b: float) -> float:
    """Return a remainder that has the sign of the dividend."""
    if isinstance(a, int) and isinstance(b, int):
        return (abs(a) % abs(b)) * (-1 if a < 0 else 1)
    return math.fmod(a, b)


def _quotient(a: float, b: float) -> float | None:
    """Return a quotient of whole numbers, rounded towards 0; None for others."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return None


def _modulo(a: float, b: float) -> float:
    """Return a remainder that has the sign of the divisor."""
    return a % b if isinstance(a, int) and isinstance(b, int) else a - b * math.floor(a / b)


def _power(a: float, b: float) -> float:
    """Return a power: exact for whole numbers that are not too large, otherwise as a float.

    Raises NoNumberError where the power is no number.
    """
    if isinstance(a, int) and isinstance(b, int) and 0 <= b * a.bit_length() <= MOST_BITS:
        power: int = a**b
        return power
    if a < 0 and b != int(b):
        raise NoNumberError
    return math.pow(a, b)


def _shifted_left(a: int, by: int) -> int:
    """Shift to higher places, if they are in some type; others leave no bit of a type."""
    return a << by if 0 <= by < LONGEST else 0


def _shifted_right(a: int, by: int) -> int:
    """Shift to lower places; a shift by less than 0 leaves only the sign."""
    return a >> by if by >= 0 else -int(a < 0)


def _rounded_down(a: int, b: int) -> int:
    """Return a quotient, rounded down; 0 where the divisor is 0."""
    return a // b if b else 0


# Operations of whole numbers alone. Results are exact: a term says itself where they wrap.
OF_BITS: Mapping[str, Callable[[int, int], int]] = {
    "bitand": int.__and__,
    "bitor": int.__or__,
    "bitxor": int.__xor__,
    "shl": _shifted_left,
    "shr": _shifted_right,
    "quotient": _rounded_down,
}
OF_ANY_ONE: Mapping[str, Callable[[float], float]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "not": lambda a: 1 - a,
    "floor": lambda a: float(math.floor(a)),
    "ceil": lambda a: float(math.ceil(a)),
    "nearest": lambda a: float(round(a)),
    "trunc": lambda a: float(math.trunc(a)),
}
OF_TWO: Mapping[str, Callable[[float, float], float | None]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "div_rn": lambda a, b: a / b,
    "maximum": max,
    "or": max,
    "minimum": min,
    "and": min,
    "rem": _remainder,
    "floordiv": _quotient,
    "mod": _modulo,
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "gt": lambda a, b: int(a > b),
    "ge": lambda a, b: int(a >= b),
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "cdiv": lambda a, b: -(-a // b),
    "pow": _power,
}
