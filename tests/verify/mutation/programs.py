"""Mistakes in which program and which lane does what."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from tests.verify.mutation.edits import Edit, Text, calls, nodes

STARTS = "_start"


def axes_exchanged(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """`//` for `%`, and the other way round."""
    for node in nodes(function):
        match node:
            case ast.BinOp(op=ast.FloorDiv(), left=left, right=right):
                yield text.put(node, f"({text.around(left)} % {text.around(right)})")
            case ast.BinOp(op=ast.Mod(), left=left, right=right):
                yield text.put(node, f"({text.around(left)} // {text.around(right)})")
            case _:
                pass


def coordinates_exchanged(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Two coordinates of a program stand for each other."""
    found = [
        node.targets[0]
        for node in function.body
        if isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id.startswith("pid") for one in nodes(node.value))
        and text.of(node.targets[0]).endswith(STARTS)
    ]
    for one, other in pairwise(found):
        yield text.swap(one, other)


def other_blocks(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Blocks are counted by another label's size."""
    yield from _others(text, function, "_blocks")


def other_size(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Another label's size."""
    yield from _others(text, function, "_size")


def other_index(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Another label's place."""
    yield from _others(text, function, STARTS)


def _others(text: Text, function: ast.FunctionDef, ending: str) -> Iterator[Edit]:
    names = {one.arg for one in function.args.args if one.arg.endswith(ending)}
    names |= {
        node.id
        for node in nodes(function)
        if isinstance(node, ast.Name) and node.id.endswith(ending)
    }
    for node in nodes(function):
        match node:
            case ast.Name(id=one, ctx=ast.Load()) if one in names:
                yield from (text.put(node, other) for other in sorted(names) if other != one)
            case _:
                pass


def last_group(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """The last group of a map is taken as full; or only what is left of it counts."""
    for call in calls(function, "min", "max", "tl.minimum"):
        for one in call.args[:2]:
            yield text.put(call, text.around(one))


def minimum_for_maximum(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """The larger of two, for the smaller."""
    for call in calls(function, "min"):
        yield text.put(call.func, "max")


def lanes_shifted(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Lanes are counted from 1."""
    for call in calls(function, "tl.arange"):
        yield text.put(call, f"(1 + {text.of(call)})")


def lanes_reversed(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Lanes are counted from the end, for what is stored or for what is loaded."""
    for call in calls(function, "tl.arange"):
        yield text.put(call, f"({text.of(call.args[1])} - 1 - {text.of(call)})")


def program_shifted(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Programs are counted from 1."""
    for call in calls(function, "tl.program_id"):
        yield text.put(call, f"(1 + {text.of(call)})")
