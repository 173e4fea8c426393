"""Mistakes in loads and stores: masks, addresses, what masked lanes load."""

import ast
import re
from collections.abc import Iterator

from tests.verify.mutation.edits import (
    Edit,
    Text,
    calls,
    keyword,
    nodes,
    rebuilt,
)

ACCESSES = ("tl.load", "tl.store", "tl.atomic_add", "tl.atomic_max", "tl.atomic_min")
STRIDE = re.compile(r"(.+_stride_)(\d+)$")
NUMBER = re.compile(r"(.*_)(ptr|size|mask)$")


def load_without_mask(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A load reads all lanes."""
    for call in calls(function, "tl.load"):
        if keyword(call, "mask") is not None:
            yield text.put(call, rebuilt(text, call, ("mask", "other")))


def store_without_mask(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A store writes all lanes."""
    for call in calls(function, *ACCESSES[1:]):
        if keyword(call, "mask") is not None:
            yield text.put(call, rebuilt(text, call, ("mask",)))


def weaker_mask(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """One of two conditions of a mask is left out."""
    for call in calls(function, *ACCESSES):
        match keyword(call, "mask"):
            case ast.BinOp(op=ast.BitAnd(), left=left, right=right) as mask:
                yield text.put(mask, text.around(left))
                yield text.put(mask, text.around(right))
            case _:
                pass


def other_mask(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """The mask of another label stands in its place."""
    masks = sorted(
        {
            node.id
            for node in nodes(function)
            if isinstance(node, ast.Name) and node.id.endswith("_mask")
        }
    )
    for call in calls(function, *ACCESSES, "tl.where"):
        for node in nodes(call):
            if isinstance(node, ast.Name) and node.id in masks:
                yield from (text.put(node, one) for one in masks if one != node.id)


def other_wrong(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Masked lanes load another number."""
    for call in calls(function, "tl.load"):
        other = keyword(call, "other")
        if other is not None:
            yield text.put(other, "1.0" if ast.unparse(other) == "0.0" else "0.0")


def other_missing(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """It is not said what masked lanes load."""
    for call in calls(function, "tl.load"):
        if keyword(call, "other") is not None:
            yield text.put(call, rebuilt(text, call, ("other",)))


def strides_swapped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """An index is multiplied by another axis' stride."""
    parameters = {one.arg for one in function.args.args}
    for node in nodes(function):
        found = STRIDE.match(node.id) if isinstance(node, ast.Name) else None
        if found:
            assert isinstance(node, ast.Name)
            axis = int(found[2])
            for at in (axis + 1, axis - 1):
                if f"{found[1]}{at}" in parameters:
                    yield text.put(node, f"{found[1]}{at}")


def stride_missing(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """An index is not multiplied by its stride."""
    for node in nodes(function):
        match node:
            case ast.BinOp(op=ast.Mult(), left=left, right=ast.Name(id=one)) if STRIDE.match(one):
                yield text.put(node, text.around(left))
            case _:
                pass


def other_tensor(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Another tensor is read or written."""
    pointers = [one.arg for one in function.args.args if one.arg.endswith("_ptr")]
    for node in nodes(function):
        if isinstance(node, ast.Name) and node.id in pointers:
            yield from (text.put(node, one) for one in pointers if one != node.id)


def lanes_transposed(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Rows are columns in an address."""
    turned = {":, None": "[None, :]", "None, :": "[:, None]"}
    for call in calls(function, *ACCESSES):
        splices = tuple(
            text.splice(node, text.of(node.value) + turned[shape])
            for node in nodes(call.args[0])
            if isinstance(node, ast.Subscript)
            and (shape := ast.unparse(node.slice).strip("()")) in turned
        )
        if splices:
            yield Edit(call.lineno, "rows and columns of an address are exchanged", splices)


def index_off_by_one(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """The next element is read or written."""
    for node in nodes(function):
        match node:
            case ast.BinOp(op=ast.Mult(), left=left, right=ast.Name(id=one)) if STRIDE.match(one):
                yield text.put(left, f"({text.of(left)} + 1)")
            case _:
                pass


def stored_twice(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A store stands there twice."""
    for node in nodes(function):
        match node:
            case ast.Expr(value=ast.Call() as call) if ast.unparse(call.func) in ACCESSES[1:]:
                indent = " " * node.col_offset
                yield text.put(node, f"{text.of(node)}\n{indent}{text.of(node)}")
            case _:
                pass
