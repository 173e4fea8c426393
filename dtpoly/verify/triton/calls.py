"""Evaluate the calls of a kernel: of Triton, of methods, of Python and of the file's functions.

Each call gives a value, and may also record an access, a number that must not overflow, or a doubt.
A call that is not understood exactly raises Unread: then nothing is proved.
"""

from __future__ import annotations

import ast

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    BlockPointerValue,
    DescriptorValue,
    FileFunction,
    TileValue,
    Unread,
    Value,
    scalar,
)
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import Literal
from dtpoly.verify.algebra.whole import FALSE, TRUE, Whole, both, compare, number
from dtpoly.verify.triton import descriptor_access as descriptors
from dtpoly.verify.triton import methods
from dtpoly.verify.triton.function_calls import called
from dtpoly.verify.triton.lanes import power_of
from dtpoly.verify.triton.reader import Reader
from dtpoly.verify.triton.triton_operations import perform
from dtpoly.verify.triton.typed_operations import of_tile
from dtpoly.verify.triton.unit.words import TYPES


def call(read: Reader, node: ast.Call) -> Value:
    """Return the value of a call, and record what it does."""
    state = read.state
    match node.func:
        case ast.Attribute(value=ast.Name(id="tl"), attr="constexpr"):
            return _constant(read, node)
        case ast.Attribute(value=ast.Name(id="tl"), attr=word) if word in TYPES:
            what = f"'{ast.unparse(node)}': Triton cannot call a type"
            raise Unread(node.lineno, f"{what}, write tl.full((), ..., tl.{word}) or tl.cast")
        case (
            ast.Attribute(value=ast.Name(id="tl"), attr=word)
            | ast.Attribute(value=ast.Attribute(value=ast.Name(id="tl"), attr="math"), attr=word)
        ):
            return perform(read, word, node.args, node)
        case ast.Attribute(value=ast.Attribute(attr="libdevice"), attr=word):
            return perform(read, f"extra.libdevice.{word}", node.args, node)
        case ast.Attribute(value=ast.Name(id="triton"), attr="cdiv"):
            return _rounded_up(read, node)
        case ast.Attribute(value=ast.Name(id="triton"), attr="next_power_of_2"):
            return _power(read, node)
        case ast.Attribute(value=ast.Name(id=one), attr=("load" | "store") as word) if isinstance(
            found := state.names.get(one), DescriptorValue
        ):
            return descriptors.call(read, found, word, node)
        case ast.Attribute(value=ast.Name(id=one), attr="advance") if isinstance(
            state.names.get(one), BlockPointerValue
        ):
            what = f"'{ast.unparse(node)}', which Triton's interpreter cannot call as a method"
            raise Unread(node.lineno, what, f"write tl.advance({one}, ...)")
        case ast.Attribute(value=value, attr=word):
            return _method(read, value, word, node)
        case ast.Name(id="min" | "max" as word) if not node.keywords:
            return _extreme(read, word, node)
        case ast.Name(id="float"):
            return _float(read, node)
        case ast.Name(id=one):
            found = state.look(one, node.lineno)
            if not isinstance(found, FileFunction):
                raise Unread(node.lineno, f"a call of '{one}'")
            values = [read.value(arg) for arg in node.args]
            return called(read, found.name, values, node.lineno, node.keywords)
        case _:
            raise Unread(node.lineno, f"a call of '{ast.unparse(node.func)}'")


def _rounded_up(read: Reader, node: ast.Call) -> Value:
    """Return a quotient by `triton.cdiv`: a function of Python, which takes no tensor."""
    if any(read.tile(arg).kind != kinds.WEAK for arg in node.args):
        raise Unread(node.lineno, f"'{ast.unparse(node)}' of what may be a tensor: tl.cdiv")
    return perform(read, "cdiv", node.args, node)


def _extreme(read: Reader, word: str, node: ast.Call) -> Value:
    """Return Python's smallest or largest of some numbers."""
    chosen = perform(read, f"{word}imum", node.args, node)
    if isinstance(chosen, TileValue) and chosen.axes:
        # Some versions of Triton's interpreter compare tiles as a whole, as Python does.
        raise Unread(node.lineno, f"'{word}' of several lanes: write tl.{word}imum")
    return chosen


def _float(read: Reader, node: ast.Call) -> Value:
    """Return `float("inf")` and the like, or a float of Python that is one already."""
    match node.args:
        case [ast.Constant(value=str() as text)] if text in ("inf", "-inf", "nan"):
            return scalar(Literal(text))
        case [value] if not node.keywords and _is_python_float(read.value(value)):
            return read.value(value)
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)}'")


def _power(read: Reader, node: ast.Call) -> Value:
    """Return the value of `triton.next_power_of_2(...)` of what Triton knows while it compiles."""
    state = read.state
    found = read.constant(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    if not isinstance(found, TileValue) or not isinstance(found.item, Whole):
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    power, fact = power_of(found.item)
    if fact != TRUE and not is_affine(fact):
        raise Unread(node.lineno, f"'{ast.unparse(node)}' of a product of sizes")
    state.facts = both(state.facts, fact)
    state.tiles.append(fact)
    return scalar(power)


def _is_python_float(value: Value) -> bool:
    """Return whether a value is a float of Python, which `float` leaves as it is."""
    if not isinstance(value, TileValue) or value.axes or value.kind != kinds.WEAK:
        return False
    return of_tile(value) in ("float", "double")


def _constant(read: Reader, node: ast.Call) -> Value:
    """Return the value of `tl.constexpr(...)` of what is a constant for Triton by itself."""
    if len(node.args) != 1 or node.keywords:
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    return read.constant(node.args[0])


def _is_large(read: Reader, tile: TileValue) -> bool:
    """Return whether a value is a size that the kernel is given, and is 2 at least in each call.

    Triton makes a constant of a whole number only if it is 1; any other one is a tensor.
    """
    state = read.state
    if tile.kind != kinds.SIZE or not any(tile is one for one in state.launch.arguments.values()):
        return False
    large = compare(">=", tile.item, number(2)) if isinstance(tile.item, Whole) else FALSE
    facts = both(state.facts, large)
    return is_affine(facts) and state.run.holds(large, set_of(state.facts))


def _method(read: Reader, of: ast.expr, word: str, node: ast.Call) -> Value:
    """Evaluate a method of a tensor as the function of that name, with the tensor put first."""
    state = read.state
    tile = read.tile(of, stays=True)
    if not _is_large(read, tile):
        methods.check(tile, word, node.lineno)
    # The tensor is evaluated only once; for the call it is bound to a name that no text can have.
    own = f".{node.lineno}.{node.col_offset}.{node.end_col_offset}"
    state.names[own] = tile
    given = ast.copy_location(ast.Name(own, ast.Load()), of)
    try:
        return perform(read, "cast" if word == "to" else word, [given, *node.args], node)
    finally:
        del state.names[own]
