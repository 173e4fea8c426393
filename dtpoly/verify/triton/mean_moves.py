"""Say by how much sums of powers of deviations change when the mean changes (lemma 27).

Let the deviations u of n elements have the sum 0, and let each become `u + c - c'`. Then the sum of
`P(u)`, for a polynomial P, changes by the sum of `P(u + c - c') - P(u)`. In that, u itself has the
sum 0, a number is summed n times, and the sums of higher powers of u are sums that a loop keeps,
too. All of this is multiplied out: what a kernel adds must be the same polynomial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dtpoly.verify.algebra.term_polynomials import (
    Polynomial,
    named,
    plus,
    polynomial_of,
    put_polynomial,
)
from dtpoly.verify.algebra.terms import Given, Place, Term

# Symbols for a mean before an iteration and after it. As parts of a polynomial, they, an element,
# its deviation and the number of elements before the iteration have short names.
OLD, NEW = Given("mean before", False), Given("mean after", False)
OF_OLD, OF_NEW, OF_ELEMENT, OF_COUNT = "c", "c'", "x", "n"
DEVIATION = "u"
# The largest power of a deviation: a kernel keeps so many sums.
MOST_DEGREE = 4


def sum_of_powers(power: int) -> str:
    """Return the name that the sum of a power of deviations has in a polynomial."""
    return f"s{power}"


def summed(of: Polynomial) -> Polynomial:
    """Return the sum of a polynomial of a deviation over n elements whose deviations are 0 in all.

    Other names in it are the same for all elements.
    """
    found: Polynomial = {}
    for monomial, factor in of.items():
        power = monomial.count(DEVIATION)
        if power == 1:
            continue
        others = (one for one in monomial if one != DEVIATION)
        one = OF_COUNT if power == 0 else sum_of_powers(power)
        found = plus(found, {tuple(sorted((*others, one))): factor})
    return found


def change_of(powers: Polynomial) -> Polynomial:
    """Return by how much a sum of powers of deviations changes, from one mean to another."""
    moved = plus(plus(named(DEVIATION), named(OF_OLD)), named(OF_NEW), -1)
    return summed(plus(put_polynomial(powers, DEVIATION, moved), powers, -1))


def moves_of(
    moves: Sequence[Term],
    powers: Polynomial,
    count: Place,
    lower: Mapping[Given, Polynomial],
) -> Polynomial | None:
    """Return what is added, if it is the change of a sum of powers when its mean moves, or None.

    `lower` are symbols for other sums over the same elements, with what these sum.
    """
    if any(len(monomial) > MOST_DEGREE for monomial in powers):
        return None
    names = {symbol: f"sum {at}" for at, symbol in enumerate(lower)}
    parts: dict[Term, str] = {NEW: OF_NEW, OLD: OF_OLD, count: OF_COUNT}
    parts |= {symbol: said for symbol, said in names.items()}
    added: Polynomial = {}
    for one in moves:
        found = polynomial_of(one, parts)
        if found is None:
            return None
        added = plus(added, found)
    for symbol, of in lower.items():
        added = put_polynomial(added, names[symbol], summed(of))
    return None if plus(added, change_of(powers), -1) else added
