"""Turns a mask inside of a reduction into a range: `rmax(where(k <= m, e, -inf), k)`.

The steps that the mask leaves out do nothing, so they are no instances. That holds only if the mask
has exactly the identity of the reduction elsewhere: what is added to a sum is 0, and `0 * e` is not
enough, since it may be nan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Conditions,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    Reduce,
    Size,
    SizedIndex,
)
from dtpoly.algorithm.inference import Types, type_of
from dtpoly.frozen import dataclass

# For a comparison `left OP right`, what is at least 0: the sign of `left - right`, and a number.
SIGNS: Mapping[str, tuple[int, int]] = {"ge": (1, 0), "gt": (1, -1), "le": (-1, 0), "lt": (-1, -1)}
INFINITY = Float(float("inf"))
NOTHING: Mapping[str, tuple[Expr, ...]] = {
    "rsum": (Integer(0), Float(0.0)),
    "rprod": (Integer(1), Float(1.0)),
    "rmax": (Apply("neg", (INFINITY,)),),
    "rmin": (INFINITY,),
}


@dataclass(frozen=True, slots=True)
class MaskedValue:
    """A value that counts only where all conditions hold."""

    value: Expr
    when: Conditions


def as_ranges(expr: Reduce | Dot, types: Types) -> Reduce | Dot:
    """Return the reduction with the masks of its operands as conditions on its steps."""
    match expr:
        case Reduce(operation=operation, operand=operand):
            found = _masked(operand, NOTHING.get(operation, ()), expr.labels, types)
            if found is None:
                return expr
            return replace(expr, operand=found.value, when=_joined(expr.when, found.when))
        case Dot(left=left, right=right):
            # 0 times what the other side has may be nan, so both sides must be 0 elsewhere.
            zeros = NOTHING["rsum"]
            sides = [_masked(side, zeros, expr.labels, types) for side in (left, right)]
            if sides[0] is None or sides[1] is None or set(sides[0].when) != set(sides[1].when):
                return expr
            when = _joined(expr.when, sides[0].when)
            return replace(expr, left=sides[0].value, right=sides[1].value, when=when)


def _joined(one: Conditions, two: Conditions) -> Conditions:
    return tuple(dict.fromkeys((*one, *two)))


def _masked(
    expr: Expr, nothing: tuple[Expr, ...], labels: tuple[str, ...], types: Types
) -> MaskedValue | None:
    """Return a value without its mask, if that is about reduced labels and changes no type."""
    match expr:
        case Apply(operation="where", operands=(condition, value, other)) if other in nothing:
            when = _conditions(condition)
            if when is None or type_of(expr, types) != type_of(value, types):
                return None
            is_about = all(set(one.labels) & set(labels) for one in when)
            return MaskedValue(value, when) if is_about else None
        case _:
            return None


def _conditions(expr: Expr) -> Conditions | None:
    """Return a condition as sums of labels and sizes that are at least 0, if it is made of such."""
    match expr:
        case Apply(operation="and", operands=(left, right)):
            one, two = _conditions(left), _conditions(right)
            return None if one is None or two is None else (*one, *two)
        case Apply(operation=operation, operands=(left, right)) if operation in SIGNS:
            first, second = _sum(left), _sum(right)
            if first is None or second is None:
                return None
            sign, number = SIGNS[operation]
            apart = first - second if sign > 0 else second - first
            return (SizedIndex(apart.index + Affine((), number), apart.sizes),)
        case _:
            return None


def _sum(expr: Expr) -> SizedIndex | None:
    """Return an expression as a sum of labels and sizes times whole numbers, if it is one."""
    match expr:
        case Integer(value=value):
            return SizedIndex(Affine((), value))
        case Index(label=label):
            return SizedIndex(Affine(((label, 1),)))
        case Size(label=label):
            return SizedIndex(Affine(), Affine(((label, 1),)))
        case Apply(operation="neg", operands=(inner,)):
            below = _sum(inner)
            return None if below is None else below.scaled(-1)
        case Apply(operation=("add" | "sub") as operation, operands=(left, right)):
            first, second = _sum(left), _sum(right)
            if first is None or second is None:
                return None
            return first - second.scaled(1 if operation == "sub" else -1)
        case Apply(operation="mul", operands=(Integer(value=factor), other)):
            below = _sum(other)
            return None if below is None else below.scaled(factor)
        case Apply(operation="mul", operands=(other, Integer(value=factor))):
            below = _sum(other)
            return None if below is None else below.scaled(factor)
        case _:
            return None
