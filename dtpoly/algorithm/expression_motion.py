"""Finds how an expression moves when the Funcs move that it reads: its frames."""

from collections.abc import Mapping

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Dot,
    Expr,
    Float,
    Integer,
    Read,
    Reduce,
    Reshape,
    children,
)
from dtpoly.algorithm.motion import STILL, Motion, of_operation


class TangledExpressionError(Exception):
    """An expression moves in another way than by a sum or by a factor."""

    def __init__(self, expr: Expr) -> None:
        super().__init__("moves in another way")
        self.expr = expr


def motion_of(expr: Expr, known: Mapping[str, Motion]) -> Motion:
    """Return how the value of an expression moves, from how each frame moves.

    Raises TangledExpressionError if it does so in another way than by a sum or by a factor.
    """
    moves = [motion_of(one, known) for one in children(expr)]
    match expr, moves:
        case Read(tensor=tensor), _ if tensor in known and not moves:
            return known[tensor]
        case Apply(operation=operation, operands=operands), _:
            found = of_operation(operation, moves, [_number(one) for one in operands])
        case Cast(dtype=dtype), [one]:
            found = one if one.is_still or is_float(dtype) else None
        case Reshape(), [one]:
            found = one
        case Dot(), [one, other]:
            found = _through(one if other.is_still else other, "rsum")
            found = found if one.is_still or other.is_still else None
        case Reduce(operation=operation), [one]:
            found = _through(one, operation)
        case _:
            found = STILL if all(one.is_still for one in moves) else None
    if found is None:
        raise TangledExpressionError(expr)
    return found


def _through(found: Motion, reduction: str) -> Motion | None:
    """Return how a reduction moves if its operands do; a factor passes sums, a sum a maximum."""
    passing = ("rsum",) if found.is_factor else ("rmax", "rmin")
    return found if found.is_still or reduction in passing else None


def _number(expr: Expr) -> float | None:
    """Return the number that an expression is; None if it is no written number."""
    match expr:
        case Integer(value=value) | Float(value=value):
            return float(value)
        case Apply(operation="neg", operands=(one,)):
            number = _number(one)
            return None if number is None else -number
        case _:
            return None
