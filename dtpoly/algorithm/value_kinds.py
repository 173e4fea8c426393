"""Follows of which kinds a value can be: an infinity, 0, 1, another number, or a nan.

A value is a set of kinds. Numbers are real here: a sum of two numbers is a number.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache

from dtpoly.algorithm.dtypes import DType, is_float


class RealKind(Enum):
    """The kind of one value, from nan to the infinities."""

    NAN = "nan"
    LOW = "-inf"
    NEGATIVE = "a number below 0"
    ZERO = "0"
    ONE = "1"
    POSITIVE = "a number above 0 that is not 1"
    HIGH = "inf"


Kinds = frozenset[RealKind]
NAN, LOW, NEGATIVE, ZERO, ONE, POSITIVE, HIGH = RealKind
ANY: Kinds = frozenset(RealKind)
FINITE: Kinds = frozenset({NEGATIVE, ZERO, ONE, POSITIVE})
ABOVE: Kinds = frozenset({ONE, POSITIVE})
NATURAL: Kinds = frozenset({ZERO, ONE, POSITIVE})
TRUTH: Kinds = frozenset({ZERO, ONE})
# By reductions, the value that changes nothing.
IDENTITY: Mapping[str, RealKind] = {
    "rsum": ZERO,
    "rprod": ONE,
    "rmax": LOW,
    "rmin": HIGH,
    "rany": ZERO,
    "rall": ONE,
}
# Types that have both infinities and hold 0 and 1; None is the type of a caller.
WIDE = (None, DType.F16, DType.BF16, DType.F32, DType.F64)
RANK = {LOW: 0, NEGATIVE: 1, ZERO: 2, ONE: 3, POSITIVE: 3, HIGH: 4}


def of_number(value: float) -> Kinds:
    """Return the kind of a written number."""
    if value != value:
        return frozenset({NAN})
    if value in (0, 1):
        return frozenset({ONE if value else ZERO})
    if value in (float("inf"), -float("inf")):
        return frozenset({HIGH if value > 0 else LOW})
    return frozenset({POSITIVE if value > 0 else NEGATIVE})


def converted(kinds: Kinds, dtype: DType | None) -> Kinds:
    """Return the kinds of a value that is brought to a type; a small number may become 0 there."""
    if dtype in WIDE:
        some = kinds - {NEGATIVE, POSITIVE}
        return kinds if some == kinds or dtype in (None, DType.F64) else some | FINITE
    if kinds <= TRUTH:
        return kinds
    if dtype is DType.BOOL:
        return TRUTH
    return ANY if is_float(dtype) or not kinds <= FINITE else FINITE


@cache
def applied(operation: str, operands: tuple[Kinds, ...]) -> Kinds:
    """Return the kinds of an elementwise operation."""
    if any(not one for one in operands):
        return frozenset()
    match operation, operands:
        case (name, (a, b)) if name in BINARY:
            return frozenset[RealKind]().union(*(BINARY[name](x, y) for x in a for y in b))
        case (name, (a,)) if name in UNARY:
            table = UNARY[name]
            return frozenset[RealKind]().union(*(table.get(x, ANY) for x in a))
        case ("fma", (a, b, c)):
            return applied("add", (applied("mul", (a, b)), c))
        case (("lt" | "le" | "gt" | "ge" | "eq" | "ne" | "and" | "or" | "not"), _):
            return TRUTH
        case _:
            return ANY


def _one(kind: RealKind) -> Kinds:
    return frozenset({kind})


def _sum(a: RealKind, b: RealKind) -> Kinds:
    if NAN in (a, b) or {a, b} == {LOW, HIGH}:
        return _one(NAN)
    for one, other in ((a, b), (b, a)):
        if one in (LOW, HIGH, ZERO):
            return _one(other if one is ZERO else one)
    if NEGATIVE not in (a, b):
        return ABOVE
    return _one(NEGATIVE) if a is b else FINITE


def _product(a: RealKind, b: RealKind) -> Kinds:
    if NAN in (a, b):
        return _one(NAN)
    for one, other in ((a, b), (b, a)):
        if one is ONE:
            return _one(other)
        if one is ZERO:
            return _one(NAN if other in (LOW, HIGH) else ZERO)
    is_negative = (a in (LOW, NEGATIVE)) is not (b in (LOW, NEGATIVE))
    if LOW in (a, b) or HIGH in (a, b):
        return _one(LOW if is_negative else HIGH)
    return _one(NEGATIVE) if is_negative else ABOVE


def _quotient(a: RealKind, b: RealKind) -> Kinds:
    return applied("mul", (_one(a), UNARY["inverse"][b]))


def _larger(a: RealKind, b: RealKind) -> Kinds:
    if NAN in (a, b):
        return _one(NAN)
    return frozenset({a, b}) if RANK[a] == RANK[b] else _one(max(a, b, key=RANK.__getitem__))


def _smaller(a: RealKind, b: RealKind) -> Kinds:
    if NAN in (a, b):
        return _one(NAN)
    return frozenset({a, b}) if RANK[a] == RANK[b] else _one(min(a, b, key=RANK.__getitem__))


def _difference(a: RealKind, b: RealKind) -> Kinds:
    return applied("add", (_one(a), UNARY["neg"][b]))


BINARY: Mapping[str, Callable[[RealKind, RealKind], Kinds]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "div": _quotient,
    "fdiv": _quotient,
    "div_rn": _quotient,
    "maximum": _larger,
    "minimum": _smaller,
}
_ODD = {NAN: _one(NAN)}
_SAME = {**_ODD, LOW: _one(LOW), ZERO: _one(ZERO), ONE: _one(ONE), HIGH: _one(HIGH)}
_EXP = {
    **_ODD,
    LOW: _one(ZERO),
    NEGATIVE: _one(POSITIVE),
    ZERO: _one(ONE),
    ONE: _one(POSITIVE),
    POSITIVE: _one(POSITIVE),
    HIGH: _one(HIGH),
}
_LOG = {
    **_ODD,
    LOW: _one(NAN),
    NEGATIVE: _one(NAN),
    ZERO: _one(LOW),
    ONE: _one(ZERO),
    POSITIVE: FINITE,
    HIGH: _one(HIGH),
}
_ROOT = {**_LOG, ZERO: _one(ZERO), ONE: _one(ONE), POSITIVE: _one(POSITIVE)}
# What is not in a table may be anything.
UNARY: Mapping[str, Mapping[RealKind, Kinds]] = {
    "neg": {
        **_ODD,
        LOW: _one(HIGH),
        NEGATIVE: ABOVE,
        ZERO: _one(ZERO),
        ONE: _one(NEGATIVE),
        POSITIVE: _one(NEGATIVE),
        HIGH: _one(LOW),
    },
    "inverse": {
        **_ODD,
        LOW: _one(ZERO),
        NEGATIVE: _one(NEGATIVE),
        ZERO: frozenset({LOW, HIGH}),
        ONE: _one(ONE),
        POSITIVE: _one(POSITIVE),
        HIGH: _one(ZERO),
    },
    "abs": {**_SAME, LOW: _one(HIGH), NEGATIVE: ABOVE, POSITIVE: _one(POSITIVE)},
    "exp": _EXP,
    "exp2": _EXP,
    "log": _LOG,
    "log2": _LOG,
    "sqrt": _ROOT,
    "sqrt_rn": _ROOT,
    "floor": {**_SAME, NEGATIVE: _one(NEGATIVE), POSITIVE: NATURAL},
    "ceil": {**_SAME, NEGATIVE: frozenset({NEGATIVE, ZERO}), POSITIVE: ABOVE},
    "round": {**_SAME, NEGATIVE: frozenset({NEGATIVE, ZERO}), POSITIVE: NATURAL},
    "trunc": {**_SAME, NEGATIVE: frozenset({NEGATIVE, ZERO}), POSITIVE: NATURAL},
    "tanh": {
        **_ODD,
        LOW: _one(NEGATIVE),
        NEGATIVE: _one(NEGATIVE),
        ZERO: _one(ZERO),
        ONE: _one(POSITIVE),
        POSITIVE: _one(POSITIVE),
        HIGH: _one(ONE),
    },
    "erf": {ZERO: _one(ZERO)},
    "sin": {ZERO: _one(ZERO)},
    "cos": {ZERO: _one(ONE)},
}


def reduced(operation: str, kinds: Kinds, *, is_filled: bool) -> Kinds:
    """Return the kinds of a reduction of values of some kinds, if it has an index or maybe none."""
    nothing: Kinds = frozenset() if is_filled else _one(IDENTITY[operation])
    if not kinds:
        return _one(IDENTITY[operation])
    if kinds == _one(IDENTITY[operation]):
        return kinds
    match operation:
        case "rsum":
            for some in (_one(NAN), ABOVE):
                if kinds <= some:
                    return some | nothing
            return next((some for some in (NATURAL, FINITE) if kinds <= some), ANY)
        case "rmax" | "rmin":
            return kinds | nothing
        case "rany" | "rall":
            return TRUTH
        case _:
            return ANY
