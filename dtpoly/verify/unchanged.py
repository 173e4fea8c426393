"""A branch that changes nothing where it is taken: what it rounds to multiples are multiples.

Kernels say so of their rows, for Triton to see it, if their launch says that it is so.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dtpoly.verify.regions import equal, is_affine, set_of
from dtpoly.verify.values import Tile
from dtpoly.verify.whole import Truth, Whole

if TYPE_CHECKING:
    from dtpoly.verify.machine import Machine

# A launcher passes it as it is, or as False; it does so whatever it does with other truths.
FOURS = "fours"
DOUBT = "it is not seen that what is rounded to multiples is a multiple"


def is_rounding(test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> bool:
    """Whether a branch is such a one, and may as well not be taken."""
    is_flag = isinstance(test, ast.Name) and test.id == FOURS and not orelse
    return is_flag and all(name for name, _ in map(_rounded, body))


def changes_nothing(machine: Machine, condition: Truth, body: Sequence[ast.stmt]) -> bool:
    """Whether all that is rounded are multiples, where the condition holds.

    However Triton rounds a quotient: there is nothing to round.
    """
    if not is_affine(condition):
        return False
    known = set_of(condition)
    for one, by in map(_rounded, body):
        value = machine.names.get(one)
        item = value.item if isinstance(value, Tile) and not value.axes else None
        if not isinstance(item, Whole) or not is_affine(item):
            return False
        if not equal(item.floor(by) * by, item, known):
            return False
    return True


def _rounded(statement: ast.stmt) -> tuple[str, int]:
    """The name and the number of `a = a // n * n`; a name of nothing if it is not that."""
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
