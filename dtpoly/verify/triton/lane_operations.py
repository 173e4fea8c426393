"""Model the operations of Triton that compute each lane of a tile from the same lane of others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import as_kind, brought, cast, cut, refuse_not_held
from dtpoly.verify.algebra.kernel_values import (
    Item,
    PointerValue,
    TileValue,
    TypeValue,
    Unread,
    Value,
    as_term,
    is_truth,
    lanes_of,
)
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.residues import leaving, settled
from dtpoly.verify.algebra.term_building import applied
from dtpoly.verify.algebra.terms import Literal, Term
from dtpoly.verify.algebra.whole import Whole, extreme
from dtpoly.verify.semantics.types import MADE
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.data_names import unknown
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.operands import Operands
from dtpoly.verify.triton.python_operators import (
    chosen,
    in_kind,
    in_type,
    joined,
    not_in_eight,
    value_of,
    widened,
)
from dtpoly.verify.triton.typed_operations import meaning, of_tile

# Functions of the libraries of devices, and the types that they have them for.
OF_LIBRARY = ("tanh",)
INF = "inf"  # how a literal without an end is written
FULL = {kinds.NUMBER: "tl.float32"}  # what a compiled kernel has
SHORT = "tl.int32"
INFINITIES = ("float('inf')", "float('-inf')", "float('nan')")
FULL_FLOATS = ("tl.float32", "tl.float64", kinds.REAL)
# Operations of two floats, and what terms call them.
BINARY = {"fdiv": "div", "div_rn": "div_rn"}
ALL_NANS, NO_NANS = TypeValue("tl.PropagateNan.ALL"), TypeValue("tl.PropagateNan.NONE")


def converted(given: Operands) -> TileValue:
    """Model `tl.cast`, which is also the method `to`."""
    if "dtype" not in given.by_name or not given.args:
        raise given.refused()
    return converted_to(given, given.tile(0, stays=True), given.type_in(given.by_name["dtype"]))


def converted_to(given: Operands, before: TileValue, to: str) -> TileValue:
    """Return a tile whose values are brought to a type."""
    state, line = given.state, given.line
    if not isinstance(before.item, PointerValue):
        meaning("cast", (of_tile(before), to), line)
    changed = cast(before, to, line)
    if changed.kind != before.kind:
        state.leaves(before, line, is_widened=changed.kind == "tl.int64")
    if before.kind in kinds.MAY_BE_LONG and to == "tl.int32":
        changed = cut(changed)
    else:
        state.computed(changed.item, changed.kind, line)
    if before.is_cut and changed.kind == "tl.int64":
        # From here on it has 64 bits again, so up to here 32 bits must have held it.
        state.computed(before.item, before.kind, line, is_cut=True)
        return replace(changed, is_cut=False, is_counter=False)
    return replace(changed, is_cut=before.is_cut or changed.is_cut, is_counter=False)


def where(given: Operands) -> TileValue:
    """Model `tl.where`."""
    line = given.line
    tiles = given.tiles()
    axes, items = aligned(given.state, tiles, line)
    of = [kinds.BOOL, *map(of_tile, tiles[1:])]
    kind, is_cut = meaning("where", of, line).kind, any(t.is_cut for t in tiles)
    for item, tile in zip(items[1:], tiles[1:], strict=True):
        if isinstance(item, Whole):
            refuse_not_held(item, tile.kind, kind, line)
    ends = any(_is_end(item, kind) for item in items[1:])
    condition = leaving(items[0], tiles[0].kind, kinds.BOOL, "")
    yes, no = widened(items[1:], tiles[1:], kind, line)
    if isinstance(yes, Whole) and isinstance(no, Whole) and not ends:
        return TileValue(axes, chosen(condition, yes, no, line), kind, is_cut)
    if is_truth(yes) and is_truth(no):
        return TileValue(axes, chosen(condition, yes, no, line), kinds.BOOL)
    yes, no = _typed((yes, no), tiles[1:], kind, line)
    return TileValue(axes, chosen(condition, yes, no, line), kind)


def chosen_of_two(
    state: KernelState, test: TileValue, yes: Value, no: Value, line: int
) -> TileValue:
    """Return one of two numbers of one type, by a truth without lanes."""
    if not isinstance(yes, TileValue) or not isinstance(no, TileValue) or yes.axes or no.axes:
        raise Unread(line, "a choice between what are no two numbers")
    if isinstance(yes.item, Whole) and isinstance(no.item, Whole):
        if not all(map(_is_short, (yes, no))):
            raise Unread(line, "a choice between whole numbers that may have several types")
        _, (condition,) = aligned(state, (test,), line)
        is_cut = yes.is_cut or no.is_cut
        return TileValue((), chosen(condition, yes.item, no.item, line), SHORT, is_cut)
    types = {FULL.get(one.kind, one.kind) for one in (yes, no)}
    if len(types) > 1 or not kinds.is_float(one := types.pop()):
        raise Unread(line, "a choice between what are no two floats of one type")
    (first, second) = _typed((yes.item, no.item), (yes, no), one, line)
    _, (condition,) = aligned(state, (test,), line)
    return TileValue((), chosen(condition, first, second, line), one)


def _is_short(one: TileValue) -> bool:
    """Return whether a whole number has 32 bits; a written one has so many where they hold it."""
    constant = one.item.constant if isinstance(one.item, Whole) else None
    is_held = constant is not None and -kinds.HALF <= constant < kinds.HALF
    return one.kind == SHORT or (is_held and one.kind in (kinds.WEAK, kinds.SIZE))


def calls_nothing(*sides: ast.expr) -> bool:
    """Return whether no side has a call, which might load or store on that side alone.

    An infinity is written as a call, `float("-inf")`, and is a number.
    """
    nodes = (node for side in sides for node in ast.walk(side))
    calls = (ast.unparse(node) for node in nodes if isinstance(node, ast.Call))
    return all(one in INFINITIES for one in calls)


def extreme_of_two(given: Operands) -> TileValue:
    """Model `tl.maximum` and `tl.minimum`, and `max` and `min` of Python."""
    state, word, line = given.state, given.word, given.line
    tiles = [given.read.tile(one) for one in given.args[:2]]
    axes, (a, b) = aligned(state, tiles, line)
    nans = given.value_of("propagate_nan")
    if nans not in (None, ALL_NANS, NO_NANS):
        raise given.refused()
    kind = meaning(_extreme(word, given.node, nans), list(map(of_tile, tiles)), line).kind
    a, b = widened((a, b), tiles, kind, line)
    if isinstance(a, Whole) and isinstance(b, Whole):
        is_cut = any(one.is_cut for one in tiles)
        return TileValue(axes, extreme(word == "maximum", a, b), kind, is_cut)
    not_in_eight(kind, line)
    left = [leaving(item, tile.kind, kind, word) for item, tile in zip((a, b), tiles, strict=True)]
    operands = [settled(kind, term) for term in _typed(left, tiles, kind, line)]
    return TileValue(axes, applied(losing_nan(state, word, kind, nans), operands), kind)


def clamped(given: Operands) -> TileValue:
    """Model `tl.clamp` between two numbers that the kernel or its launch writes.

    Triton defines no result if the lower bound is above the upper one. The bounds drop a nan, so
    values must be promised to be finite. Where no values are compared, the result is some float.
    """
    line = given.line
    if not given.args or {"min", "max"} - given.by_name.keys():
        raise given.refused()
    tiles = [given.tile(0), *(given.read.tile(given.by_name[one]) for one in ("min", "max"))]
    axes, items = aligned(given.state, tiles, line)
    kind = meaning("clamp", list(map(of_tile, tiles)), line).kind
    operands = [settled(kind, one) for one in _typed(items, tiles, kind, line)]
    if not given.state.is_valued and kinds.is_float(kind):
        not_in_eight(kind, line)
        return TileValue(axes, unknown(given.state, kind, lanes_of(axes), operands), kind)
    low, high = (finite(one.text) if isinstance(one, Literal) else None for one in operands[1:])
    has_no_top = low is not None and isinstance(operands[2], Literal) and operands[2].text == INF
    if not has_no_top and (low is None or high is None or low > high):
        raise given.refused(" between what are no written numbers in this order")
    if not given.state.launch.is_finite:
        raise given.refused(" drops a nan: promise '# assume: finite'")
    not_in_eight(kind, line)
    if has_no_top:
        return TileValue(axes, applied("maximum", operands[:2]), kind)
    return TileValue(axes, in_kind(applied("clamp", operands), kind, "clamp", line), kind)


def fma(given: Operands) -> TileValue:
    """Model `tl.fma`: a product and a sum, of which only the result is rounded."""
    state, word, line = given.state, given.word, given.line
    tiles = given.tiles()
    axes, (a, b, c) = aligned(state, tiles, line)
    kind = meaning("fma", list(map(of_tile, tiles)), line).kind
    a, b, c = (
        in_type(item, tile.kind, kind, word, line)
        for item, tile in zip((a, b, c), tiles, strict=True)
    )
    product = joined(state, "mul", a, b, line)
    return TileValue(axes, in_kind(joined(state, "add", product, c, line), kind, word, line), kind)


def unary(given: Operands) -> TileValue:
    """Model the functions of one number, such as `tl.exp`."""
    word, line = given.word, given.line
    tile = given.tile(0)
    kind = meaning(word, [of_tile(tile)], line).kind
    operand = settled(tile.kind, typed(as_term(tile.item, line), tile, kind))
    item = in_kind(value_of(given.state, word, [operand]), kind, word, line)
    return replace(tile, item=item, kind=kind)


def of_library(given: Operands) -> TileValue:
    """Model the functions of one float that the library of a device has, such as `tanh`.

    It has them for f32 and f64, and Triton refuses to call them with other types.
    """
    word, line = given.word.rpartition(".")[2], given.line
    tile = given.tile(0)
    if tile.kind not in FULL_FLOATS:
        what = "of what is no tensor of f32 or f64, which the library has not"
        raise Unread(line, f"{given.text} {what}")
    operand = settled(tile.kind, as_term(tile.item, line))
    item = in_kind(value_of(given.state, word, [operand]), tile.kind, word, line)
    return replace(tile, item=item)


def binary(given: Operands) -> TileValue:
    """Model the functions of two floats, such as `tl.fdiv`."""
    word, line = given.word, given.line
    tiles = given.tiles()
    axes, items = aligned(given.state, tiles, line)
    of = list(map(of_tile, tiles))
    if not all(kinds.is_float(MADE.get(one, one)) for one in of):
        raise Unread(line, f"'tl.{word}' of what is no float, which Triton 3.6 refuses")
    kind = meaning(word, of, line).kind
    operands = [
        settled(tile.kind, term)
        for term, tile in zip(_typed(items, tiles, kind, line), tiles, strict=True)
    ]
    return TileValue(axes, in_kind(applied(BINARY[word], operands), kind, word, line), kind)


def typed(term: Term, tile: TileValue, kind: str) -> Term:
    """Bring a value to the type in which it meets other values."""
    if tile.kind == kind:
        return term
    if kind == kinds.LOST or tile.kind == kinds.BOOL:
        return as_kind(term, tile.kind, kind)
    return brought(term, tile.kind, kind)


def _typed(
    items: Sequence[Item], tiles: Sequence[TileValue], kind: str, line: int
) -> Iterator[Term]:
    """Yield values in the type in which they meet."""
    for item, tile in zip(items, tiles, strict=True):
        yield typed(as_term(item, line), tile, kind)


def _extreme(word: str, node: ast.Call, nans: Value | None) -> str:
    """Return the name that the table of semantics has for a `maximum` or `minimum` of two."""
    if isinstance(node.func, ast.Name):
        return f"{node.func.id} of python"
    return f"{word} of all" if nans == ALL_NANS else word


def _is_end(item: Item, kind: str) -> bool:
    """Return whether a value is the least or largest number of a type.

    A `where` with such a number does not choose between indices.
    """
    constant = item.constant if isinstance(item, Whole) else None
    return constant is not None and kinds.extreme(constant, kind) is not None


def losing_nan(state: KernelState, word: str, kind: str, nans: Value | None) -> str:
    """Return the operation, marked as one without nan if a nan may lose in it.

    The `maximum` and `minimum` of the language let a nan win. Triton's do so only where
    `propagate_nan` asks for it; where values are promised to be finite, it makes no difference.
    """
    if word == "add" or nans == ALL_NANS or kinds.is_whole(kind) or kind == kinds.BOOL:
        return word
    if state.launch.is_finite:
        return word
    return f"{word}{kinds.WITHOUT_NAN}"
