"""Numbers of the evaluator: arrays with exact types, and how far off what they say may be.

This is written from scratch. It shares no code with the verifier, since it is there to catch the
verifier's mistakes.

- A truth is a `bool`, a whole number an `int64` that wraps as residues do, a float a `float32` or
  a `float64`. Values of f16, bf16 and the 8-bit floats are kept in `float32`, which holds them.
- A number *as written* (`is_written`) has no type: it takes that of what it meets.
- The verifier does not say whether `x * y` of whole numbers is computed in floats: it leaves out a
  cast that changes no value. `floats` is what it is in floats, where that differs; a whole number
  that was brought to a type of whole numbers has none. `lone` is the type of those floats.
- `slack` says by how much the number may differ where Triton leaves that open: the order of a sum,
  the last digits of `exp`. Where it is infinite, nothing is said (what a load without `other` gives
  at a lane that is masked out). None is zero, and then the number has to be right to the last bit.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Array = NDArray[Any]
EPSILON = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
BITS = {f"tl.{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
# Of values of the type: how much one digit in the last place is, beside the value.
LAST_PLACE = {
    "tl.float64": 2.0**-52,
    "tl.float32": 2.0**-23,
    "tl.float16": 2.0**-10,
    "tl.bfloat16": 2.0**-7,
    "tl.float8e4nv": 2.0**-3,
    "tl.float8e5": 2.0**-2,
}
# The least step between two numbers of the type.
LEAST_STEP = {
    "tl.float64": 5e-324,
    "tl.float32": 2.0**-149,
    "tl.float16": 2.0**-24,
    "tl.bfloat16": 2.0**-133,
    "tl.float8e4nv": 2.0**-9,
    "tl.float8e5": 2.0**-16,
}
EIGHTS = {"tl.float8e4nv": torch.float8_e4m3fn, "tl.float8e5": torch.float8_e5m2}
LARGEST_OF_EIGHTS = {one: float(torch.finfo(dtype).max) for one, dtype in EIGHTS.items()}


class CannotSayError(Exception):
    """The evaluator does not know what a term means; so it says nothing of the kernel."""


@dataclass(frozen=True)
class Number:
    """A number at each of some points."""

    data: Array
    slack: Array | None = None
    is_written: bool = False
    # Of a whole number: where it is too large for 64 bits, so that only its residue is right.
    is_wide: Array | None = None
    # Of a whole number: what it is if floats are computed with, where that is something else.
    floats: "Number | None" = None
    # Of a whole number: the type of floats that it becomes beside what has no type.
    lone: Any = np.float32

    @property
    def is_float(self) -> bool:
        """True for floats, as written or not."""
        return self.data.dtype.kind == "f"

    @property
    def is_truth(self) -> bool:
        """True for truths."""
        return self.data.dtype.kind == "b"

    @property
    def error(self) -> Array:
        """Return the slack, as an array."""
        return np.zeros((), np.float64) if self.slack is None else self.slack


def written(value: float) -> Number:
    """Return a number as written."""
    if isinstance(value, bool):
        return Number(np.asarray(value))
    is_whole = isinstance(value, int)
    return Number(np.asarray(value, np.int64 if is_whole else np.float64), is_written=True)


UNKNOWN = Number(np.asarray(0, np.int64), np.asarray(np.inf), is_written=True)


def slack_of(*parts: Array | None) -> Array | None:
    """Return the sum of what several things may be off by."""
    known = [one for one in parts if one is not None]
    if not known:
        return None
    total = known[0]
    for one in known[1:]:
        total = total + one
    # What has no number, such as infinity less infinity, says nothing.
    total = np.where(np.isnan(total), np.inf, total)
    return total if bool(np.any(total != 0)) else None


def certain(number: Number) -> Number:
    """Return the number; nothing is said of one that is too large for 64 bits."""
    if number.is_wide is None:
        return number
    loose = np.where(number.is_wide, np.inf, 0.0)
    return replace(number, slack=slack_of(number.slack, loose), is_wide=None)


def float_type(*numbers: Number) -> Any:
    """Return the type in which floats are computed."""
    typed = [np.dtype(one.data.dtype if one.is_float else one.lone) for one in numbers]
    typed = [of for of, one in zip(typed, numbers, strict=True) if not one.is_written]
    return np.float64 if np.dtype(np.float64) in typed else np.float32


def as_float(number: Number, of: Any) -> Number:
    """Return the number as a float of the type in which is computed."""
    number = certain(number if number.floats is None else number.floats)
    with np.errstate(all="ignore"):
        return replace(number, data=number.data.astype(of), is_written=False)


def as_whole(number: Number) -> Number:
    """Return a truth as 0 or 1, and a whole number as it is."""
    if number.is_float:
        raise CannotSayError("a float where a whole number must be")
    return replace(number, data=number.data.astype(np.int64))


def wrapped(kind: str, data: Array) -> Array:
    """Return the residue that is a number of a type of whole numbers."""
    bits = BITS[kind]
    if bits == 64:
        return data
    low = data & ((1 << bits) - 1)
    if kind.startswith("tl.uint"):
        return low
    return np.where(low >= 1 << (bits - 1), low - (1 << bits), low)


def nearest(kind: str, data: Array) -> Array:
    """The nearest number of a type of floats, of two the even one; kept in a type that holds it."""
    with np.errstate(all="ignore"):
        match kind:
            case "tl.float64":
                return data.astype(np.float64)
            case "tl.float32":
                return data.astype(np.float32)
            case "tl.float16":
                return data.astype(np.float16).astype(np.float32)
            case "tl.bfloat16":
                return _bfloat16(data)
            case _ if kind in EIGHTS:
                tensor = torch.tensor(data.astype(np.float32)).to(EIGHTS[kind]).float()
                return np.asarray(tensor.numpy())
            case _:
                raise CannotSayError(f"rounded to '{kind}'")


def left_open(kind: str, data: Array) -> Array | None:
    """The slack of what is brought to a type: the language says nothing of some 8-bit floats.

    That is what is too large or infinite there: some machines make an infinity of it, others the
    largest number.
    """
    if kind not in EIGHTS:
        return None
    with np.errstate(all="ignore"):
        return np.where(np.abs(data) > LARGEST_OF_EIGHTS[kind], np.inf, 0.0)


def _bfloat16(data: Array) -> Array:
    """Rounded once, also from 64 bits: f32 with the last bit set where digits were cut off."""
    narrow = data.astype(np.float32)
    if data.dtype == np.float64:
        near = narrow.astype(np.float64)
        toward_zero = np.where(
            np.abs(near) > np.abs(data), np.nextafter(narrow, np.float32(0)), narrow
        )
        is_cut = np.isfinite(data) & (toward_zero.astype(np.float64) != data)
        bits = toward_zero.astype(np.float32).view(np.uint32)
        narrow = (
            np.where(is_cut, bits | 1, narrow.view(np.uint32)).astype(np.uint32).view(np.float32)
        )
    bits = np.ascontiguousarray(narrow).view(np.uint32).astype(np.uint64)
    up = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    found = up.astype(np.uint32).view(np.float32)
    return np.where(np.isnan(narrow), np.float32(np.nan), found)


def rounded(kind: str, number: Number) -> Number:
    """Return the number brought to a type."""
    if kind in BITS:
        if number.is_float:
            # The verifier takes a float for a whole number; what memory holds shows whether it may.
            return cast_to_whole(kind, number)
        return Number(wrapped(kind, as_whole(number).data), number.slack)
    if kind in ("size", "offset"):
        return number  # Sizes are far from where their type ends.
    number = certain(number if number.floats is None else number.floats)
    if kind == "tl.int1":
        return Number(number.data != 0, number.slack)
    if kind.startswith("tf32"):
        # How Triton gets there differs between machines: it may keep all digits.
        loose = np.abs(number.data) * 2.0 ** (-10 if kind == "tf32" else -20)
        return replace(number, slack=slack_of(number.slack, loose.astype(np.float64)))
    data = nearest(kind, number.data if number.is_float else number.data.astype(np.float64))
    more = left_open(kind, number.data)
    if more is not None and np.any(more):
        number = replace(number, slack=slack_of(number.slack, more))
    if number.slack is None:
        return Number(data)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(data).astype(np.float64), np.abs(number.data).astype(np.float64))
        step = np.maximum((size + number.slack) * LAST_PLACE[kind], LEAST_STEP[kind])
        step = np.where(number.slack > 0, step, 0.0)
        # Near the largest number of the type it may be an infinity, or none.
        step = np.where((number.slack > 0) & ~np.isfinite(data), np.inf, step)
    return Number(data, slack_of(number.slack, step))


def as_float_of_whole(number: Number) -> Number:
    """Return a whole number that the verifier keeps as it is, though it is a float by now.

    Nothing is said of one that f32 does not hold.
    """
    if number.is_float or number.is_truth:
        return as_float(number, np.float64)
    if number.floats is not None:
        return as_float(number, np.float64)
    number = certain(number)
    data = number.data.astype(np.float64)
    is_held = np.abs(data) <= 2.0**24
    return Number(data, slack_of(number.slack, np.where(is_held, 0.0, np.inf)))


def cast_to_whole(kind: str, number: Number) -> Number:
    """Return a float as a whole number: towards 0. Outside of the type Triton says nothing."""
    if not number.is_float:
        return rounded(kind, number)
    bits = BITS[kind]
    is_signed = not kind.startswith("tl.uint")
    low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if is_signed else (0.0, 2.0**bits)
    cut = np.trunc(number.data.astype(np.float64))
    is_there = np.isfinite(cut) & (cut >= low) & (cut < high)
    data = np.where(is_there, cut, 0.0).astype(np.int64)
    loose = np.where(is_there, 0.0, np.inf)
    if number.slack is not None:
        near = np.floor(number.data.astype(np.float64) + number.slack) != np.floor(
            number.data.astype(np.float64) - number.slack
        )
        loose = loose + np.where(near & (number.slack > 0), np.inf, 0.0)
    return Number(data, slack_of(loose))
