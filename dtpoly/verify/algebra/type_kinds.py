"""Kinds: the names of element types, and which of them hold all values of which.

From this follows where a kernel rounds, and where it may. A kind is a string: a type of Triton
(`tl.float16`); `real` (the type in which floats are computed); `offset`; `stored A B` (the promoted
type of inputs A and B whose types the caller decides); `operand A B` (the type in which those are
multiplied); `size` (a whole number that the caller passes); or empty (a written number). Some more
are defined below.
"""

from __future__ import annotations

FLOATS = ("tl.float8e4nv", "tl.float8e5", "tl.float16", "tl.bfloat16", "tl.float32", "tl.float64")
EIGHTS = FLOATS[:2]
# The names of maxima and minima in which a number wins over a NaN end with this.
WITHOUT_NAN = " without nan"
WHOLES = (
    *("tl.int8", "tl.uint8", "tl.int16", "tl.int32", "tl.int64"),
    *("tl.uint16", "tl.uint32", "tl.uint64"),
)
# Types that Triton gives to sums and to wide constants. No tensor of a Program has such a type.
UNSIGNED = WHOLES[5:]
LEAST: dict[str, int] = {
    one: 0 if "u" in one else -(2 ** (int(one.removeprefix("tl.int")) - 1)) for one in WHOLES
}
LARGEST: dict[str, int] = {
    one: -1 - least if least else 2 ** int(one.removeprefix("tl.uint")) - 1
    for one, least in LEAST.items()
}
# How many binary digits a type of whole numbers has: its numbers are residues of 2 to that power.
WIDTHS = {one: (largest - LEAST[one]).bit_length() for one, largest in LARGEST.items()}
# How many bytes an element of a tensor has.
BYTES = {
    **{one: width // 8 for one, width in WIDTHS.items()},
    **{"tl.float8e4nv": 1, "tl.float8e5": 1, "tl.float16": 2, "tl.bfloat16": 2},
    **{"tl.float32": 4, "tl.float64": 8, "tl.int1": 1},
}
# How many binary digits `size` and `offset` have at least.
LEAST_WIDTH = 32
# How many binary digits the values of a type of floats have.
DIGITS = {
    "tl.float8e4nv": 4,
    "tl.float8e5": 3,
    "tl.float16": 11,
    "tl.bfloat16": 8,
    "tl.float32": 24,
    "tl.float64": 53,
}
# 32 bits hold the whole numbers from -2^31 to 2^31 - 1.
HALF = 2**31
# Sizes from 2^31 - 2^20 up to 2^31 are refused.
NEAR = 2**20
BOOL = "tl.int1"
REAL = "real"
WEAK = ""
SIZE = "size"
OFFSET = "offset"
# A truth that may be a tensor's or Python's: a comparison of a size is Python's if the size is 1,
# since Triton makes a constant of such a size.
TRUTH = "truth"
# A float that may be an f32 or a float of Python, where f32 holds the number. A name that is set to
# a written float has this kind.
NUMBER = "number"
# Values that may be numbers of Python if they have no lanes.
PYTHONS = (WEAK, SIZE, TRUTH, NUMBER)
LOST = "unknown"
# Whole numbers that may have 64 bits.
MAY_BE_LONG = ("tl.int64", SIZE, OFFSET)
# Kinds in which floats are computed.
WIDE = ("tl.float32", "tl.float64", REAL, NUMBER, WEAK)
_HELD = {
    "tl.float16": ("tl.float8e4nv", "tl.float8e5"),
    "tl.bfloat16": ("tl.float8e4nv", "tl.float8e5"),
    # A name is set only to numbers that f32 holds (see typed.kept).
    "tl.float32": ("tl.float8e4nv", "tl.float8e5", "tl.float16", "tl.bfloat16", NUMBER),
    "tl.int16": ("tl.int8", "tl.uint8", BOOL),
    "tl.int32": ("tl.int16", "tl.int8", "tl.uint8", BOOL, "tl.uint16"),
    "tl.int64": (
        *("tl.int32", "tl.int16", "tl.int8", "tl.uint8", BOOL, SIZE, OFFSET),
        *("tl.uint16", "tl.uint32"),
    ),
    "tl.uint16": ("tl.uint8", BOOL),
    "tl.uint32": ("tl.uint8", "tl.uint16", BOOL),
    "tl.uint64": ("tl.uint8", "tl.uint16", "tl.uint32", BOOL),
    "tl.int8": (BOOL,),
    "tl.uint8": (BOOL,),
    SIZE: ("tl.int32", "tl.int16", "tl.int8", "tl.uint8", BOOL),
    OFFSET: ("tl.int32", "tl.int16", "tl.int8", "tl.uint8", BOOL, SIZE),
}


def is_whole(kind: str) -> bool:
    """Return whether a kind is a type of whole numbers."""
    return kind in WHOLES or kind in (SIZE, OFFSET)


def is_float(kind: str) -> bool:
    """Return whether a kind is a type of floats."""
    return kind in FLOATS or kind in (REAL, NUMBER) or bool(members(kind))


def members(kind: str) -> frozenset[str]:
    """Return the inputs, and the type, that a promoted kind must hold; empty for other kinds."""
    word, *parts = kind.split(" ")
    return frozenset(parts) if word in ("stored", "operand") else frozenset()


def may_be_eight(kind: str) -> bool:
    """Return whether values may be floats of 8 bits: Triton can only move and convert these."""
    parts = members(kind) if kind.startswith("stored ") else {kind}
    return any(one in EIGHTS or (one != kind and one not in FLOATS) for one in parts)


def may_be_double(kind: str) -> bool:
    """Return whether values of a kind may be in f64, as where callers decide it."""
    parts = members(kind) or {kind}
    return any(one in ("tl.float64", REAL) or (one != kind and one not in FLOATS) for one in parts)


def stored(parts: frozenset[str]) -> str:
    """Return the kind that holds the values of some inputs, and of a type if one is among them."""
    return " ".join(("stored", *sorted(parts)))


def operand(kind: str) -> str:
    """Return the kind in which values of a kind are multiplied; it holds all of them."""
    return " ".join(("operand", *sorted(members(kind) or {kind})))


def holds(wide: str, narrow: str) -> bool:
    """Return whether each value of the kind `narrow` is a value of the kind `wide`, too."""
    if wide == narrow or (wide == "tl.float64" and is_float(narrow)):
        return True
    inside, outside = members(narrow), members(wide)
    if inside and outside:
        return inside <= outside and not (
            narrow.startswith("operand") and wide.startswith("stored")
        )
    if outside:
        return narrow in outside
    if wide == REAL:
        # If an input has 64 bits, `real` has 64 bits, too. But it does not hold f64 as such.
        return all(one not in FLOATS or one != "tl.float64" for one in inside) and (
            bool(inside) or (narrow in FLOATS and narrow != "tl.float64")
        )
    return narrow in _HELD.get(wide, ())


def met(first: str, second: str) -> str:
    """Return the kind of a value that is computed from values of two kinds."""
    if first == second or second == WEAK:
        return first
    if first == WEAK:
        return second
    if is_float(first) != is_float(second):
        return first if is_float(first) else second
    if holds(first, second):
        return first
    if holds(second, first):
        return second
    parts = members(first) | members(second)
    if parts:
        parts |= {one for one in (first, second) if not members(one)}
        return stored(frozenset(parts))
    return LOST


def is_narrow(kind: str) -> bool:
    """Return whether a kind has fewer digits than the types in which values are computed."""
    return kind not in WIDE and kind not in ("tl.int32", "tl.int64", SIZE, OFFSET, BOOL)


def extreme(value: int, kind: str) -> str | None:
    """Return `least` or `most` and the type, if a number is the least or largest of its type.

    No number of that type is less, or more, so `max` or `min` may start with it. In any other type
    it is a number like others (see `exact`).
    """
    if kind not in WHOLES:
        return None
    if value == LEAST[kind]:
        return f"least {kind}"
    return f"most {kind}" if value == LARGEST[kind] else None


def exact(text: str) -> str:
    """Return the text of a written number; for the least or largest of a type, its digits."""
    word, _, kind = text.partition(" ")
    bounds = {"least": LEAST, "most": LARGEST}.get(word)
    return text if bounds is None else str(bounds[kind])
