"""Computes with numbers of Triton's types in Python: rounded, wrapped, and as bytes in memory."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from dtpoly.verify.semantics.types import SIGNED, TRUTH, UNSIGNED, bits, is_float

Number = int | float
# For floats: digits, exponent of the least normal number, largest number, and bits of the exponent.
SHAPES: dict[str, tuple[int, int, Fraction, int]] = {
    "tl.float8e4nv": (4, -6, Fraction(448), 4),
    "tl.float8e5": (3, -14, Fraction(57344), 5),
    "tl.float16": (11, -14, Fraction(65504), 5),
    "tl.bfloat16": (8, -126, Fraction(2**128 - 2**120), 8),
    "tl.float32": (24, -126, Fraction(2**128 - 2**104), 8),
    "tl.float64": (53, -1022, Fraction(2**1024 - 2**971), 11),
}


def nearest(value: Number | Fraction, of: str) -> float:
    """Return the nearest number of a type, the even one of two.

    A number that is too large is infinite.
    """
    if isinstance(value, float) and (not math.isfinite(value) or not value):
        return value
    return _nearest(Fraction(value), of)


@lru_cache(maxsize=1 << 18)
def _nearest(exact: Fraction, of: str) -> float:
    digits, least, largest, _ = SHAPES[of]
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, least) - digits + 1)
    found = round(size / step) * step
    result = math.inf if found > largest else float(found)
    return math.copysign(result, -1.0 if exact < 0 else 1.0)


def wrapped(value: int, of: str) -> int:
    """Return the whole number that has the last bits of this one, as many as the type has."""
    if of == TRUTH:
        return value & 1
    count = 1 << bits(of)
    value %= count
    return value - count if of in SIGNED and value >= count // 2 else value


def ends(of: str) -> tuple[int, int]:
    """Return the least and the largest number of a type of whole numbers."""
    if of in UNSIGNED or of == TRUTH:
        return 0, (1 << bits(of)) - 1
    return -(1 << (bits(of) - 1)), (1 << (bits(of) - 1)) - 1


def edges(of: str) -> list[Number]:
    """Return sixteen numbers of a type, with its ends."""
    if of == TRUTH:
        return [0, 1, 1, 0] * 4
    if is_float(of):
        digits, least, largest, _ = SHAPES[of]
        tiny = float(Fraction(2) ** least)
        least_of_all = float(Fraction(2) ** (least - digits + 1))
        infinite = 3.0 if of == "tl.float8e4nv" else math.inf
        return [
            *(0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.0, 5.0, infinite, -infinite, math.nan),
            *(float(largest), tiny, least_of_all, nearest(1 / 3, of), nearest(-100.0, of)),
        ]
    low, high = ends(of)
    if low:
        return [0, 1, 2, 3, -1, -2, -3, 7, -7, 100, -100, high, low, high - 1, low + 1, 10]
    middle = (high + 1) // 2
    return [0, 1, 2, 3, 5, 7, 10, 100, high, high - 1, middle - 1, middle, middle - 2, 64, 31, 13]


_WHOLE = {8: "b", 16: "h", 32: "i", 64: "q"}


def packed(values: Sequence[Number], of: str) -> bytes:
    """Return numbers as bytes, as they are in memory."""
    if of == TRUTH:
        return bytes(int(one) for one in values)
    if not is_float(of):
        code = _WHOLE[bits(of)]
        code = code if of in SIGNED else code.upper()
        return struct.pack(f"<{len(values)}{code}", *(int(one) for one in values))
    write: Callable[[float], bytes] = _WRITERS[of]
    return b"".join(write(float(one)) for one in values)


def unpacked(data: bytes, of: str) -> list[Number]:
    """Return bytes as numbers."""
    if of == TRUTH:
        return [int(one != 0) for one in data]
    if not is_float(of):
        code = _WHOLE[bits(of)]
        code = code if of in SIGNED else code.upper()
        return list(struct.unpack(f"<{len(data) * 8 // bits(of)}{code}", data))
    size = bits(of) // 8
    read: Callable[[bytes], float] = _READERS[of]
    return [read(data[at : at + size]) for at in range(0, len(data), size)]


def _brain(value: float) -> bytes:
    return struct.pack("<f", value)[2:]


def _eight(of: str) -> tuple[dict[int, float], dict[str, int]]:
    """Return the number of each byte, and the byte of each number."""
    digits, least, _, width = SHAPES[of]
    meanings: dict[int, float] = {}
    for byte in range(256):
        exponent, rest = byte >> (digits - 1) & ((1 << width) - 1), byte & ((1 << (digits - 1)) - 1)
        scale = Fraction(2) ** (max(exponent, 1) - 1 + least - digits + 1)
        value = float((rest + ((exponent > 0) << (digits - 1))) * scale)
        last = exponent == (1 << width) - 1
        if of == "tl.float8e5" and last:
            value = math.nan if rest else math.inf
        if of == "tl.float8e4nv" and last and rest == (1 << (digits - 1)) - 1:
            value = math.nan
        meanings[byte] = -value if byte >> 7 else value
    return meanings, {repr(value): byte for byte, value in reversed(meanings.items())}


_MEANINGS = {of: _eight(of) for of in ("tl.float8e4nv", "tl.float8e5")}
_WRITERS: dict[str, Callable[[float], bytes]] = {
    "tl.float16": lambda one: struct.pack("<e", one),
    "tl.bfloat16": _brain,
    "tl.float32": lambda one: struct.pack("<f", one),
    "tl.float64": lambda one: struct.pack("<d", one),
    "tl.float8e4nv": lambda one: bytes([_MEANINGS["tl.float8e4nv"][1][repr(one)]]),
    "tl.float8e5": lambda one: bytes([_MEANINGS["tl.float8e5"][1][repr(one)]]),
}
_READERS: dict[str, Callable[[bytes], float]] = {
    "tl.float16": lambda data: float(struct.unpack("<e", data)[0]),
    "tl.bfloat16": lambda data: float(struct.unpack("<f", b"\0\0" + data)[0]),
    "tl.float32": lambda data: float(struct.unpack("<f", data)[0]),
    "tl.float64": lambda data: float(struct.unpack("<d", data)[0]),
    "tl.float8e4nv": lambda data: _MEANINGS["tl.float8e4nv"][0][data[0]],
    "tl.float8e5": lambda data: _MEANINGS["tl.float8e5"][0][data[0]],
}
