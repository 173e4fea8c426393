"""More operations of which only the shape and the type of the result are known (see unread_values).

These are places of the largest and smallest values, histograms, gathers from tiles, random numbers,
functions of the library of a device, and assembly that computes each lane by itself.
"""

from __future__ import annotations

import ast
import re

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    NoneValue,
    PointerValue,
    Radix,
    TextValue,
    TileValue,
    TupleValue,
    TypeValue,
    Unread,
    Value,
    as_term,
    lanes_of,
    scalar,
)
from dtpoly.verify.algebra.terms import AppliedOperation, Literal
from dtpoly.verify.algebra.whole import FALSE, TRUE, Truth, Whole, name, number, within
from dtpoly.verify.triton.access import Dividend
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.data_names import DataReading, unknown
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.operands import Axes, Operands
from dtpoly.verify.triton.product_axes import shape_of
from dtpoly.verify.triton.reducing import along_axis

PLACE = "tl.int32"
VALUE = "the place of an extreme"
# Types of values that are compared as they are, or after they are brought to f32.
COMPARED = ("tl.float16", "tl.bfloat16", "tl.float32", "tl.float64", "tl.int32", "tl.int64")
FULL_FLOATS = ("tl.float32", "tl.float64")
COUNTED = ("tl.int8", "tl.int16", "tl.int32", "tl.int64", "tl.uint8")
FAR = "gathers a lane that may be outside of a tile"
# Functions of the library of a device that give a float of the type of their one or two operands,
# and those that it has for f32 alone.
OF_ONE = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cosh", "erfc", "erfcinv"),
    *("erfinv", "exp10", "expm1", "lgamma", "log10", "log1p", "nearbyint", "normcdf", "rint"),
    *("round", "sinh", "tan", "tgamma", "trunc"),
)
OF_TWO = ("atan2", "copysign", "fmod", "hypot", "nextafter", "pow", "remainder")
SHORT_OF_ONE = (
    *("fast_cosf", "fast_exp10f", "fast_expf", "fast_log10f", "fast_log2f", "fast_logf"),
    *("fast_sinf", "fast_tanf"),
)
SHORT_OF_TWO = ("fast_dividef", "fast_powf")
LIBRARY = {
    **dict.fromkeys((*OF_ONE, *SHORT_OF_ONE), 1),
    **dict.fromkeys((*OF_TWO, *SHORT_OF_TWO), 2),
}
# Instructions of PTX that compute registers from registers, and touch nothing else.
COMPUTING = frozenset(
    (
        *("abs", "add", "and", "bfe", "bfi", "brev", "clz", "cnot", "copysign", "cos", "cvt"),
        *("div", "dp2a", "dp4a", "ex2", "fma", "fns", "lg2", "lop3", "mad", "mad24", "max"),
        *("min", "mov", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem"),
        *("rsqrt", "sad", "selp", "set", "setp", "shf", "shl", "shr", "sin", "slct", "sqrt"),
        *("sub", "tanh", "testp", "xor"),
    )
)
STATEMENT = re.compile(r"(?:@!?\w+\s+)?(\.reg|[a-z0-9]+)(?:[.\s][^{}/@:]*)?", re.DOTALL)
# Registers of all widths; a memory operand would be `m`.
CONSTRAINTS = re.compile(r"=&?[rhlfd](,\s*=&?[rhlfd])*(,\s*[rhlfd0-9])*")


def _some(state: KernelState, axes: Axes, kind: str, fact: Truth | None = None) -> TileValue:
    """Return an unknown tile; `fact` says what is known of its number, which it names VALUE."""
    found = unknown(state, kind, lanes_of(axes))
    if fact is not None:
        assert isinstance(found, AppliedOperation)
        own = found.operands[0]
        assert isinstance(own, Literal)
        state.bounded[own.text] = (VALUE, fact)
    return TileValue(axes, found, kind)


def _numbers(given: Operands, value: Value, types: tuple[str, ...]) -> TileValue:
    """Return a value that must be a tile of numbers of one of some types. Raises Unread."""
    is_plain = isinstance(value, TileValue) and not isinstance(value.item, PointerValue | Radix)
    if not isinstance(value, TileValue) or not is_plain or value.kind not in types:
        raise given.refused()
    given.state.leaves(value, given.line)
    return value


def _flag(given: Operands, word: str) -> bool:
    """Return an option that must be True or False as Triton knows it; False if it is not given."""
    found = given.value_of(word)
    if found not in (None, scalar(FALSE), scalar(TRUE)):
        raise given.refused()
    return found == scalar(TRUE)


def place_of_extreme(given: Operands) -> Value:
    """Model `tl.argmax` and `tl.argmin`: some lane along an axis."""
    return _with_place(given)[1]


def extreme_and_place(given: Operands) -> Value:
    """Model `tl.max` and `tl.min`, which return a place, too, with `return_indices=True`."""
    if not _flag(given, "return_indices"):
        return along_axis(given)
    if given.state.is_valued:
        raise Unread(given.line, f"{given.text}: the place of a value")
    return TupleValue(_with_place(given))


def _with_place(given: Operands) -> tuple[TileValue, TileValue]:
    state = given.state
    tile = _numbers(given, given.tile(0), COMPARED)
    axis = given.constant(given.by_name["axis"]) if "axis" in given.by_name else None
    keeps = _flag(given, "keep_dims")
    for word in ("tie_break_left", "return_indices_tie_break_left"):
        _flag(given, word)
    if axis is None or not -len(tile.axes) <= axis < len(tile.axes):
        raise given.refused()
    at = axis % len(tile.axes)
    (count,) = shape_of(state, tile.axes[at : at + 1])
    rest = (*tile.axes[:at], *((None,) if keeps else ()), *tile.axes[at + 1 :])
    kind = "tl.float32" if tile.kind == "tl.bfloat16" else tile.kind
    place = _some(state, rest, PLACE, within(number(0), name(VALUE), count))
    return _some(state, rest, kind), place


def histogram(given: Operands) -> Value:
    """Model `tl.histogram`, which counts the numbers of a tile from 0 to below a constant."""
    tile, mask = given.tile(0), given.tile_of("mask")
    if len(tile.axes) != 1 or (mask is not None and len(mask.axes) != 1):
        raise given.refused()
    _numbers(given, tile, (*kinds.WHOLES, kinds.SIZE))
    axes = given.axes_of(given.value(1))
    return _some(given.state, axes, PLACE)


def gathered(given: Operands) -> Value:
    """Model `tl.gather` along an axis of a tile: each place must be inside of the tile."""
    state, tile, places = given.state, given.tile(0), given.tile(1)
    _numbers(given, tile, (*COMPARED, *COUNTED))
    axis = given.constant(given.by_name["axis"]) if "axis" in given.by_name else None
    is_index = places.kind in ("tl.int32", "tl.int64")
    if axis is None or not 0 <= axis < len(tile.axes) or len(places.axes) != len(tile.axes):
        raise given.refused()
    if not is_index or isinstance(places.item, PointerValue | Radix):
        raise given.refused()
    state.leaves(places, given.line)
    at = places.item
    if not isinstance(at, Whole):
        reading = DataReading(state, state.where, given.line)
        at = reading.number(as_term(at, given.line), places.kind)
    (count,) = shape_of(state, tile.axes[axis : axis + 1])
    for one in (at, count - 1 - at):
        state.divided.append(Dividend(one, None, state.here(), given.line, FAR))
    return _some(state, places.axes, tile.kind)


def drawn(given: Operands) -> Value:
    """Model `tl.rand` and `tl.randn`: a float of 32 bits for each offset."""
    seed, offsets = given.tile(0), given.tile(1)
    for one in (seed, offsets):
        if not (kinds.is_whole(one.kind) or (one is seed and one.kind == kinds.WEAK)):
            raise given.refused()
        given.state.leaves(one, given.line)
    axes, _ = aligned(given.state, [offsets, seed], given.line)
    return _some(given.state, axes, "tl.float32")


def of_library(given: Operands) -> Value:
    """Model a function of the library of a device: floats of one type, and one of that type."""
    word = given.word.rpartition(".")[2]
    types = ("tl.float32",) if word in (*SHORT_OF_ONE, *SHORT_OF_TWO) else FULL_FLOATS
    tiles = [_numbers(given, one, (*types, kinds.NUMBER)) for one in given.tiles()]
    found = {one.kind for one in tiles} - {kinds.NUMBER}
    if len(found) != 1:
        raise given.refused(" of what are no floats of one type")
    (kind,) = found
    if kind != "tl.float32" and len({one.kind for one in tiles}) > 1:
        raise given.refused(" of floats of several types")
    axes, _ = aligned(given.state, tiles, given.line)
    return _some(given.state, axes, kind)


def said(given: Operands) -> Value:
    """Model `tl.device_print`, `tl.static_print` and `tl.device_assert`, which change no tensor."""
    for one in (*given.args, *given.by_name.values()):
        if not isinstance(one, ast.Constant):
            given.read.value(one)
    return NoneValue()


def assembly(given: Operands) -> Value:
    """Model `tl.inline_asm_elementwise` of instructions that only compute registers."""
    state = given.state
    wanted = ("asm", "constraints", "args", "dtype", "is_pure", "pack")
    if set(given.by_name) != set(wanted):
        raise given.refused()
    text, constraints, operands, made, pure, pack = (given.value_of(one) for one in wanted)
    if not isinstance(text, TextValue) or not isinstance(constraints, TextValue):
        raise given.refused()
    is_count = isinstance(pack, TileValue) and isinstance(pack.item, Whole)
    if pure != scalar(TRUE) or not is_count or not isinstance(operands, TupleValue):
        raise given.refused()
    _check_computing(given, text.text, constraints.text)
    tiles = [_numbers(given, one, (*COMPARED, *COUNTED, *kinds.WHOLES)) for one in operands.parts]
    if not tiles:
        raise given.refused()
    axes, _ = aligned(state, tiles, given.line)
    if isinstance(made, TypeValue) and made.name in (*kinds.WHOLES, *kinds.FLOATS):
        return _some(state, axes, made.name)
    raise given.refused()


def _check_computing(given: Operands, text: str, constraints: str) -> None:
    """Refuse assembly that may do more than compute registers. Raises Unread."""
    statements = re.split(r"[;{}]", re.sub(r"//[^\n]*", "", text))
    for one in filter(None, map(str.strip, statements)):
        found = STATEMENT.fullmatch(one)
        if found is None or found[1] not in (*COMPUTING, ".reg"):
            raise Unread(given.line, f"assembly with '{one}', which may do more than compute")
    if not CONSTRAINTS.fullmatch(constraints.strip()):
        raise Unread(given.line, f"assembly whose operands are '{constraints}'")
