"""How deep the functions of a unit are nested; Unread where Python or Triton goes no deeper.

Python's and Triton's compilers call themselves for each level of a text, and Python stops after
1,000 calls: what is nested too deeply is not loaded or not compiled, though its meaning is clear.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from dtpoly.verify.unit.unit import Unit
from dtpoly.verify.values import Unread

# What is left of the 1,000 calls for a kernel: the program that launches it needs some.
MOST_CALLS = 850
# How many calls of Triton's compiler a level takes, rounded up; measured with chains of each.
BINARY, COMPARED, STATEMENT, OTHER = 3, 8, 11, 4
# What the call of a function takes besides the levels of that function.
INTO_FUNCTION = 20
# How many levels Python's own compiler takes, in all versions.
MOST_LEVELS = 400


def check_depth(unit: Unit) -> None:
    """No function is nested more deeply than compilers go. Raises Unread."""
    for one, function in unit.plain.items():
        if _deepest(function, lambda _: (1, 0)) > MOST_LEVELS:
            raise Unread(function.lineno, f"'{one}' is nested more deeply than Python reads")
    known: dict[str, int] = {}
    for one, function in unit.jitted.items():
        if _calls(one, unit.jitted, known) > MOST_CALLS:
            what = f"'{one}' is nested more deeply than Triton's compiler goes"
            raise Unread(function.lineno, what)


def _deepest(root: ast.AST, cost: Callable[[ast.AST], tuple[int, int]]) -> int:
    """The largest sum of costs on a way from the root of a tree down.

    A node costs something for what is below it, and something more for a moment.
    """
    most, pending = 0, [(root, 0)]
    while pending:
        node, before = pending.pop()
        own, more = cost(node)
        own += before
        most = max(most, own + more)
        pending += [(child, own) for child in ast.iter_child_nodes(node)]
    return most


def _calls(one: str, jitted: Mapping[str, ast.FunctionDef], known: dict[str, int]) -> int:
    """How many calls of Triton's compiler a function takes, with the functions that it calls."""
    if one in known:
        return known[one]
    known[one] = MOST_CALLS + 1  # a function that calls itself is never compiled

    def cost(node: ast.AST) -> tuple[int, int]:
        match node:
            case ast.Call(func=ast.Name(id=other)) if other in jitted:
                # Arguments are compiled before the function is.
                return OTHER, INTO_FUNCTION + _calls(other, jitted, known)
            case ast.BinOp():
                return BINARY, 0
            case ast.Compare():
                return COMPARED, 0
            case ast.stmt():
                return STATEMENT, 0
            case _:
                return OTHER, 0

    known[one] = min(_deepest(jitted[one], cost), MOST_CALLS + 1)
    return known[one]
