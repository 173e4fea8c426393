"""Finds how a value of a kernel moves when results of reductions move that it is computed from.

The rules of the operations are in `dtpoly.algorithm.motion`.
"""

from collections.abc import Callable

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.motion import STILL, Motion, alike, is_unmoved, of_operation
from dtpoly.ir.kinds import Element, Named
from dtpoly.ir.tile_values import (
    Call,
    Converted,
    Masked,
    Merged,
    Value,
    Variable,
    written_number,
)

# Tells how a variable moves.
Known = Callable[[str], Motion]


class TangledError(Exception):
    """A value moves in another way than by a sum or by a factor."""

    def __init__(self, value: Value) -> None:
        super().__init__("moves in another way")
        self.value = value


def motion(value: Value, known: Known) -> Motion:
    """Return how a value moves. Raises TangledError if it is not one of the two ways."""
    match value:
        case Variable(name=name):
            return known(name)
        case Call(operation=operation, operands=operands):
            moves = [motion(one, known) for one in operands]
            return _checked(
                value, of_operation(operation, moves, [written_number(one) for one in operands])
            )
        case Converted(value=inner, dtype=dtype):
            found = motion(inner, known)
            return _checked(value, found if found.is_still or _is_float(dtype) else None)
        case Masked(value=inner, other=other):
            found = motion(inner, known)
            return _checked(value, found if is_unmoved(found, other) else None)
        case Merged(left=left, right=right):
            return _checked(value, alike(motion(left, known), motion(right, known)))
        case _:  # a number, an index, or a test
            return STILL


def _checked(value: Value, found: Motion | None) -> Motion:
    if found is None:
        raise TangledError(value)
    return found


def _is_float(dtype: Element) -> bool:
    return isinstance(dtype, Named) or is_float(dtype)
