"""Makes random expressions of Triton over tiles, well typed by construction."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

Axes = tuple[str | None, ...]
FLOAT, WHOLE, TRUTH = "float", "whole", "truth"
TL = {
    "f8e4m3": "tl.float8e4nv",
    "f8e5m2": "tl.float8e5",
    "f16": "tl.float16",
    "bf16": "tl.bfloat16",
    "f32": "tl.float32",
    "f64": "tl.float64",
    "i8": "tl.int8",
    "u8": "tl.uint8",
    "i16": "tl.int16",
    "i32": "tl.int32",
    "i64": "tl.int64",
    "bool": "tl.int1",
}
WHOLES = ("i8", "u8", "i16", "i32", "i64")
# Every float type holds these numbers.
FLOATS_WRITTEN = ("0.5", "2.0", "-1.0", "0.25", "3.0", "-2.5", "1.0", "0.0", "8.0")
WHOLES_WRITTEN = ("1", "2", "3", "-1", "7", "0", "5", "-4", "100")
OF_FLOAT = ("exp", "exp2", "sqrt", "sin", "cos", "sigmoid", "floor", "ceil", "abs", "rsqrt", "log")


def class_of(dtype: str) -> str:
    """Return whether values of a type are floats, whole numbers or booleans."""
    if dtype == "bool":
        return TRUTH
    return WHOLE if dtype in WHOLES else FLOAT


@dataclass(frozen=True)
class Value:
    """The value of a name of the kernel: along which axes, and which class of numbers."""

    code: str
    axes: Axes
    of: str
    # It is a number that is known when the kernel is compiled.
    is_constant: bool = False
    # It is made of indices and sizes: the reader knows it as a whole number, not as data.
    is_index: bool = False


@dataclass
class Scope:
    """The names that a kernel has so far, and the source of random choices."""

    random: random.Random
    values: list[Value] = field(default_factory=list[Value])
    # Functions of the file: their names, and how many numbers they take.
    functions: Sequence[tuple[str, int]] = ()
    # The type in which floats are computed where a function asks for one.
    wide: str = "f32"
    features: set[str] = field(default_factory=set[str])

    def pick(self, of: Sequence[str]) -> str:
        """Return one of several words."""
        return self.random.choice(of)

    def chance(self, part: float) -> bool:
        """True in this share of all cases."""
        return self.random.random() < part

    def note(self, feature: str) -> None:
        """Remember what the kernel contains."""
        self.features.add(feature)


def lifted(scope: Scope, value: Value, axes: Axes) -> str | None:
    """Return a value with new axes so that it meets tiles of these axes, or None if it cannot."""
    own = [one for one in value.axes if one is not None]
    if len(value.axes) == 0:
        return value.code
    if len(value.axes) == len(axes):
        fits = all(one in (None, axis) for one, axis in zip(value.axes, axes, strict=True))
        return value.code if fits else None
    if not set(own) <= set(axes) or len(own) != len(value.axes):
        return None
    if [axis for axis in axes if axis in own] != own:
        return None
    if len(axes) == 2 and scope.chance(0.2):
        scope.note("expand_dims")
        return f"tl.expand_dims({value.code}, {axes.index(own[0]) ^ 1})"
    index = ", ".join(":" if axis in own else "None" for axis in axes)
    return f"{value.code}[{index}]"


def leaf(scope: Scope, axes: Axes, of: str) -> str:
    """Return a value that exists already, or a literal."""
    found: list[str] = []
    for value in scope.values:
        if value.of == of:
            code = lifted(scope, value, axes)
            if code is not None:
                found += [code] * (1 if value.is_index or value.is_constant else 4)
    if found and scope.chance(0.85):
        return scope.pick(found)
    match of:
        case "float":
            return scope.pick(FLOATS_WRITTEN)
        case "whole":
            return scope.pick(WHOLES_WRITTEN)
        case _:
            tile = tile_leaf(scope, axes)
            return f"({tile} > {scope.pick(WHOLES_WRITTEN)})"


def tile_leaf(scope: Scope, axes: Axes, classes: Sequence[str] = (FLOAT, WHOLE)) -> str:
    """Return a value of data, or else an index, but never a literal."""
    data = [one for one in scope.values if one.of in classes and not one.is_constant]
    data = [one for one in data if one.axes or not axes]
    scope.random.shuffle(data)
    data.sort(key=lambda one: one.is_index)
    for value in data:
        code = lifted(scope, value, axes)
        if code is not None:
            # Beside f64, a whole number and a float literal would be f32.
            is_other = scope.wide == "f64" and value.of == WHOLE and FLOAT in classes
            return f"({code}).to(tl.float64)" if is_other else code
    raise LookupError(f"no value over {axes}")


def cast(scope: Scope, code: str, dtype: str) -> str:
    """Return a tile, brought to a type."""
    if scope.chance(0.2):
        return f"tl.cast({code}, {TL[dtype]})"
    return f"({code}).to({TL[dtype]})"


def expression(scope: Scope, axes: Axes, of: str, depth: int) -> str:
    """Return a random expression; a tile broadcasts to the axes."""
    if depth <= 0:
        return leaf(scope, axes, of)
    match of:
        case "float":
            return _float(scope, axes, depth)
        case "whole":
            return _whole(scope, axes, depth)
        case _:
            return _truth(scope, axes, depth)


NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def covered(scope: Scope, code: str) -> set[str]:
    """Return the axes of all tiles in an expression."""
    words = set(NAME.findall(code))
    tiles = (one for one in scope.values if one.code in words)
    return {axis for one in tiles for axis in one.axes if axis is not None}


def tile(scope: Scope, axes: Axes, of: str, depth: int) -> str:
    """Return an expression that has all the axes."""
    code = expression(scope, axes, of, depth)
    missing = {one for one in axes if one is not None} - covered(scope, code)
    for axis in sorted(missing):
        along = [one for one in scope.values if one.axes == (axis,) and one.of != TRUTH]
        if not along:
            raise LookupError(f"no value along {axis}")
        anchor = lifted(scope, scope.random.choice(along), axes)
        if scope.wide == "f64" and of == FLOAT:
            anchor = f"({anchor}).to(tl.float64)"
        code = f"({code} | ({anchor} > 2))" if of == TRUTH else f"({code} + {anchor})"
    return code


def _float(scope: Scope, axes: Axes, depth: int) -> str:
    def inner(of: str = FLOAT) -> str:
        return expression(scope, axes, of, depth - 1)

    way = scope.random.randrange(25)
    match way:
        case 0 | 1 | 2:
            return f"({inner()} + {inner()})"
        case 3 | 4:
            return f"({inner()} - {inner()})"
        case 5 | 6 | 7:
            return f"({inner()} * {inner()})"
        case 8:
            scope.note("division")
            return f"({inner()} / {inner()})"
        case 9:
            scope.note("division of whole numbers")
            return f"({tile_leaf(scope, axes)} / {scope.pick(('2', '4', '3', '-2'))})"
        case 10 | 11:
            word = scope.pick(("maximum", "minimum"))
            scope.note(word)
            nans = scope.pick(("", "", ", propagate_nan=tl.PropagateNan.ALL"))
            return f"tl.{word}({tile_leaf(scope, axes, (FLOAT, WHOLE))}, {inner()}{nans})"
        case 12 | 13:
            scope.note("where")
            return f"tl.where({inner(TRUTH)}, {inner()}, {inner()})"
        case 14 | 22 | 23 | 24:
            word = scope.pick(OF_FLOAT)
            scope.note(word)
            return f"tl.{word}({cast(scope, tile_leaf(scope, axes), scope.wide)})"
        case 15:
            scope.note("cast to float")
            narrow = ("f16", "f32") if scope.wide == "f32" else ("f64",)
            return cast(scope, tile_leaf(scope, axes), scope.pick(narrow))
        case 16:
            return f"(-{inner()})"
        case 17 if scope.wide != "f64":
            scope.note("whole number meets float")
            other = tile_leaf(scope, axes, (WHOLE,)) if _has(scope, axes, WHOLE) else inner()
            return f"({inner()} {scope.pick('+-*')} {other})"
        case 18 if scope.wide != "f64":
            scope.note("whole number meets a float as written")
            if not _has(scope, axes, WHOLE):
                return leaf(scope, axes, FLOAT)
            number = scope.pick(FLOATS_WRITTEN)
            return f"({tile_leaf(scope, axes, (WHOLE,))} {scope.pick('+-*')} {number})"
        case 19 if scope.functions:
            name, count = scope.random.choice(list(scope.functions))
            scope.note("a function of the file")
            return f"{name}({', '.join(tile_leaf(scope, axes) for _ in range(count))})"
        case 20:
            scope.note("fma")
            parts = (cast(scope, tile_leaf(scope, axes), scope.wide) for _ in range(3))
            return f"tl.fma({', '.join(parts)})"
        case _:
            return leaf(scope, axes, FLOAT)


def _has(scope: Scope, axes: Axes, of: str) -> bool:
    data = (one for one in scope.values if one.of == of and not one.is_constant)
    return any(
        (one.axes or not axes) and not one.is_index and lifted(scope, one, axes) is not None
        for one in data
    )


def _data(scope: Scope, axes: Axes) -> str:
    """Return whole numbers that are data, or an index if there is nothing else."""
    data = [one for one in scope.values if one.of == WHOLE and not one.is_index and one.axes]
    codes = [code for one in data if (code := lifted(scope, one, axes)) is not None]
    if codes:
        return scope.pick(codes)
    return f"({tile_leaf(scope, axes)} > 1).to({TL[scope.pick(WHOLES)]})"


def _whole(scope: Scope, axes: Axes, depth: int) -> str:
    def inner(of: str = WHOLE) -> str:
        return expression(scope, axes, of, depth - 1)

    way = scope.random.randrange(16)
    match way:
        case 0 | 1 | 2:
            return f"({inner()} + {inner()})"
        case 3 | 4:
            return f"({inner()} - {inner()})"
        case 5 | 6:
            return f"({inner()} * {inner()})"
        case 7:
            scope.note("// and %")
            word = scope.pick(("//", "%"))
            return f"({_data(scope, axes)} {word} {scope.pick(('2', '3', '7', '5'))})"
        case 8:
            word = scope.pick(("maximum", "minimum"))
            scope.note(word)
            return f"tl.{word}({_data(scope, axes)}, {inner()})"
        case 9 | 10:
            scope.note("where")
            return f"tl.where({inner(TRUTH)}, {inner()}, {inner()})"
        case 11:
            scope.note("cast to whole")
            return cast(scope, _data(scope, axes), scope.pick(WHOLES))
        case 12:
            scope.note("truth as a number")
            return f"({inner(TRUTH)}).to(tl.int32)"
        case 13:
            return f"(-{_data(scope, axes)})"
        case 14:
            scope.note("bits")
            return f"({_data(scope, axes)} {scope.pick('&|^')} {_data(scope, axes)})"
        case _:
            return leaf(scope, axes, WHOLE)


def _truth(scope: Scope, axes: Axes, depth: int) -> str:
    def inner(of: str) -> str:
        return expression(scope, axes, of, depth - 1)

    way = scope.random.randrange(11)
    sign = scope.pick(("<", "<=", ">", ">=", "==", "!="))
    match way:
        case 0 | 1 | 2:
            return f"({tile_leaf(scope, axes)} {sign} {inner(scope.pick((FLOAT, WHOLE)))})"
        case 3:
            indices = [one for one in scope.values if one.is_index and one.axes]
            codes = [code for one in indices if (code := lifted(scope, one, axes)) is not None]
            if not codes:
                return leaf(scope, axes, TRUTH)
            scope.note("a condition on indices")
            other = scope.pick([*codes, "3", "1", "6"])
            return f"({scope.pick(codes)} {sign} {other})"
        case 4 | 5:
            return f"({inner(TRUTH)} {scope.pick('&|^')} {inner(TRUTH)})"
        case 6 | 9 | 10:
            scope.note("~")
            return f"(~{inner(TRUTH)})"
        case 7:
            constants = [one for one in scope.values if one.is_constant and one.of == TRUTH]
            if not constants:
                return leaf(scope, axes, TRUTH)
            scope.note("a truth that is known where the kernel is compiled")
            return f"({inner(TRUTH)} {scope.pick('&|')} {scope.random.choice(constants).code})"
        case _:
            return leaf(scope, axes, TRUTH)
