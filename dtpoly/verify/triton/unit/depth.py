"""Refuse functions that are nested more deeply than Python or Triton can read them.

The compilers of Python and Triton call themselves for each level of a text, and Python stops after
1,000 nested calls. So a function that is nested too deeply is not loaded or not compiled, even if
its meaning is clear.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.unit.unit import Unit

# The calls of the 1,000 that a kernel may take; the program that launches it needs the others.
MOST_CALLS = 850
# How many calls of Triton's compiler a level of each kind takes, rounded up. They were measured
# with chains of each kind.
BINARY, COMPARED, STATEMENT, OTHER = 3, 8, 11, 4
# The calls that a call of a function takes, besides those for the levels of that function.
INTO_FUNCTION = 20
# A depth that Python's own compiler accepts in all versions.
MOST_LEVELS = 400


def check_depth(unit: Unit) -> None:
    """Refuse a function that is nested more deeply than the compilers go. Raises Unread."""
    for one, function in unit.plain.items():
        if _deepest(function, lambda _: (1, 0)) > MOST_LEVELS:
            raise Unread(function.lineno, f"'{one}' is nested more deeply than Python reads")
    known: dict[str, int] = {}
    for one, function in unit.jitted.items():
        if _calls(one, unit.jitted, known) > MOST_CALLS:
            what = f"'{one}' is nested more deeply than Triton's compiler goes"
            raise Unread(function.lineno, what)


def _deepest(root: ast.AST, cost: Callable[[ast.AST], tuple[int, int]]) -> int:
    """Return the largest sum of costs on any way from the root of a tree down.

    A node has two costs: one that lasts for all nodes below it, and one that counts for a moment
    only.
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
    """Return how many calls of Triton's compiler a function takes, with the functions it calls."""
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
