"""Types of values: of tensors by their name in Triton, of constants by that in Python.

A constant is a number or a truth as written, or a parameter that is a `tl.constexpr`. Triton keeps
it as a value of Python's until a tensor meets it.
"""

from __future__ import annotations

TRUTH = "tl.int1"
SIGNED = ("tl.int8", "tl.int16", "tl.int32", "tl.int64")
UNSIGNED = ("tl.uint8", "tl.uint16", "tl.uint32", "tl.uint64")
EIGHTS = ("tl.float8e4nv", "tl.float8e5")
STANDARD = ("tl.float16", "tl.bfloat16", "tl.float32", "tl.float64")
FLOATS = (*EIGHTS, *STANDARD)
WHOLES = (*SIGNED, *UNSIGNED)
TENSORS = (TRUTH, *WHOLES, *FLOATS)

# Constants of Python's. An `int` here is one that 32 bits hold, and a `float` one that is 0, not
# finite, or between the least normal and the largest number of f32. Triton gives others a wider
# type: a whole number below -2^31 or from 2^32 on is `long`, another float is `double`.
CONSTANTS = ("bool", "int", "float", "long", "double")
# The type of a tensor that is made of a constant alone.
MADE = {
    "bool": TRUTH,
    "int": "tl.int32",
    "float": "tl.float32",
    "long": "tl.int64",
    "double": "tl.float64",
}
TYPES = (*TENSORS, *CONSTANTS)

# The type of an operation that Triton does not compile: it only raises an exception.
REFUSED = "refused"


def bits(of: str) -> int:
    """Return how many bits a value of a type has."""
    if of == TRUTH:
        return 1
    digits = "".join(one if one.isdigit() else " " for one in of.partition("e")[0]).split()
    return int(digits[0])


def is_constant(of: str) -> bool:
    """True for a constant of Python's."""
    return of in CONSTANTS


def tensor(of: str) -> str:
    """Return the type of a tensor that is made of such a value."""
    return MADE.get(of, of)


def is_float(of: str) -> bool:
    """True for a float, of a tensor or of Python's."""
    return tensor(of) in FLOATS


def is_signed(of: str) -> bool:
    """True for whole numbers with a sign; truths have none."""
    return tensor(of) in SIGNED


def is_whole(of: str) -> bool:
    """True for whole numbers and truths."""
    return not is_float(of)
