"""Computes the value that an entry of the table says for given numbers, if it says one.

An entry says nothing where Triton leaves the value undefined: for a division by 0, a shift by as
many bits as a type has or more, a float that a type of whole numbers does not have, and a number
beyond a type of 8 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dtpoly.verify.semantics.binary_entries import SAMPLES
from dtpoly.verify.semantics.entries import entry
from dtpoly.verify.semantics.types import (
    EIGHTS,
    TRUTH,
    bits,
    is_constant,
    is_float,
    tensor,
)
from tests.semantics.in_types import SHAPES, Number, ends, nearest, wrapped

# These operations are not computed to the last digit.
NEAR = (
    *("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "sigmoid", "div", "fdiv"),
    *("fma",),
)
SIGNS: dict[str, Callable[[float, float], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


def cast(value: Number, of: str, to: str) -> Number | None:
    """Return a value in another type, or nothing if it is left open."""
    if of == to:
        return value
    if to == TRUTH:
        return int(value != 0)
    if not is_float(to):
        if not is_float(of):
            return wrapped(int(value), to)
        if not math.isfinite(value) or not ends(to)[0] <= int(value) <= ends(to)[1]:
            return None
        return int(value)
    found = nearest(value, to)
    if to in EIGHTS and (not math.isfinite(value) or math.isinf(found)):
        return None
    return found


@lru_cache(maxsize=1 << 18)
def brought(value: Number, of: str, to: str) -> Number | None:
    """Return an operand in the type of an operation; a constant stays as it is written."""
    if not is_constant(of):
        return cast(value, of, to)
    if is_float(to):
        return cast(float(value) if is_float(of) else value, "", to) if to else None
    if is_float(of):
        return None
    low, high = ends(to)
    return int(value) if low <= value <= high else None


def expected(name: str, operands: tuple[str, ...], given: tuple[Number, ...]) -> Number | None:
    """Return the value of the result; for operations that write to memory, the value there."""
    row = entry(name, operands)
    values = [
        SAMPLES[of] if is_constant(of) else one for of, one in zip(operands, given, strict=False)
    ]
    within = row.within or row.result
    if name == "cast":
        return cast(values[0], operands[0], operands[1])
    if name == "store":
        return cast(values[1], tensor(operands[1]), operands[0])
    if name.startswith("atomic_"):
        return _atomic(name, _stored(values[1], operands[1], operands[0]), operands[0])
    if name == "load other":
        return _stored(values[1], operands[1], operands[0])
    if name in ("load", "assign"):
        return values[0]
    if name == "where":
        return brought(
            values[1] if values[0] else values[2], operands[1 if values[0] else 2], within
        )
    if name in ("both", "either"):
        return int(all(values) if name == "both" else any(values))
    if name == "not":
        return int(not values[0])
    met = [brought(one, of, within) for one, of in zip(values, operands, strict=False)]
    known = [one for one in met if one is not None]
    if len(known) < len(met) or within in EIGHTS:
        return None
    if name == "cdiv":
        return _rounded_up(values, operands, within)
    if is_float(within):
        return _of_floats(name, known, within)
    return _of_wholes(name, known, within, signed="shrsi" in row.instruction)


def _stored(value: Number, of: str, held: str) -> Number | None:
    """A value in the type of memory; truths are bytes there, which are read as what is not 0.

    A store says whether a value is 0 before it makes a byte of it.
    """
    if held == TRUTH:
        byte = cast(value, tensor(of), "tl.int8")
        return None if byte is None else int(byte != 0)
    return cast(value, tensor(of), held)


def _atomic(name: str, value: Number | None, held: str) -> Number | None:
    """Return the value in memory after an atomic operation on 0."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    match name:
        case "atomic_add":
            return value if is_float(held) else wrapped(int(value), held)
        case "atomic_max":
            return max(value, 0)
        case _:
            return min(value, 0)


