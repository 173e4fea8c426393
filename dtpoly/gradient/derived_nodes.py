"""Makes expressions of gradients: short names for nodes, and the parts of a product."""

from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Expr,
    Float,
    Integer,
    Read,
    Reduce,
    free_labels,
)
from dtpoly.frozen import dataclass

ZERO = Integer(0)
ONE = Integer(1)


def number(value: float) -> Expr:
    """Return a number as the language writes it: whole where it is whole, with a sign before."""
    if value < 0:
        return Apply("neg", (number(-value),))
    return Integer(int(value)) if value == int(value) else Float(float(value))


def number_of(expr: Expr) -> float | None:
    """Return the finite number that an expression is; None if it is no written number."""
    match expr:
        case Integer(value=value):
            return value
        case Float(value=value):
            return value if abs(value) < float("inf") else None
        case Apply(operation="neg", operands=(one,)):
            inner = number_of(one)
            return None if inner is None else -inner
        case _:
            return None


def applied(operation: str, *operands: Expr) -> Expr:
    """Return an elementwise operation of some operands."""
    return Apply(operation, operands)


def times(*factors: Expr) -> Expr:
    """Return the product of some factors, from left to right."""
    total, *rest = factors
    for one in rest:
        total = applied("mul", total, one)
    return total


def over(left: Expr, right: Expr) -> Expr:
    """Return a quotient."""
    return applied("div", left, right)


def minus(operand: Expr) -> Expr:
    """Return an expression with the other sign."""
    return applied("neg", operand)


def chosen(condition: Expr, yes: Expr, no: Expr = ZERO) -> Expr:
    """Return one of two values, by a condition."""
    return applied("where", condition, yes, no)


def plain(label: str) -> Affine:
    """Return the index that is a label."""
    return Affine(((label, 1),))


def read_at(tensor: str, labels: tuple[str, ...]) -> Read:
    """Return the element of a tensor at some labels."""
    return Read(tensor, tuple([plain(label) for label in labels]))


def summed(operand: Expr, labels: tuple[str, ...]) -> Expr:
    """Return the sum over some labels; over none it is the operand."""
    return Reduce("rsum", operand, labels) if labels else operand


@dataclass(frozen=True, slots=True)
class Factored:
    """A number, times some factors, over others."""

    number: float
    factors: tuple[Expr, ...] = ()
    divisors: tuple[Expr, ...] = ()

    def split(self, labels: tuple[str, ...]) -> tuple["Factored", "Factored"]:
        """Return the part that depends on a label of some, and the part that depends on none."""

        def depends(one: Expr) -> bool:
            return not set(labels).isdisjoint(free_labels(one))

        inside = Factored(
            1,
            tuple(one for one in self.factors if depends(one)),
            tuple(one for one in self.divisors if depends(one)),
        )
        outside = Factored(
            self.number,
            tuple(one for one in self.factors if not depends(one)),
            tuple(one for one in self.divisors if not depends(one)),
        )
        return inside, outside

    def times(self, other: "Factored") -> "Factored":
        """Return the product of two products, the factors of this one first."""
        return Factored(
            self.number * other.number,
            (*self.factors, *other.factors),
            (*self.divisors, *other.divisors),
        )

    def over(self, other: "Factored") -> "Factored | None":
        """Return the quotient of two products; None if a number would be divided by 0."""
        if other.number == 0:
            return None
        return Factored(
            self.number / other.number,
            (*self.factors, *other.divisors),
            (*self.divisors, *other.factors),
        )


def product_of(expr: Expr) -> Factored:
    """Return the product that an expression is; anything else is a product of one factor."""
    found = number_of(expr)
    if found is not None:
        return Factored(found)
    match expr:
        case Apply(operation="neg", operands=(one,)):
            inner = product_of(one)
            return replace(inner, number=-inner.number)
        case Apply(operation="mul", operands=(left, right)):
            return product_of(left).times(product_of(right))
        case Apply(operation="div", operands=(left, right)):
            return product_of(left).over(product_of(right)) or Factored(1, (expr,))
        case _:
            return Factored(1, (expr,))
