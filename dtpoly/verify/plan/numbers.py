"""Evaluate the formulas of a plan over symbolic sizes, as the runtime does over real ones.

A product of two sizes keeps its factors (`Product`), because a number of programs is taken apart
again. Of the largest of several numbers among which are products, only the operands are kept
(`Bound`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dtpoly.verify.algebra.extents import size_name
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.shared_nodes import rank
from dtpoly.verify.algebra.whole import (
    Truth,
    Whole,
    both,
    compare,
    either,
    extreme,
    name,
    number,
)
from dtpoly.verify.plan.formula_parsing import Formula, FormulaComparison
from dtpoly.verify.plan.held import FactorProduct, FunctionReading, Held, LowerBound, TensorOf

__all__ = ["held", "lanes_name", "product_of", "size", "size_name", "truth"]

Number = Whole | FactorProduct | LowerBound
LEAST_LANES = 16


def size(reading: FunctionReading, formula: Formula) -> Whole:
    """Return what a formula comes to, which must be one number. Raises Unread."""
    found = held(reading, formula)
    if not isinstance(found, Whole):
        raise Unread(formula.line, f"'{formula.text}' is not a whole number that can be followed")
    return found


def truth(reading: FunctionReading, comparisons: Sequence[FormulaComparison]) -> Truth:
    """Return the condition that all comparisons hold. Raises Unread."""
    return both(
        *(
            compare(one.word, size(reading, one.left), size(reading, one.right))
            for one in comparisons
        )
    )


def product_of(numbers: Sequence[Number], line: int) -> FactorProduct:
    """Return the product of some numbers, with all factors kept apart. Raises Unread."""
    factors: list[Whole] = []
    for one in numbers:
        match one:
            case Whole():
                factors.append(one)
            case FactorProduct():
                factors.extend(one.factors)
            case LowerBound():
                raise Unread(line, "a product with the largest of several products")
    return FactorProduct(tuple(factors))


def held(reading: FunctionReading, formula: Formula) -> Number:
    """Return what a formula comes to. Raises Unread."""
    return _value(reading, formula.node, formula)


def _value(reading: FunctionReading, node: ast.expr, of: Formula) -> Number:
    match node:
        case ast.Constant(value=int() as value):
            return number(value)
        case ast.UnaryOp(operand=ast.Constant(value=int() as value)):
            return number(-value)
        case ast.Name(id=one):
            return _named(reading.names.get(one), one, of)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=one)), slice=axis):
            return _part(reading, one, "shape", axis, of)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=one)), args=[axis]):
            return _part(reading, one, "strides", axis, of)
        case ast.BinOp(left=left, op=op, right=right):
            first, second = (_value(reading, side, of) for side in (left, right))
            found = _operated(op, first, second, of)
            if isinstance(op, ast.Mult) and isinstance(found, Whole):
                _remember_factors(reading, found, first, second)
            return found
        case ast.Call(func=ast.Name(id=function), args=args):
            return _applied(reading, function, [_value(reading, one, of) for one in args], of)
        case _:
            raise Unread(of.line, f"'{of.text}', which is no formula")


def _named(found: Held | None, one: str, of: Formula) -> Whole:
    if found is None:
        raise Unread(of.line, f"'{one}' of '{of.text}' is not known here")
    if not isinstance(found, Whole):
        raise Unread(of.line, f"'{one}' of '{of.text}' is not the size of a label")
    return found


def _part(reading: FunctionReading, one: str, part: str, axis: ast.expr, of: Formula) -> Whole:
    """Return how long an axis of a tensor is, or how far apart its neighbours are."""
    found = reading.names.get(one)
    if not isinstance(found, TensorOf):
        raise Unread(of.line, f"'{one}' of '{of.text}' is not a tensor that is known here")
    parts = found.array.shape if part == "shape" else found.array.strides
    at = axis.value if isinstance(axis, ast.Constant) else None
    if not isinstance(at, int) or not 0 <= at < len(parts):
        raise Unread(of.line, f"'{of.text}': '{one}' has {len(parts)} axes")
    return parts[at]


def _operated(op: ast.operator, left: Number, right: Number, of: Formula) -> Number:
    match op, left, right:
        case ast.Mult(), Whole(), Whole() if None not in (left.constant, right.constant) or (
            left.constant is not None or right.constant is not None
        ):
            return left * right
        case ast.Mult(), _, _:
            return product_of((left, right), of.line)
        case ast.Add(), Whole(), Whole():
            return left + right
        case ast.Sub(), Whole(), Whole():
            return left - right
        case ast.FloorDiv(), Whole(), Whole() if by := right.constant:
            return left.floor(by) if by > 0 else (-left).floor(-by)
        case ast.Mod(), Whole(), Whole() if (by := right.constant) is not None and by > 0:
            return left.modulo(by)
        case _:
            raise Unread(of.line, f"'{of.text}', which is not followed")


def _remember_factors(
    reading: FunctionReading, result: Whole, first: Number, second: Number
) -> None:
    """Remember the factors of a product: a grid may have to be taken apart in these factors.

    Nothing is remembered if a factor is a constant below 1.
    """
    factors: list[Whole] = []
    for one in (first, second):
        if not isinstance(one, Whole) or (one.constant is not None and one.constant < 1):
            return
        factors.extend(reading.factors.get(one, (one,)))
    reading.factors[result] = tuple(factors)


def _applied(
    reading: FunctionReading, function: str, given: Sequence[Number], of: Formula
) -> Number:
    if function == "max" and any(isinstance(one, FactorProduct | LowerBound) for one in given):
        return bound_of(given)
    numbers = [one for one in given if isinstance(one, Whole)]
    if len(numbers) < len(given):
        raise Unread(of.line, f"'{function}' of products of sizes in '{of.text}'")
    match function, numbers:
        case "max" | "min", [total, *rest]:
            for one in rest:
                total = extreme(function == "max", total, one)
            return total
        case "cdiv", [left, right] if (by := right.constant) is not None and by > 0:
            return (left + (by - 1)).floor(by)
        case "lanes", [of_size]:
            return _lanes(reading, of_size)
        case "fit", [extent, low, high, factor] if by := factor.constant:
            largest = (extent - 1 - high).floor(by) + 1 if by > 0 else low.floor(-by) + 1
            inside = both(compare(">=", low, number(0)), compare("<", high, extent))
            return either(inside, largest, number(0))
        case _:
            raise Unread(of.line, f"'{of.text}', which is not followed")


def bound_of(given: Sequence[Number]) -> LowerBound:
    """Return what is known of the largest of some numbers: it is not less than any of them."""
    parts: list[Held] = []
    for one in given:
        match one:
            case LowerBound():
                parts.extend(one.parts)
            case FactorProduct():
                total = number(1)
                for factor in one.factors:
                    total = total * factor
                parts.append(total)
            case Whole():
                parts.append(one)
    return LowerBound(tuple(parts))


def _lanes(reading: FunctionReading, of: Whole) -> Whole:
    """Return the name for how many lanes hold a size, and note what is known of it.

    That is: it is not less than the size, and at least 16.
    """
    lanes = name(lanes_name(of))
    reading.facts += [
        compare(">=", lanes, of),
        compare(">=", lanes, number(LEAST_LANES)),
    ]
    return lanes


def lanes_name(of: Whole) -> str:
    """Return the name for how many lanes hold a size."""
    return f"lanes({rank(of)})"
