"""Decides whether 32 bits are enough for sums of sizes and indices."""

from collections.abc import Mapping, Set
from typing import assert_never

from dtpoly.algorithm.expressions import Affine, Term
from dtpoly.algorithm.index_ends import labels_of
from dtpoly.ir.bound_widths import LARGE
from dtpoly.poly.loops import Bound, Chosen, Combined

# A number up to this, added to a size of 32 bits, leaves room for the end of a tile: functions
# refuse sizes that are within twice as much of 2**31.
NEAR = 1 << 19


def is_large(value: Affine, units: Mapping[str, int] | None = None) -> bool:
    """Return whether a part of a sum of sizes and indices may be far more than any of them is.

    A number that is not near 0 counts as one of them. A size has 32 bits
    up to 2**31, and each loop counts in the bits of its bounds. Variables may count in units, of
    which so many are one index.
    """
    if any(is_large(one.inner, units) for one in value.divisions):
        return True
    times = [(1 if c > 0 else -1, _many(term, c, units or {})) for term, c in value.terms]
    if is_far(value):
        times.append((1 if value.constant > 0 else -1, 1))
    return any(sum(many for sign, many in times if sign == side) > 1 for side in (1, -1))


def _many(term: Term, coefficient: int, units: Mapping[str, int]) -> int:
    """Return how many indices a term may come to. A quotient may come to as many as a label."""
    unit = units.get(term, 1) if isinstance(term, str) else 1
    return -(-abs(coefficient) // unit)


def is_far(value: Affine) -> bool:
    """Return whether the number in a sum is too large to be added to what 32 bits just hold."""
    return abs(value.constant) > NEAR or any(is_far(one.inner) for one in value.divisions)


def is_wide(index: Affine, narrow: Set[str]) -> bool:
    """Return whether an index, times a stride, is computed in the type of offsets.

    What loops count, sizes, and numbers made of them, may have 32 bits: alone they would make a
    product of 32 bits, and several of them a sum.
    """
    counted = Affine(tuple((n, c) for n, c in index.terms if set(labels_of(n)) <= narrow))
    return not counted.terms or (counted.terms != index.terms and not is_large(counted))


def has_large(value: Bound) -> bool:
    """Return whether a part of a bound has 64 bits."""
    match value:
        case Affine():
            return False
        case Combined(operation=operation, operands=operands):
            return operation == LARGE or any(map(has_large, operands))
        case Chosen(left=left, right=right):
            return has_large(left) or has_large(right)
        case _:
            assert_never(value)


def names_of(value: Bound) -> set[str]:
    """Return the variables in a bound, but for those of conditions."""
    match value:
        case Affine():
            return set(value.labels)
        case Combined(operands=operands):
            return set[str]().union(*map(names_of, operands))
        case Chosen(left=left, right=right):
            return names_of(left) | names_of(right)
        case _:
            assert_never(value)
