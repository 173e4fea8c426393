"""Random expressions of one operation each: all operations, all pairs of types, edge values.

An operation is a piece of text over tiles that are called by what they are: `a_f16` and `b_f16` are
tiles of f16, `r_i8` is one with two axes whose rows are reduced, `d_f16` and `e_f16` are multiplied
as matrices. Its result is stored in a type that holds it, so that nothing is lost on the way.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.attack.case import Call, Case, Given
from tests.attack.expressions import FLOAT, TL, class_of
from tests.attack.generating import algorithm_of

# What the interpreter computes as a GPU does. It keeps bf16 and 8-bit floats as their bits, and
# rounds them otherwise: these are left to the GPU.
PLAIN = ("f16", "f32", "f64", "i8", "u8", "i16", "i32", "i64", "bool")
EIGHTS = ("f8e4m3", "f8e5m2")
# Every type that the verifier reads.
ALL = (*PLAIN, "bf16", *EIGHTS)
# How many bits the types of whole numbers have.
BITS = {"i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64}
SIGNS = ("<", "<=", ">", ">=", "==", "!=")
FUNCTIONS = (
    *("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf", "abs", "ceil", "floor"),
    *("sigmoid", "sqrt_rn"),
)
WRITTEN = ("2", "3", "-1", "0", "1", "7", "0.5", "2.0", "-1.5", "255", "-128", "100000", "3.0")
CONSTANTS = {"COUNT": "6", "LESS": "-7", "YES": "True", "NO": "False"}
SIZES = {"i": 128, "r": 32, "c": 4, "d": 16, "e": 16, "g": 16}
# The labels of the tiles whose names begin with a letter.
LABELS = {"a": "i", "b": "i", "c": "i", "r": "rc", "d": "de", "e": "eg"}
TILE = re.compile(r"\b([abcrde])_([a-z0-9]+)\b")


@dataclass(frozen=True)
class Operation:
    """One operation: its text, the labels of its result, and the type in which that is kept."""

    value: str
    labels: str
    out: str
    word: str

    @property
    def tiles(self) -> tuple[tuple[str, str], ...]:
        """Return the tiles that it is made of: letter and type of each."""
        return tuple(sorted({*TILE.findall(self.value)}))


def operation_of(generator: random.Random, types: Sequence[str] = PLAIN) -> Operation:
    """Return a random operation of such types."""
    wide = [one for one in types if one not in EIGHTS]
    way = generator.randrange(100)
    if way < 40:
        return _binary(generator, wide)
    if way < 52:
        return _comparison(generator, wide)
    if way < 62:
        return _unary(generator, wide)
    if way < 72:
        return _cast(generator, types)
    if way < 80:
        return _where(generator, wide)
    if way < 90:
        return _reduction(generator, wide)
    if way < 96:
        return _of_constants(generator)
    return _dot(generator, wide)


def _wide(*types: str) -> str:
    """Return a type in which nothing of a result is lost."""
    return "f64" if any(class_of(one) == FLOAT for one in types) else "i64"


def _operand(generator: random.Random, letter: str, dtype: str) -> tuple[str, str]:
    """Return a tile, or sometimes what is no tile; and its type, or nothing."""
    way = generator.randrange(10)
    if letter == "a" or way < 6:
        return f"{letter}_{dtype}", dtype
    if way < 8:
        return generator.choice(WRITTEN), ""
    return generator.choice(("n", "COUNT", "LESS", "YES", "at")), ""


def _pair(generator: random.Random, every: Sequence[str]) -> tuple[str, str, tuple[str, ...]]:
    """Return two operands in some order, and the types that they have."""
    first, second = generator.choice(every), generator.choice(every)
    if generator.random() < 0.3:
        second = first
    left, right = _operand(generator, "a", first), _operand(generator, "b", second)
    if generator.random() < 0.25:
        left, right = right, left
    written = "f64" if "." in left[0] + right[0] else ""
    return left[0], right[0], tuple(one for one in (left[1], right[1], written) if one)


def _binary(generator: random.Random, types: Sequence[str]) -> Operation:
    left, right, own = _pair(generator, types)
    words: tuple[str, ...] = ("+", "-", "*", "/", "%", "maximum", "minimum", "+", "*")
    if all(class_of(one) != FLOAT for one in own):
        words = (*words, "//", "&", "|", "^", "shift")
    word = generator.choice(words)
    if word == "shift":
        return _shift(generator, types)
    out = "f64" if word == "/" else _wide(*own)
    if word.endswith("imum"):
        nans = generator.choice(("", ", propagate_nan=tl.PropagateNan.ALL"))
        return Operation(f"tl.{word}({left}, {right}{nans})", "i", out, word)
    if word in ("//", "%") and "_" in right and all(class_of(one) != FLOAT for one in own):
        # What may be 0 is no divisor that the verifier reads.
        right = f"tl.where({right} == 0, 1, {right})"
    return Operation(f"({left} {word} {right})", "i", out, word)


def _shift(generator: random.Random, types: Sequence[str]) -> Operation:
    """A shift by a number that is written: others are not read."""
    dtype = generator.choice([one for one in types if one in BITS])
    word, by = generator.choice(("<<", ">>")), generator.randrange(BITS[dtype])
    return Operation(f"(a_{dtype} {word} {by})", "i", "i64", word)


def _comparison(generator: random.Random, types: Sequence[str]) -> Operation:
    left, right, _ = _pair(generator, types)
    sign = generator.choice(SIGNS)
    return Operation(f"({left} {sign} {right})", "i", "bool", sign)


def _unary(generator: random.Random, types: Sequence[str]) -> Operation:
    dtype = generator.choice(types)
    word = generator.choice(("-", "-", "~", "~", "+", "abs", *FUNCTIONS))
    if word in FUNCTIONS and word != "abs":
        dtype = generator.choice(("f32", "f32", "f64"))
    if len(word) == 1:
        return Operation(f"({word}a_{dtype})", "i", _wide(dtype), f"{word}x")
    out = _wide(dtype) if word == "abs" else "f64"
    return Operation(f"tl.{word}(a_{dtype})", "i", out, word)


def _cast(generator: random.Random, types: Sequence[str]) -> Operation:
    source, target = generator.choice(types), generator.choice(types)
    value = f"a_{source}.to({TL[target]})"
    if target in EIGHTS:
        value = f"{value}.to(tl.float32)"
    if generator.random() < 0.2 and target not in EIGHTS:
        # The store converts.
        return Operation(f"a_{source}", "i", target, f"store {source} in {target}")
    return Operation(value, "i", _wide(target), f"{source} to {target}")


def _where(generator: random.Random, types: Sequence[str]) -> Operation:
    left, right, own = _pair(generator, types)
    if generator.random() < 0.15:
        dtype = generator.choice([one for one in types if class_of(one) == FLOAT])
        return Operation(f"tl.fma(a_{dtype}, b_{dtype}, c_{dtype})", "i", "f64", "fma")
    condition = generator.choice(("c_bool", "at > 3", "a_i32 > 0", "c_i8", "~c_bool", "YES"))
    return Operation(f"tl.where({condition}, {left}, {right})", "i", _wide(*own), "where")


def _reduction(generator: random.Random, types: Sequence[str]) -> Operation:
    dtype = generator.choice(types)
    word = generator.choice(("sum", "sum", "max", "min"))
    axis = generator.choice(("axis=1", "1", "axis=-1"))
    return Operation(f"tl.{word}(r_{dtype}, {axis})", "r", _wide(dtype), f"tl.{word}")


def _of_constants(generator: random.Random) -> Operation:
    """Arithmetic of what is known where a kernel is compiled, beside a tile."""
    numbers = ("COUNT", "LESS", "YES", "NO", "2", "3", "-2")
    left, right = generator.choice(numbers), generator.choice(numbers)
    word = generator.choice(("+", "-", "*", "/", "//", "%", "<", "==", "&", "|"))
    inner = generator.choice((f"({left} {word} {right})", f"(-{left})", f"(~{left})"))
    dtype = generator.choice(("f32", "i32", "f16", "i8"))
    way = generator.randrange(3)
    if way == 0:
        value = f"tl.where({inner}, a_{dtype}, b_{dtype})"
        return Operation(value, "i", _wide(dtype), "a condition that is known")
    sign = "+" if way == 1 else "*"
    return Operation(f"(a_{dtype} {sign} {inner})", "i", "f64", "arithmetic that is known")


def _dot(generator: random.Random, types: Sequence[str]) -> Operation:
    dtype = generator.choice([one for one in ("f16", "bf16", "f32", "i8") if one in types])
    options = generator.choice(("", "", ", out_dtype=tl.float16", ", out_dtype=tl.float32"))
    if dtype == "f32":
        options += generator.choice(("", ', input_precision="ieee"'))
    out = "i64" if dtype == "i8" else "f64"
    return Operation(f"tl.dot(d_{dtype}, e_{dtype}{options})", "dg", out, "tl.dot")


def case_of(operations: Sequence[Operation], seed: int) -> Case:
    """Return one kernel that carries out some operations, each with a result of its own."""
    tiles = sorted({tile for one in operations for tile in one.tiles})
    tensors = [
        Given(f"{letter.upper()}{dtype}", dtype, tuple(LABELS[letter]), False)
        for letter, dtype in tiles
    ]
    if not any(one.labels == ("i",) for one in tensors):
        tiles, tensors = [("a", "f32"), *tiles], [Given("Af32", "f32", ("i",), False), *tensors]
    outs = [Given(f"O{at}", one.out, tuple(one.labels), True) for at, one in enumerate(operations)]
    if any(one.labels == "r" for one in operations) and not any(
        "r" in one.labels for one in tensors
    ):
        raise LookupError("no input shows the size of r")
    body = ["at = tl.arange(0, 128)"]
    letters = {letter for letter, _ in tiles}
    if letters & {"r"}:
        body.append("at_r = tl.arange(0, 32)")
        body.append("at_c = tl.arange(0, 4)")
    if letters & {"d", "e"}:
        body.append("at_d = tl.arange(0, 16)")
    places = {
        "i": "at",
        "rc": "at_r[:, None] * nc + at_c[None, :]",
        "de": "at_d[:, None] * ne + at_d[None, :]",
        "eg": "at_d[:, None] * ng + at_d[None, :]",
        "dg": "at_d[:, None] * ng + at_d[None, :]",
        "r": "at_r",
    }
    for letter, dtype in tiles:
        pointer = f"{letter}_{dtype}_ptr"
        body.append(f"{letter}_{dtype} = tl.load({pointer} + {places[LABELS[letter]]})")
    for at, one in enumerate(operations):
        body.append(f"tl.store(o{at}_ptr + {places[one.labels]}, {one.value})")
    names = [*(f"{letter}_{dtype}_ptr" for letter, dtype in tiles)]
    names += [f"o{at}_ptr" for at in range(len(outs))]
    widths = ["i", *(["c"] if "r" in letters else []), *(["e", "g"] if "d" in letters else [])]
    names += ["n", *(f"n{one}" for one in widths[1:])]
    constants = ", ".join(f"{one}: tl.constexpr" for one in CONSTANTS)
    given = ", ".join(
        [*(one.name for one in (*tensors, *outs)), *(f"len({one})" for one in widths)]
    )
    known = ", ".join(f"{one}={value}" for one, value in CONSTANTS.items())
    # Each tile is the whole tensor: then its lanes are all there.
    said = {label for one in (*tensors, *outs) for label in one.labels}
    assumed = ", ".join(f"len({label}) == {SIZES[label]}" for label in sorted(said))
    lines = [
        "import triton",
        "import triton.language as tl",
        "",
        f"# verify: kernel[(1,)]({given}, {known})",
        f"# assume: {assumed}",
        "",
        "",
        "@triton.jit",
        f"def kernel({', '.join(names)}, {constants}):",
        *(f"    {line}" for line in body),
    ]
    sizes = {label: SIZES[label] for label in sorted(said)}
    every = (*tensors, *outs)
    call = Call(sizes, seed, "lattice")
    return Case("\n".join(lines) + "\n", algorithm_of([*every], {}), every, {}, (call,))
