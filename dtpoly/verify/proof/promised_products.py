"""Bound products of numbers by products of sizes that callers promise to be below a bound.

`len(m) * len(n) < 2**30` also bounds a number of tiles, cdiv(m, 128) * cdiv(n, 128): each factor is
proved to be at least 0 and at most another factor of the promise, so the product is at most that of
the sizes (lemma 5c of docs/proofs.md).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.type_kinds import HALF
from dtpoly.verify.algebra.whole import Atom, Whole, both, compare, names_of, number, one_of
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.triton.access import Computed, Ran
from dtpoly.verify.triton.domains import ranged

MOST_FACTORS = 4  # of products that are compared with a promise


def is_below(proof: Proof, ran: Ran, one: Computed, product: Whole, bound: int) -> bool:
    """True if the number is a product that the caller promises to be below a bound, and a rest.

    The rest must be so small that it fits beside the bound.
    """
    rest = one.value - product
    if not is_affine(rest):
        return False
    outside = one_of(compare(">", rest, number(HALF - bound)), compare("<", rest, number(-HALF)))
    ranges = ranged(ran.programs, ran.ranges, names_of(both(one.where, outside)))
    return proof.run.is_empty(set_of(both(proof.facts, one.where, ranges, outside)))


def has_small_factors(proof: Proof, ran: Ran, one: Computed, product: Whole, bound: int) -> bool:
    """True if a number is a product, and a rest, of factors that are at most those of a promise."""
    products = [term for term in one.value.terms if len(term[0]) > 1]
    if len(products) != 1 or products[0][1] != 1 or not product.terms:
        return False
    own, promised = _factors(products[0][0]), _factors(product.terms[0][0])
    if len(own) > len(promised) or len(promised) > MOST_FACTORS:
        return False
    # A size that is at least 1 makes a product no smaller.
    own += [number(1)] * (len(promised) - len(own))
    rest = one.value - Whole((products[0],))
    return is_below(proof, ran, replace(one, value=product + rest), product, bound) and any(
        all(_is_at_most(proof, ran, one, *pair) for pair in zip(own, order, strict=True))
        for order in permutations(promised)
    )


def _factors(monomial: tuple[Atom, ...]) -> list[Whole]:
    return [Whole((((atom,), 1),)) for atom in monomial]


def _is_at_most(proof: Proof, ran: Ran, one: Computed, factor: Whole, most: Whole) -> bool:
    """Return whether a factor is proved to be from 0 to another one, where a number is computed."""
    if not is_affine(factor) or not is_affine(most):
        return False
    outside = one_of(compare("<", factor, number(0)), compare(">", factor, most))
    ranges = ranged(ran.programs, ran.ranges, names_of(both(one.where, outside)))
    return proof.run.is_empty(set_of(both(proof.facts, one.where, ranges, outside)))