def _rounded_up(values: list[Number], operands: tuple[str, ...], within: str) -> Number | None:
    """Return `(x + (y - 1)) // y`, if nothing wraps on the way."""
    first, second = int(values[0]), int(values[1])
    narrow = [tensor(one) for one in operands]
    for one in (first + second - 1, second - 1):
        if any(not ends(of)[0] <= one <= ends(of)[1] for of in (*narrow, within)):
            return None
    return None if second <= 0 or first < 0 else -(-first // second)


def _of_wholes(name: str, values: list[Number], within: str, *, signed: bool) -> Number | None:
    numbers = [int(one) for one in values]
    match name, numbers:
        case "add", [a, b]:
            return wrapped(a + b, within)
        case "sub", [a, b]:
            return wrapped(a - b, within)
        case "mul", [a, b]:
            return wrapped(a * b, within)
        case (("floordiv" | "mod"), [a, b]):
            if b == 0 or (b == -1 and a == ends(within)[0]):
                return None
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if name == "floordiv" else a - quotient * b
        case "and", [a, b]:
            return wrapped(a & b, within)
        case "or", [a, b]:
            return wrapped(a | b, within)
        case "xor", [a, b]:
            return wrapped(a ^ b, within)
        case (("shl" | "shr"), [a, b]):
            if not 0 <= b < bits(within):
                return None
            if name == "shl":
                return wrapped(a << b, within)
            # Without a sign, zeros are shifted in.
            count = 1 << bits(within)
            pattern = a % count
            return wrapped(
                (pattern - count if signed and 2 * pattern >= count else pattern) >> b, within
            )
        case (("lt" | "le" | "gt" | "ge" | "eq" | "ne"), [a, b]):
            return int(SIGNS[name](a, b))
        case "neg", [a]:
            return wrapped(-a, within)
        case "invert", [a]:
            return wrapped(~a, within)
        case "abs", [a]:
            return wrapped(abs(a), within)
        case "clamp", [a, low, high]:
            return min(max(a, low), high)
        case _ if name.startswith("max"):
            return max(numbers)
        case _ if name.startswith("min"):
            return min(numbers)
        case _:
            return None


def _of_floats(name: str, values: list[Number], within: str) -> Number | None:
    numbers = [float(one) for one in values]
    if name in SIGNS:
        return int(SIGNS[name](*numbers))
    if name == "clamp" or name.startswith(("max", "min")):
        return _extreme(name, numbers)
    if any(not math.isfinite(one) for one in numbers):
        return _beyond(name, numbers)
    exact = [Fraction(one) for one in numbers]
    match name, exact:
        case "add", [a, b]:
            return nearest(a + b, within)
        case "sub", [a, b]:
            return nearest(a - b, within)
        case "mul", [a, b]:
            return nearest(a * b, within)
        case (("div" | "fdiv" | "div_rn"), [a, b]):
            far = within == "tl.float32" and name != "div_rn" and abs(b) >= Fraction(2) ** 126
            return None if b == 0 or far else nearest(a / b, within)
        case "mod", [a, b]:
            return None if b == 0 or abs(a) > 2**20 * abs(b) else math.fmod(*numbers)
        case "fma", [a, b, c]:
            return nearest(a * b + c, within)
        case "neg", [_]:
            return -numbers[0]
        case "abs", [_]:
            return abs(numbers[0])
        case (("floor" | "ceil"), [a]):
            return nearest(math.floor(a) if name == "floor" else math.ceil(a), within)
        case _, [_]:
            return _function(name, numbers[0], within)
        case _:
            return None


def _extreme(name: str, numbers: list[float]) -> Number | None:
    """A nan loses, unless the operation is told that it wins; `clamp` leaves that open."""
    if any(map(math.isnan, numbers)):
        if name == "clamp":
            return None
        if name.endswith("of all"):
            return math.nan
        numbers = [one for one in numbers if not math.isnan(one)] or [math.nan]
    if name == "clamp":
        value, low, high = numbers
        return None if low > high else min(max(value, low), high)
    return max(numbers) if name.startswith("max") else min(numbers)


def _beyond(name: str, numbers: list[float]) -> Number | None:
    """Compute with infinities and nan, where Python does so, too."""
    match name, numbers:
        case "add", [a, b]:
            return a + b
        case "sub", [a, b]:
            return a - b
        case "mul", [a, b]:
            return a * b
        case "neg", [a]:
            return -a
        case "abs", [a]:
            return abs(a)
        case _ if any(map(math.isnan, numbers)) and name != "fma":
            return math.nan
        case _:
            return None


def _function(name: str, value: float, within: str) -> Number | None:
    if abs(value) > 80 or (value != 0 and abs(value) < float(Fraction(2) ** SHAPES[within][1])):
        return None
    try:
        match name:
            case "exp" | "sin" | "cos" | "erf" | "log2":
                return nearest(float(getattr(math, name)(value)), within)
            case "exp2":
                return nearest(2.0**value, within)
            case "log":
                return nearest(math.log(value), within)
            case "sqrt" | "sqrt_rn":
                return nearest(math.sqrt(value), within)
            case "rsqrt":
                return nearest(1 / math.sqrt(value), within)
            case "sigmoid":
                return nearest(1 / (1 + math.exp(-value)), within)
            case _:
                return None
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def agrees(name: str, wanted: Number, found: Number, of: str) -> bool:
    """True if a value is the expected one; the sign of 0 does not count."""
    if isinstance(wanted, float) and math.isnan(wanted):
        return isinstance(found, float) and math.isnan(found)
    if wanted == found:
        return True
    if name not in NEAR or not is_float(of) or not math.isfinite(wanted):
        return False
    digits, least, _, _ = SHAPES[of]
    room = abs(wanted) * 2.0 ** (6 - digits) + 8 * float(Fraction(2) ** max(least, -1000))
    return abs(wanted - found) <= room
