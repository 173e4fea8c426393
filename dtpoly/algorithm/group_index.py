"""Recognizes an index that numbers groups, as `c // 16` numbers groups of 16 channels."""

from dtpoly.algorithm.expressions import Affine, DividedIndex


def grouped(index: Affine) -> tuple[str, int] | None:
    """Return the label and the number if an index is the quotient of a label by a number."""
    match index:
        case Affine(terms=((DividedIndex(operator="//", inner=inner, divisor=by), 1),), constant=0):
            return None if inner.plain is None else (inner.plain, by)
        case _:
            return None
