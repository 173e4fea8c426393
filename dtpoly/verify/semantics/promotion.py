"""Work out the type to which Triton brings both operands of an operation."""

from __future__ import annotations

from dtpoly.verify.semantics.types import (
    EIGHTS,
    REFUSED,
    TRUTH,
    bits,
    is_constant,
    is_float,
    is_signed,
    tensor,
)

# Beside a tensor of the same rank, or of a higher one, a constant takes its type.
_RANKS = {"bool": 0, "int": 1, "long": 1, "float": 2, "double": 2}


def _rank(of: str) -> int:
    if of in _RANKS:
        return _RANKS[of]
    return 2 if is_float(of) else 0 if of == TRUTH else 1


def promoted(first: str, second: str, *, divides: bool = False) -> str:
    """Return the type in which two operands meet; `divides` is for quotients and remainders."""
    for one, other in ((first, second), (second, first)):
        if is_constant(one) and not is_constant(other) and _rank(one) <= _rank(other):
            first = second = other
            break
    a, b = tensor(first), tensor(second)
    both = (a, b)
    if "tl.float64" in both:
        return "tl.float64"
    if divides and (is_float(a) or is_float(b)):
        return "tl.float32"
    for one in ("tl.float32", "tl.float16"):
        if one in both:
            return one
    if "tl.bfloat16" in both:
        return "tl.bfloat16" if a == b else "tl.float32"
    if a in EIGHTS and b in EIGHTS:
        return a if a == b else "tl.float16"
    if is_float(a) or is_float(b):
        return REFUSED
    if divides and is_signed(a) != is_signed(b):
        return REFUSED
    return whole(a, b)


def whole(first: str, second: str) -> str:
    """Return the type in which two whole numbers meet.

    It is the wider one; of two types with equally many bits it is the one without a sign.
    """
    if is_signed(first) == is_signed(second):
        return first if bits(first) > bits(second) else second
    unsigned, signed = (second, first) if is_signed(first) else (first, second)
    return unsigned if bits(unsigned) >= bits(signed) else signed
