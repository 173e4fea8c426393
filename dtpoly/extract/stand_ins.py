"""Finds what a module sets in things that stand for Triton where it is missing.

    if not HAVE_TRITON:
        triton = MagicMock()
        triton.jit = null_decorator

The second line changes no part of Triton, but of what the first one has made. That `triton` is not
what this line gives it is an assumption already, wherever the name has another meaning besides.
"""

import ast
from collections.abc import Iterator


def parts_of_stand_ins(module: ast.Module) -> Iterator[ast.Attribute]:
    """Yield the targets of statements that set a part of what their own block has just made."""
    for node in ast.walk(module):
        if isinstance(node, ast.If):
            yield from _parts(node.body)
            yield from _parts(node.orelse)
        elif isinstance(node, ast.ExceptHandler):
            yield from _parts(node.body)


def _parts(block: list[ast.stmt]) -> Iterator[ast.Attribute]:
    made: set[str] = set()
    for statement in block:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[], keywords=[])):
                made.add(name)
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=name)) as target], value=ast.Name()
            ) if name in made:
                yield target
            case ast.FunctionDef() | ast.ClassDef():
                made.discard(statement.name)
            case _:
                made.clear()
