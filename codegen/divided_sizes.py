"""Makes formulas of the ends of indices with quotients, and of the sizes that such indices decide.

The rules are those of `dtpoly.algorithm.index_ends` and `dtpoly.algorithm.label_sizes`.
"""

from collections.abc import Callable

from dtpoly.algorithm.expressions import Affine, DividedIndex, division
from dtpoly.algorithm.index_ends import is_natural, labels_of
from dtpoly.plan.formula import (
    Applied,
    Formula,
    FormulaExtent,
    FormulaName,
    FormulaNumber,
    FormulaOperation,
)

from .formulas import down, minus, number, one_of, plus, times
from .sizing import Sizing

Last = Callable[[Formula], Formula]  # from the size of a label to its last index


def ends_of(sizing: Sizing, index: Affine, last: Last) -> tuple[Formula, Formula]:
    """Return the least and the largest value of an index."""
    low: Formula = number(index.constant)
    high: Formula = number(index.constant)
    for term, coefficient in index.terms:
        if isinstance(term, str):
            fixed = sizing.program.fixed.get(term)
            end = last(sizing.size(term)) if fixed is None else number(fixed - 1)
            first, final = number(0), end
        else:
            first, final = _ends_of_division(sizing, division(term), last)
        first, final = (first, final) if coefficient > 0 else (final, first)
        low, high = _sum(low, coefficient, first), _sum(high, coefficient, final)
    return low, high


def _ends_of_division(sizing: Sizing, term: DividedIndex, last: Last) -> tuple[Formula, Formula]:
    low, high = ends_of(sizing, term.inner, last)
    if term.operator == "//":
        return _quotient(low, term.divisor), _quotient(high, term.divisor)
    most = number(term.divisor - 1)
    if not is_natural(term.inner):
        return number(0), most
    if isinstance(high, FormulaNumber):
        return number(0), number(min(high.value, term.divisor - 1))
    return number(0), one_of("min", [high, most])


def _sum(one: Formula, coefficient: int, two: Formula) -> Formula:
    """Return a sum of a formula and a multiple of another one; numbers are added at once."""
    if isinstance(two, FormulaNumber):
        if isinstance(one, FormulaNumber):
            return number(one.value + coefficient * two.value)
        return plus(one, number(coefficient * two.value))
    if coefficient > 0:
        return (
            plus(times(coefficient, two), one)
            if isinstance(one, FormulaNumber)
            else plus(one, times(coefficient, two))
        )
    return minus(one, times(-coefficient, two))


def _quotient(one: Formula, by: int) -> Formula:
    return number(one.value // by) if isinstance(one, FormulaNumber) else down(one, by)


def _multiple(by: int, one: Formula) -> Formula:
    return number(one.value * by) if isinstance(one, FormulaNumber) else times(by, one)


def largest_divided(sizing: Sizing, index: Affine, label: str, extent: Formula) -> Formula:
    """Return the largest size of a label for which an index stays inside an axis."""
    end, above = extent, number(0)
    while True:
        # The index, with `above` added, must not be below 0; the index must be below `end`.
        ((own, coefficient),) = [(t, c) for t, c in index.terms if label in labels_of(t)]
        rest = index - Affine(((own, coefficient),))
        low, high = ends_of(sizing, rest, _last_or_first)
        low = _sum(low, 1, above)
        if isinstance(own, str):
            return _fit(end, low, high, coefficient)
        own = division(own)
        room = _sum(end, -1, high)
        if coefficient > 1:
            room = _sum(_quotient(_sum(room, 1, number(-1)), coefficient), 1, number(1))
        end = _multiple(own.divisor, room)
        above = _multiple(own.divisor, _quotient(low, coefficient))
        index = own.inner


def _last_or_first(size: Formula) -> Formula:
    """Return the last index of a label; that of one without indices counts as 0."""
    return Applied("max", (minus(size, number(1)), number(0)))


def _fit(end: Formula, low: Formula, high: Formula, coefficient: int) -> Formula:
    is_inside = isinstance(low, FormulaNumber) and low.value >= 0
    if is_inside and isinstance(high, FormulaNumber) and coefficient > 0:
        steps = down(plus(end, number(coefficient - 1 - high.value)), coefficient)
        is_never_below = steps == end and _is_length(end)
        return end if is_never_below else Applied("max", (steps, number(0)))
    return Applied("fit", (end, low, high, number(coefficient)))


def _is_length(formula: Formula) -> bool:
    """Return whether a formula is a length, or a multiple of one, and so never below 0."""
    match formula:
        case FormulaName() | FormulaExtent():
            return True
        case FormulaOperation(operator="*", left=FormulaNumber(value=factor), right=right):
            return factor > 0 and _is_length(right)
        case _:
            return False
