"""A kernel that may be placed while launches before it run, in; what it does after waiting, out."""

from __future__ import annotations

import ast

from dtpoly.verify.values import Unread

EARLY = "early"
# It waits until all before it is done.
_WAITS = ast.dump(ast.parse("if early:\n    tl.extra.cuda.gdc_wait()").body[0])


def after_waiting(definition: ast.FunctionDef) -> list[ast.stmt]:
    """What a kernel does that is launched early: nothing before it has waited. Raises Unread."""
    first, *rest = definition.body
    if ast.dump(first) != _WAITS:
        raise Unread(first.lineno, "a kernel that is launched early and does not wait first")
    return rest
