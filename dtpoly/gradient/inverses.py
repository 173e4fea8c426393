"""Multiplies by inverses where a gradient divides many elements by one number of their row.

A GPU divides by an approximate inverse and some further instructions, and it has eight times as
many units that multiply as units that find inverses. In the gradient of attention each score is
divided by the sum of its row, twice: with heads of 64 numbers that takes about as long as the
products of matrices. The inverse of a row is computed once for all elements of the row that a
program has.

Where many elements are divided by a number of the call or by a size, what is alike for all the row
is divided.

The product differs from the quotient by a rounding, and where the divisor is so small that its
inverse is infinite, which is a float that is no normal one.
"""

from collections.abc import Collection
from dataclasses import replace

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.expressions import Apply, Expr, Reshape, free_labels, map_children
from dtpoly.algorithm.inference import Types, type_of, types_of
from dtpoly.algorithm.program import Program
from dtpoly.gradient.derived_nodes import ONE, applied, number_of, over, times


def with_inverses(program: Program, derived: Collection[str]) -> Program:
    """Return the Program with products by inverses in the bodies of those that were derived."""
    types = types_of(program)
    return replace(
        program,
        funcs=tuple(
            replace(one, body=_inverted(one.body, types)) if one.name in derived else one
            for one in program.funcs
        ),
    )


def _inverted(expr: Expr, types: Types) -> Expr:
    made = map_children(expr, lambda one: _inverted(one, types))
    match made:
        case Apply(operation="div", operands=(left, right)) if _is_of_rows(left, right, types):
            return _product(left, right)
        case Apply(operation="div", operands=(left, right)) if not free_labels(right):
            return _with_divided_row(left, right, types) or made
        case _:
            return made


def _is_of_rows(left: Expr, right: Expr, types: Types) -> bool:
    """Return whether many elements have the same divisor, which is a float.

    A whole number has an inverse of 32 bits, which may be less than the dividend has.
    """
    wide, narrow = set(free_labels(left)), set(free_labels(right))
    if not narrow or not narrow < wide:
        return False
    dtype = type_of(right, types).dtype
    return dtype is None or is_float(dtype)


def _product(left: Expr, right: Expr) -> Expr:
    """Return a quotient as a product, of which a factor that is alike for all the row is divided.

    If there is no such factor, it is 1.
    """
    factors = _factors(left)
    for at, one in enumerate(factors):
        if set(free_labels(one)) == set(free_labels(right)):
            return times(*factors[:at], over(one, right), *factors[at + 1 :])
    return applied("mul", left, over(ONE, right))


def _with_divided_row(left: Expr, right: Expr, types: Types) -> Expr | None:
    """Return a quotient by a number in which what is alike for all the row is divided, once.

    Return None if there is no such factor, or if it is a whole number.
    """
    factors = _factors(left)
    wide = set(free_labels(left))
    at = next((i for i, one in enumerate(factors) if set(free_labels(one)) < wide), None)
    if at is None or number_of(right) is not None:
        return None
    end = at + 1
    while end < len(factors) and at == 0 and set(free_labels(factors[end])) < wide:
        end += 1
    row = times(*factors[at:end])
    if not free_labels(row) or set(free_labels(row)) == wide:
        return None
    dtype = type_of(row, types).dtype
    if dtype is not None and not is_float(dtype):
        return None
    divided = over(row, right)
    if isinstance(row, Reshape):
        divided = replace(row, operand=over(row.operand, right))
    return times(*factors[:at], divided, *factors[end:])


def _factors(expr: Expr) -> list[Expr]:
    match expr:
        case Apply(operation="mul", operands=(left, right)):
            return [*_factors(left), right]
        case _:
            return [expr]
