"""Say which type the counter of a loop has: that of the bounds of the loop."""

from __future__ import annotations

import ast

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.triton.reader import Reader

# Types of loop bounds that offsets need. Where a bound has one of these, nothing is computed with
# numbers of Python.
LONG = ("tl.int64", kinds.OFFSET)


def kind_of(read: Reader, over: ast.expr) -> str:
    """Return the kind of a counter: that of the bounds if they are wide, otherwise `size`.

    In a compiled kernel a counter has the type of the bounds. In `tl.static_range`, and in Triton's
    interpreter, it is a number of Python. So a kernel is read only where both give the same.
    """
    args = over.args if isinstance(over, ast.Call) else []
    found = {read.tile(arg).kind for arg in args}
    return next((one for one in LONG if one in found), kinds.SIZE)


def is_cut(read: Reader, over: ast.expr) -> bool:
    """Return whether a bound has 32 bits, even if the sizes that it is computed from have more."""
    args = over.args if isinstance(over, ast.Call) else []
    return any(read.tile(arg).is_cut for arg in args)
