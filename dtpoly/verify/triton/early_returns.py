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

    Only branches among these statements themselves are looked at: Triton refuses a `return` in a
    loop, and one in a branch inside of a branch is left as it is.
    """
    for at, one in enumerate(body):
        if not isinstance(one, ast.If) or one.orelse or not _returns(one.body[-1]):
            continue
        rest = with_returns(body[at + 1 :])
        made = ReturningBranch(test=one.test, body=one.body[:-1] or [_nothing(one)], orelse=rest)
        return [*body[:at], ast.copy_location(made, one)]
    return list(body)


def _returns(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return) and statement.value is None


def _nothing(where: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), where)
