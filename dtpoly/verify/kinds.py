"""Element types by name, and which hold the values of which: where a kernel rounds, and may.

A kind is a name: of Triton (`tl.float16`), `real`, `offset`, `stored A B` (the promoted type of
inputs whose types the caller decides), `operand A B` (in which those are multiplied), `size` (a
whole number that the caller passes) or nothing (a number as written).
"""

from __future__ import annotations

FLOATS = ("tl.float8e4nv", "tl.float8e5", "tl.float16", "tl.bfloat16", "tl.float32", "tl.float64")
EIGHTS = FLOATS[:2]
# What the name of an extreme ends with where a number wins over a NaN.
WITHOUT_NAN = " without nan"
WHOLES = (
    *("tl.int8", "tl.uint8", "tl.int16", "tl.int32", "tl.int64"),
    *("tl.uint16", "tl.uint32", "tl.uint64"),
)
# What Triton makes of sums and of wide constants; no tensor of a Program has such numbers.
UNSIGNED = WHOLES[5:]
LEAST: dict[str, int] = {
    one: 0 if "u" in one else -(2 ** (int(one.removeprefix("tl.int")) - 1)) for one in WHOLES
}
LARGEST: dict[str, int] = {
    one: -1 - least if least else 2 ** int(one.removeprefix("tl.uint")) - 1
    for one, least in LEAST.items()
}
# How many binary digits the numbers of a type of whole numbers have, of which they are residues.
WIDTHS = {one: (largest - LEAST[one]).bit_length() for one, largest in LARGEST.items()}
# How many bytes an element of a tensor has.
BYTES = {
    **{one: width // 8 for one, width in WIDTHS.items()},
    **{"tl.float8e4nv": 1, "tl.float8e5": 1, "tl.float16": 2, "tl.bfloat16": 2},
    **{"tl.float32": 4, "tl.float64": 8, "tl.int1": 1},
}
# How many `size` and `offset` have at least.
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
BOOL = "tl.int1"
REAL = "real"
WEAK = ""
SIZE = "size"
OFFSET = "offset"
# A truth of a tensor, or one of Python's: a comparison of a size is that where the size is 1.
TRUTH = "truth"
# A float of 32 bits or one of Python's, where f32 has the number: what a name is set to.
NUMBER = "number"
LOST = "unknown"
# Whole numbers that may have 64 bits.
MAY_BE_LONG = ("tl.int64", SIZE, OFFSET)
# What floats are computed in.
WIDE = ("tl.float32", "tl.float64", REAL, NUMBER, WEAK)
_HELD = {
    "tl.float16": ("tl.float8e4nv", "tl.float8e5"),
    "tl.bfloat16": ("tl.float8e4nv", "tl.float8e5"),
    # A name is set only to such a number that f32 holds it (see typed.kept).
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
    """True for a type of whole numbers."""
    return kind in WHOLES or kind in (SIZE, OFFSET)


def is_float(kind: str) -> bool:
    """True for a type of floats."""
    return kind in FLOATS or kind in (REAL, NUMBER) or bool(members(kind))


def members(kind: str) -> frozenset[str]:
    """The inputs, and the type, of a promoted kind; nothing of others."""
    word, *parts = kind.split(" ")
    return frozenset(parts) if word in ("stored", "operand") else frozenset()


def may_be_eight(kind: str) -> bool:
    """True if values may be floats of 8 bits: Triton moves and converts these, and no more."""
    parts = members(kind) if kind.startswith("stored ") else {kind}
    return any(one in EIGHTS or (one != kind and one not in FLOATS) for one in parts)


def stored(parts: frozenset[str]) -> str:
    """The kind that holds values of inputs, and of a type."""
    return " ".join(("stored", *sorted(parts)))


def operand(kind: str) -> str:
    """The kind in which values of a kind are multiplied; it holds them."""
    return " ".join(("operand", *sorted(members(kind) or {kind})))


def holds(wide: str, narrow: str) -> bool:
    """True if each value of one kind is one of the other too."""
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
        # An input of 64 bits makes it 64 bits wide.
        return all(one not in FLOATS or one != "tl.float64" for one in inside) and (
            bool(inside) or (narrow in FLOATS and narrow != "tl.float64")
        )
    return narrow in _HELD.get(wide, ())


def met(first: str, second: str) -> str:
    """The kind of what is computed from two values."""
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
    """True if arithmetic in the kind rounds to less than values are computed in."""
    return kind not in WIDE and kind not in ("tl.int32", "tl.int64", SIZE, OFFSET, BOOL)


def extreme(value: int, kind: str) -> str | None:
    """`least` or `most` and the type, if a number is the least or largest of its type.

    Nothing of that type is less, or more: there it is what `max` or `min` may start with. In any
    other type it is a number like others (see `exact`).
    """
    if kind not in WHOLES:
        return None
    if value == LEAST[kind]:
        return f"least {kind}"
    return f"most {kind}" if value == LARGEST[kind] else None


def exact(text: str) -> str:
    """A number as written; of one that is the least or largest of its type, its digits."""
    word, _, kind = text.partition(" ")
    bounds = {"least": LEAST, "most": LARGEST}.get(word)
    return text if bounds is None else str(bounds[kind])
