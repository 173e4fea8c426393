"""Read a `return` in a branch: what follows the branch is its other side.

`if done: return` ends the kernel where the condition holds. So the statements below it run where it
does not, and nothing runs after the two sides.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


class ReturningBranch(ast.If):
    """A branch of which a side ends the kernel, with all that follows it as the other side."""


def with_returns(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements of a kernel with each branch that ends in `return` and what follows it.

    Triton refuses a `return` in a loop, so loops are not looked at. Where a branch inside of a
    branch ends the kernel, what follows the outer one is put behind each of its sides.
    """
    for at, one in enumerate(body):
        if not isinstance(one, ast.If):
            continue
        if any(map(_ends_inside, (one.body, one.orelse))):
            sides = (with_returns([*side, *body[at + 1 :]]) for side in (one.body, one.orelse))
            yes, no = sides
            last = ReturningBranch(test=one.test, body=yes or [_nothing(one)], orelse=no)
            return [*body[:at], ast.copy_location(last, one)]
        if one.orelse or not _returns(one.body[-1]):
            continue
        rest = with_returns(body[at + 1 :])
        made = ReturningBranch(test=one.test, body=one.body[:-1] or [_nothing(one)], orelse=rest)
        return [*body[:at], ast.copy_location(made, one)]
    return list(body)


def _ends_inside(side: Sequence[ast.stmt]) -> bool:
    """Return whether a side has a branch, at some depth, that ends the kernel."""
    for one in side:
        if isinstance(one, ast.If):
            inner = (one.body, one.orelse)
            if any(part and _returns(part[-1]) for part in inner) or any(map(_ends_inside, inner)):
                return True
    return False


def _returns(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return) and statement.value is None


def _nothing(where: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), where)
