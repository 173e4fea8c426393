"""Makes formulas of a plan: sums, products and rounded quotients, as short as they can be."""

from collections.abc import Mapping, Sequence

from dtpoly.algorithm.expressions import Affine
from dtpoly.plan.formula import (
    Applied,
    Formula,
    FormulaName,
    FormulaNumber,
    FormulaOperation,
    Function,
    Operator,
)


def number(value: int) -> Formula:
    """Return a number."""
    return FormulaNumber(value)


def named(name: str) -> Formula:
    """Return the size of a label, by its name in the plan."""
    return FormulaName(name)


def plus(one: Formula, two: Formula) -> Formula:
    """Return the sum. A number is added last, and subtracted if it is below 0; 0 is left out."""
    if one == FormulaNumber(0):
        return two
    match two:
        case FormulaNumber(value=0):
            return one
        case FormulaNumber(value=value) if value < 0:
            return FormulaOperation("-", one, FormulaNumber(-value))
        case _:
            return FormulaOperation("+", one, two)


def minus(one: Formula, two: Formula) -> Formula:
    """Return the difference."""
    return one if two == FormulaNumber(0) else FormulaOperation("-", one, two)


def times(factor: int, one: Formula) -> Formula:
    """Return a multiple."""
    return one if factor == 1 else FormulaOperation("*", FormulaNumber(factor), one)


def product(factors: Sequence[Formula]) -> Formula:
    """Return the product of one factor or more."""
    return _folded("*", factors)


def total(parts: Sequence[Formula]) -> Formula:
    """Return the sum of one part or more."""
    made = parts[0]
    for part in parts[1:]:
        made = plus(made, part)
    return made


def _folded(operator: Operator, parts: Sequence[Formula]) -> Formula:
    made = parts[0]
    for part in parts[1:]:
        made = FormulaOperation(operator, made, part)
    return made


def down(one: Formula, by: int) -> Formula:
    """Return a quotient, rounded down."""
    return one if by == 1 else FormulaOperation("//", one, FormulaNumber(by))


def up(one: Formula, by: int) -> Formula:
    """Return a quotient, rounded up."""
    return one if by == 1 else Applied("cdiv", (one, FormulaNumber(by)))


def lanes(size: Formula) -> Formula:
    """Return how many lanes hold a size."""
    return Applied("lanes", (size,))


def one_of(function: Function, values: Sequence[Formula]) -> Formula:
    """Return the least or the largest of some numbers."""
    different = tuple(dict.fromkeys(values))
    return different[0] if len(different) == 1 else Applied(function, different)


def of_affine(value: Affine, sizes: Mapping[str, Formula]) -> Formula:
    """Return a sum of multiples of sizes and a number, positive multiples first."""
    made: Formula | None = None
    for label, factor in sorted(value.linear, key=lambda term: term[1] < 0):
        part = times(abs(factor), sizes[label])
        if made is None:
            made = part if factor > 0 else times(factor, sizes[label])
        elif factor > 0:
            made = plus(made, part)
        else:
            made = minus(made, part)
    return number(value.constant) if made is None else plus(made, number(value.constant))
