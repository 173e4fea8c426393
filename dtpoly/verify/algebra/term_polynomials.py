"""Multiply out terms as polynomials of a few of their parts, over the reals.

A polynomial maps products of names to their factors. Only sums, differences, products, squares and
quotients by written numbers are multiplied out; anything else has no polynomial.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.terms import AppliedOperation, Literal, Term

Polynomial = Mapping[tuple[str, ...], Fraction]
CONSTANT: tuple[str, ...] = ()
MOST_MONOMIALS = 200
MOST_POWER = 4


def polynomial_of(term: Term, parts: Mapping[Term, str]) -> Polynomial | None:
    """Return a term as a polynomial of some of its parts; None if it is none."""
    if term in parts:
        return {(parts[term],): Fraction(1)}
    match term:
        case Literal(text=text):
            number = finite(text)
            return None if number is None else constant(number)
        case AppliedOperation(operation="neg", operands=(one,)):
            inner = polynomial_of(one, parts)
            return None if inner is None else times(inner, constant(Fraction(-1)))
        case AppliedOperation(operation="pow", operands=(one, Literal(text=text))):
            return _power(polynomial_of(one, parts), finite(text))
        case AppliedOperation(operation="div", operands=(one, Literal(text=text))):
            inner, number = polynomial_of(one, parts), finite(text)
            return times(inner, constant(1 / number)) if inner is not None and number else None
        case AppliedOperation(operation="add" | "sub" | "mul" as operation, operands=(one, other)):
            left, right = polynomial_of(one, parts), polynomial_of(other, parts)
            if left is None or right is None:
                return None
            if operation == "mul":
                return times(left, right)
            return plus(left, right, 1 if operation == "add" else -1)
        case _:
            return None


def constant(number: Fraction) -> Polynomial:
    """Return a polynomial that is a number."""
    return {CONSTANT: number} if number else {}


def named(one: str) -> Polynomial:
    """Return a polynomial that is one name."""
    return {(one,): Fraction(1)}


def plus(one: Polynomial, other: Polynomial, sign: int = 1) -> Polynomial:
    """Return the sum of two polynomials, or their difference."""
    found = dict(one)
    for monomial, factor in other.items():
        found[monomial] = found.get(monomial, Fraction(0)) + sign * factor
    return {monomial: factor for monomial, factor in found.items() if factor}


def times(one: Polynomial, other: Polynomial) -> Polynomial:
    """Return the product of two polynomials."""
    found: dict[tuple[str, ...], Fraction] = {}
    for mine, factor in one.items():
        for theirs, by in other.items():
            key = tuple(sorted((*mine, *theirs)))
            found[key] = found.get(key, Fraction(0)) + factor * by
    return {monomial: factor for monomial, factor in found.items() if factor}


def put_polynomial(of: Polynomial, name: str, value: Polynomial) -> Polynomial:
    """Return a polynomial with another one in the place of a name."""
    found: Polynomial = {}
    for monomial, factor in of.items():
        one: Polynomial = {tuple(part for part in monomial if part != name): factor}
        for _ in range(monomial.count(name)):
            one = times(one, value)
        found = plus(found, one)
    return found


def said_polynomial(of: Polynomial) -> str:
    """Return a polynomial as a text, such as `1*n*c*c + -2*c*c'*n`, always in one order."""
    return " + ".join("*".join((str(of[one]), *one)) for one in sorted(of))


def _power(of: Polynomial | None, power: Fraction | None) -> Polynomial | None:
    if of is None or power is None or power.denominator != 1 or not 0 <= power <= MOST_POWER:
        return None
    found: Polynomial = constant(Fraction(1))
    for _ in range(int(power)):
        if len(found) > MOST_MONOMIALS:
            return None
        found = times(found, of)
    return found
