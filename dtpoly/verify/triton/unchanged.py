"""Read a branch of a kernel that changes nothing where it is taken.

    if fours: a = a // 4 * 4

Kernels have such branches so that Triton sees that a number is a multiple. The branch is taken only
if its launch says that the number is one, and then rounding it changes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dtpoly.verify.algebra.kernel_values import TileValue
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import Truth, Whole
from dtpoly.verify.triton.kernel_state import KernelState

# The runtime may pass this flag as it is, or as False. It decides that apart from other truths.
FOURS = "fours"
DOUBT = "it is not seen that what is rounded to multiples is a multiple"


def is_rounding(test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> bool:
    """Return whether a branch only rounds to multiples under the flag, and may be left out."""
    is_flag = isinstance(test, ast.Name) and test.id == FOURS and not orelse
    return is_flag and all(name for name, _ in map(_rounded, body))


def changes_nothing(state: KernelState, condition: Truth, body: Sequence[ast.stmt]) -> bool:
    """Return whether all numbers that the branch rounds are multiples where the condition holds.

    It does not matter how Triton rounds a quotient, since nothing is left to round.
    """
    if not is_affine(condition):
        return False
    known = set_of(condition)
    for one, by in map(_rounded, body):
        value = state.names.get(one)
        item = value.item if isinstance(value, TileValue) and not value.axes else None
        if not isinstance(item, Whole) or not is_affine(item):
            return False
        if not state.run.equal(item.floor(by) * by, item, known):
            return False
    return True


def _rounded(statement: ast.stmt) -> tuple[str, int]:
    """Return the name and the number of `a = a // n * n`; an empty name for other statements."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=one)],
            value=ast.BinOp(
                left=ast.BinOp(
                    left=ast.Name(id=same),
                    op=ast.FloorDiv(),
                    right=ast.Constant(value=int() as by),
                ),
                op=ast.Mult(),
                right=ast.Constant(value=int() as times),
            ),
        ) if one == same and by == times and by > 0:
            return one, by
        case _:
            return "", 1
