"""Finds the ends of an index: between which values it stays, for sizes of its labels.

The ends of a sum are the sums of the ends of its terms. Those of a quotient are the ends of what is
divided, divided. A remainder by d goes from 0 to d - 1; if what is divided is never below 0, it is
also at most that.
"""

from collections.abc import Mapping

from dtpoly.algorithm.expressions import Affine, DataIndex, DividedIndex, Term, division


def decides(index: Affine, label: str) -> bool:
    """True if an axis that is read at this index may decide the size of the label.

    The label stands once in the index, and not in a remainder: those repeat, so that there is no
    largest size. A quotient that it stands in is added and not subtracted.
    """
    found = [(term, c) for term, c in index.terms if label in labels_of(term)]
    match found:
        case [(DividedIndex("//", inner), coefficient)]:
            return coefficient > 0 and decides(inner, label)
        case [(str(), _)]:
            return True
        case _:
            return False


def labels_of(term: Term) -> tuple[str, ...]:
    """Return the labels of a term."""
    return (term,) if isinstance(term, str) else Affine(((term, 1),)).labels


def is_natural(index: Affine) -> bool:
    """True if no part of an index is ever subtracted, so that it is never below 0."""
    return index.constant >= 0 and all(c > 0 and _is_natural(term) for term, c in index.terms)


def _is_natural(term: Term) -> bool:
    match term:
        case str():
            return True
        case DataIndex():
            return False
        case DividedIndex(operator, inner):
            return operator == "%" or is_natural(inner)


def ends(index: Affine, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return the least and the largest value of an index. A label of size 0 counts as index 0.

    The index is no data: of that nothing is known.
    """
    low = high = index.constant
    for term, coefficient in index.terms:
        if isinstance(term, str):
            first, last = 0, max(sizes[term] - 1, 0)
        else:
            first, last = _ends(division(term), sizes)
        one, two = sorted((coefficient * first, coefficient * last))
        low, high = low + one, high + two
    return low, high


def _ends(term: DividedIndex, sizes: Mapping[str, int]) -> tuple[int, int]:
    low, high = ends(term.inner, sizes)
    if term.operator == "//":
        return low // term.divisor, high // term.divisor
    most = term.divisor - 1
    return 0, min(high, most) if is_natural(term.inner) else most
