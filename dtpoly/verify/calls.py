"""Evaluate the calls of a kernel: this module says what each function of Triton means.

Each call gives a value, and may also record an access, a number that must not overflow, or a doubt.
A call that is not understood exactly raises Unread: then nothing is proved.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.verify import accessing, descriptors, kinds, methods
from dtpoly.verify.access import Divided
from dtpoly.verify.axes import axis_of, shape_of
from dtpoly.verify.building import applied
from dtpoly.verify.casts import as_kind, brought, cast, cut, full
from dtpoly.verify.digits import programs_of
from dtpoly.verify.domains import ranged
from dtpoly.verify.functions import called, dot, permuted, reduced, reduced_by
from dtpoly.verify.operators import (
    chosen,
    in_kind,
    in_type,
    joined,
    not_in_eight,
    value_of,
    widened,
)
from dtpoly.verify.reader import Reader
from dtpoly.verify.regions import set_of
from dtpoly.verify.reshaping import halves, reshaped
from dtpoly.verify.residues import leaving, settled
from dtpoly.verify.semantics.types import MADE
from dtpoly.verify.signatures import check_written
from dtpoly.verify.state import KernelState
from dtpoly.verify.terms import Literal, Term
from dtpoly.verify.tiles import aligned
from dtpoly.verify.typed import meaning, of_tile
from dtpoly.verify.values import (
    Descriptor,
    Function,
    Group,
    Item,
    Nothing,
    Pointer,
    Tile,
    Type,
    Unread,
    Value,
    as_term,
    is_truth,
    scalar,
)
from dtpoly.verify.whole import TRUE, Whole, both, extreme, name, names_of, negation, number

UNARY = {
    *("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sqrt_rn", "sin", "cos", "erf", "abs"),
    *("ceil", "floor", "sigmoid"),
}
REDUCED = {"sum": "add", "max": "maximum", "min": "minimum"}
BINARY = {"fdiv": "div", "div_rn": "div_rn"}
HINTS = ("multiple_of", "max_contiguous")
MOST = 2**31
ALL_NANS, NO_NANS = Type("tl.PropagateNan.ALL"), Type("tl.PropagateNan.NONE")


def call(read: Reader, node: ast.Call) -> Value:
    """Return the value of a call, and record what it does."""
    state = read.state
    match node.func:
        case ast.Attribute(value=ast.Name(id="tl"), attr=word):
            return _triton(read, word, node.args, node)
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="tl"), attr="math"), attr=word):
            return _triton(read, word, node.args, node)
        case ast.Attribute(value=ast.Name(id="triton"), attr="cdiv"):
            # This is a function of Python, which cannot be called with a tensor.
            if any(read.tile(arg).kind != kinds.WEAK for arg in node.args):
                raise Unread(node.lineno, f"'{ast.unparse(node)}' of what may be a tensor: tl.cdiv")
            return _triton(read, "cdiv", node.args, node)
        case ast.Attribute(value=ast.Name(id=one), attr=("load" | "store") as word) if isinstance(
            found := state.names.get(one), Descriptor
        ):
            return descriptors.call(read, found, word, node)
        case ast.Attribute(value=value, attr=word):
            return _method(read, value, word, node)
        case ast.Name(id="min" | "max" as word) if not node.keywords:
            chosen = _triton(read, f"{word}imum", node.args, node)
            if isinstance(chosen, Tile) and chosen.axes:
                # Some versions of Triton's interpreter compare tiles as a whole, as Python does.
                raise Unread(node.lineno, f"'{word}' of several lanes: write tl.{word}imum")
            return chosen
        case ast.Name(id="float"):
            match node.args:
                case [ast.Constant(value=str() as text)] if text in ("inf", "-inf", "nan"):
                    return scalar(Literal(text))
                case _:
                    raise Unread(node.lineno, f"'{ast.unparse(node)}'")
        case ast.Name(id=one):
            found = state.look(one, node.lineno)
            if not isinstance(found, Function) or node.keywords:
                raise Unread(node.lineno, f"a call of '{one}'")
            values = [read.value(arg) for arg in node.args]
            return called(read, found.name, values, node.lineno)
        case _:
            raise Unread(node.lineno, f"a call of '{ast.unparse(node.func)}'")


def _method(read: Reader, of: ast.expr, word: str, node: ast.Call) -> Value:
    """Evaluate a method of a tensor as the function of that name, with the tensor put first."""
    state = read.state
    tile = read.tile(of, stays=True)
    methods.check(tile, word, node.lineno)
    # The tensor is evaluated only once; for the call it is bound to a name that no text can have.
    own = f".{node.lineno}.{node.col_offset}.{node.end_col_offset}"
    state.names[own] = tile
    given = ast.copy_location(ast.Name(own, ast.Load()), of)
    try:
        return _triton(read, "cast" if word == "to" else word, [given, *node.args], node)
    finally:
        del state.names[own]


def _triton(read: Reader, word: str, args: list[ast.expr], node: ast.Call) -> Value:
    state = read.state
    named = {str(k.arg): k.value for k in node.keywords}
    line = node.lineno
    check_written(word, args, named, node)
    match word:
        case "program_id" | "num_programs" | "arange" | "full" | "zeros" | "cdiv":
            return _made(read, word, args, named, node)
        case "cast" if len(args) == 2:
            before = read.tile(args[0], stays=True)
            to = _type(read, args[1])
            if not isinstance(before.item, Pointer):
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
        case "load":
            given = dict(zip(("mask", "other"), args[1:], strict=False)) | named
            mask = read.tile(given["mask"]) if "mask" in given else None
            other = read.tile(given["other"]) if "other" in given else None
            if mask is None and other is not None:
                state.doubt(line, f"'{ast.unparse(node)}': 'other' without 'mask'")
            return accessing.load(state, read.tile(args[0]), mask, other, line)
        case "store" | "atomic_add" | "atomic_max" | "atomic_min":
            given = dict(zip(("mask",), args[2:], strict=False)) | named
            mask = read.tile(given["mask"]) if "mask" in given else None
            value = read.tile(args[1])
            accessing.store(state, word, read.tile(args[0]), value, mask, line)
            return Nothing()
        case "make_tensor_descriptor":
            return descriptors.made(read, args, named, node)
        case "debug_barrier":
            accessing.barrier(state, line)
            return Nothing()
        case "static_assert" if len(args) in (1, 2):
            if read.truth(args[0]) != TRUE or read.tile(args[0]).kind != kinds.WEAK:
                raise Unread(line, f"'{ast.unparse(args[0])}' is not sure to be true")
            return Nothing()
        case "assume" if len(args) == 1:
            # Triton compiles only for calls for which this is true, so it must be true of all.
            claimed = negation(read.truth(args[0]))
            there = both(state.facts, state.here(), claimed)
            ranges = ranged(state.digits.ranges, state.ranges, names_of(there))
            if not set_of(both(there, ranges)).is_empty():
                raise Unread(line, f"'{ast.unparse(args[0])}' is not sure to be true")
            return Nothing()
        case _ if word in HINTS:
            hinted, hint = read.tile(args[0], stays=True), args[1]
            count = len(hint.elts) if isinstance(hint, ast.Tuple | ast.List) else 1
            if count != max(len(hinted.axes), 1):
                raise Unread(line, f"'tl.{word}' of another number of axes")
            return hinted
        case "dot":
            return dot(read, args, named, line)
        case "sum" | "max" | "min":
            if len(args) < 2 and "axis" not in named:
                raise Unread(line, f"'{ast.unparse(node)}' of all axes at once")
            axis = read.whole(args[1] if len(args) > 1 else named["axis"]).constant
            tile = read.tile(args[0])
            found = meaning(word, [of_tile(tile)], line)
            brought_to = in_type(tile.item, tile.kind, found.within, REDUCED[word], line)
            tile = replace(tile, item=brought_to, kind=found.kind)
            operation = _of_floats(state, REDUCED[word], tile.kind, None)
            return reduced(state, tile, axis, operation, line)
        case "reduce" if len(args) == 3:
            function = read.value(args[2])
            axis = read.whole(args[1]).constant
            if not isinstance(function, Function):
                raise Unread(line, f"'{ast.unparse(node)}'")
            return reduced_by(read, read.value(args[0]), axis, function.name, line)
        case "expand_dims" if len(args) == 2:
            tile, at = read.tile(args[0], stays=True), read.whole(args[1]).constant
            if at is None or not 0 <= at <= len(tile.axes):
                raise Unread(line, f"'{ast.unparse(node)}'")
            return replace(tile, axes=(*tile.axes[:at], None, *tile.axes[at:]))
        case "trans" | "permute":
            return permuted(read, read.tile(args[0], stays=True), args[1:], line)
        case "reshape" if len(args) == 2:
            shape = _shape(state, read.value(args[1]), node)
            return reshaped(state, read.tile(args[0], stays=True), shape, line)
        case "split" if len(args) == 1:
            return Group(halves(state, read.tile(args[0], stays=True), line))
        case "broadcast_to" if len(args) == 2:
            tile = read.tile(args[0], stays=True)
            shape = _shape(state, read.value(args[1]), node)
            result, (item, _) = aligned(state, (tile, Tile(shape, number(0))), line)
            is_new = shape_of(state, result) == shape_of(state, shape)
            if not is_new or len(tile.axes) not in (0, len(shape)) or tile.kind in methods.PYTHONS:
                raise Unread(line, f"'{ast.unparse(node)}'")
            return replace(tile, axes=result, item=item)
        case _:
            return _elementwise(read, word, args, named, node)


def _elementwise(
    read: Reader,
    word: str,
    args: list[ast.expr],
    named: dict[str, ast.expr],
    node: ast.Call,
) -> Value:
    state = read.state
    line = node.lineno
    match word:
        case "where" if len(args) == 3:
            tiles = [read.tile(arg) for arg in args]
            axes, items = aligned(state, tiles, line)
            of = [kinds.BOOL, *map(of_tile, tiles[1:])]
            kind, is_cut = meaning("where", of, line).kind, any(t.is_cut for t in tiles)
            ends = any(_is_end(item, kind) for item in items[1:])
            condition = leaving(items[0], tiles[0].kind, kinds.BOOL, "")
            items = [condition, *widened(items[1:], tiles[1:], kind, line)]
            if isinstance(items[1], Whole) and isinstance(items[2], Whole) and not ends:
                return Tile(axes, chosen(items[0], items[1], items[2], line), kind, is_cut)
            if is_truth(items[1]) and is_truth(items[2]):
                return Tile(axes, chosen(items[0], items[1], items[2], line), kinds.BOOL)
            yes, no = (
                typed(as_term(item, line), tile, kind)
                for item, tile in zip(items[1:], tiles[1:], strict=True)
            )
            return Tile(axes, chosen(items[0], yes, no, line), kind)
        case "maximum" | "minimum":
            tiles = [read.tile(arg) for arg in args[:2]]
            axes, (a, b) = aligned(state, tiles, line)
            given = args[2] if len(args) > 2 else named.get("propagate_nan")
            nans = None if given is None else read.value(given)
            if nans not in (None, ALL_NANS, NO_NANS):
                raise Unread(line, f"'{ast.unparse(node)}'")
            kind = meaning(_extreme(word, node, nans), list(map(of_tile, tiles)), line).kind
            a, b = widened((a, b), tiles, kind, line)
            if isinstance(a, Whole) and isinstance(b, Whole):
                is_cut = any(one.is_cut for one in tiles)
                return Tile(axes, extreme(word == "maximum", a, b), kind, is_cut)
            not_in_eight(kind, line)
            left = [
                leaving(item, tile.kind, kind, word)
                for item, tile in zip((a, b), tiles, strict=True)
            ]
            operands = [
                settled(kind, typed(as_term(item, line), tile, kind))
                for item, tile in zip(left, tiles, strict=True)
            ]
            return Tile(axes, applied(_of_floats(state, word, kind, nans), operands), kind)
        case "fma" if len(args) == 3:
            tiles = [read.tile(arg) for arg in args]
            axes, (a, b, c) = aligned(state, tiles, line)
            kind = meaning("fma", list(map(of_tile, tiles)), line).kind
            a, b, c = (
                in_type(item, tile.kind, kind, word, line)
                for item, tile in zip((a, b, c), tiles, strict=True)
            )
            product = joined(state, "mul", a, b, line)
            return Tile(
                axes, in_kind(joined(state, "add", product, c, line), kind, word, line), kind
            )
        case _ if word in UNARY and len(args) == 1:
            tile = read.tile(args[0])
            kind = meaning(word, [of_tile(tile)], line).kind
            operand = settled(tile.kind, typed(as_term(tile.item, line), tile, kind))
            item = in_kind(value_of(state, word, [operand]), kind, word, line)
            return replace(tile, item=item, kind=kind)
        case _ if word in BINARY and len(args) == 2:
            tiles = [read.tile(arg) for arg in args]
            axes, (a, b) = aligned(state, tiles, line)
            of = list(map(of_tile, tiles))
            if not all(kinds.is_float(MADE.get(one, one)) for one in of):
                raise Unread(line, f"'tl.{word}' of what is no float, which Triton 3.6 refuses")
            kind = meaning(word, of, line).kind
            a, b = (
                settled(tile.kind, typed(as_term(item, line), tile, kind))
                for item, tile in zip((a, b), tiles, strict=True)
            )
            term = applied(BINARY[word], [a, b])
            return Tile(axes, in_kind(term, kind, word, line), kind)
        case _:
            raise Unread(line, f"a call of 'tl.{word}'")


def typed(term: Term, tile: Tile, kind: str) -> Term:
    """Bring a value to the type in which it meets other values."""
    if tile.kind == kind:
        return term
    if kind == kinds.LOST or tile.kind == kinds.BOOL:
        return as_kind(term, tile.kind, kind)
    return brought(term, tile.kind, kind)


def _extreme(word: str, node: ast.Call, nans: Value | None) -> str:
    """Return the name that the table of semantics has for a `maximum` or `minimum` of two."""
    if isinstance(node.func, ast.Name):
        return f"{node.func.id} of python"
    return f"{word} of all" if nans == ALL_NANS else word


def _is_end(item: Item, kind: str) -> bool:
    """Whether a value is the least or largest number of a type.

    A `where` with such a number does not choose between indices.
    """
    constant = item.constant if isinstance(item, Whole) else None
    return constant is not None and kinds.extreme(constant, kind) is not None


def _of_floats(state: KernelState, word: str, kind: str, nans: Value | None) -> str:
    """Return the operation, marked as one without nan if a nan may lose in it.

    The `maximum` and `minimum` of the language let a nan win. Triton's do so only where
    `propagate_nan` asks for it; where values are promised to be finite, it makes no difference.
    """
    if word == "add" or nans == ALL_NANS or kinds.is_whole(kind) or kind == kinds.BOOL:
        return word
    if state.launch.is_finite:
        return word
    return f"{word}{kinds.WITHOUT_NAN}"


def _type(read: Reader, node: ast.expr) -> str:
    kind = read.value(node)
    if not isinstance(kind, Type):
        raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a type")
    return kind.name


def _made(
    read: Reader,
    word: str,
    args: list[ast.expr],
    named: dict[str, ast.expr],
    node: ast.Call,
) -> Value:
    """Evaluate the functions that make numbers and tiles: program ids, aranges, zeros, cdiv."""
    state = read.state
    match word:
        case "program_id" | "num_programs":
            axis = read.whole(args[0] if args else named["axis"]).constant
            grid = state.launch.grid
            if state.launch.before or (state.launch.is_part and word == "num_programs"):
                raise Unread(node.lineno, f"'{ast.unparse(node)}' of several kernels")
            if axis is None or not 0 <= axis < 3:
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")
            extents = grid[axis] if axis < len(grid) else (number(1),)
            if word == "num_programs":
                # It has 32 bits, even if the sizes that it is computed from have more.
                return replace(scalar(programs_of(extents), "tl.int32"), is_cut=True)
            return scalar(state.digits.of(f"program_{axis}", extents), "tl.int32")
        case "arange":
            if any(read.tile(arg).kind != kinds.WEAK for arg in args):
                raise Unread(node.lineno, f"'{ast.unparse(node)}' of what is no constexpr")
            low, high = read.whole(args[0]), read.whole(args[1])
            count = (high - low).constant
            if not all(0 <= (end.constant or 0) < MOST for end in (low, high)):
                state.doubt(node.lineno, f"'{ast.unparse(node)}' of what 32 bits do not hold")
            if count is not None and (count <= 0 or count & (count - 1)):
                raise Unread(node.lineno, f"'{ast.unparse(node)}' of what is no power of two")
            lane = state.lane(high - low)
            return Tile((lane,), (name(lane) if lane else number(0)) + low, "tl.int32")
        case "cdiv":
            value, by = read.tile(args[0]), read.whole(args[1]).constant
            if by is None or by <= 0 or not isinstance(value.item, Whole):
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")
            raised = value.item + by - 1
            state.computed(raised, value.kind, node.lineno)
            if value.is_cut:
                state.computed(raised, value.kind, node.lineno, is_cut=True)
            state.divided.append(Divided(raised, by, state.here(), node.lineno))
            return replace(value, item=raised.floor(by))
        case _:
            value = read.tile(args[1]) if word == "full" else scalar(number(0))
            dtype = args[-1] if len(args) > 1 + (word == "full") else named.get("dtype")
            if dtype is None:
                raise Unread(node.lineno, f"'{ast.unparse(node)}' without a type")
            sides = read.value(args[0])
            if not isinstance(sides, Group):
                raise Unread(node.lineno, f"'{ast.unparse(node)}': a shape is written in brackets")
            shape = _shape(state, sides, node)
            to = _type(read, dtype)
            if value.axes:
                raise Unread(node.lineno, f"'{ast.unparse(node)}' of several lanes")
            meaning(
                "full" if value.kind == kinds.WEAK else "cast", (of_tile(value), to), node.lineno
            )
            made = full(value, to, node.lineno)
            state.computed(made.item, to, node.lineno)
            return replace(made, axes=shape)


def _shape(state: KernelState, shape: Value, node: ast.expr) -> tuple[str | None, ...]:
    parts = shape.parts if isinstance(shape, Group) else (shape,)
    axes: list[str | None] = []
    for part in parts:
        is_size = isinstance(part, Tile) and part.kind == kinds.WEAK and not part.axes
        if not isinstance(part, Tile) or not isinstance(part.item, Whole) or not is_size:
            raise Unread(node.lineno, f"a shape in '{ast.unparse(node)}'")
        axes.append(axis_of(state, part.item))
    return tuple(axes)
