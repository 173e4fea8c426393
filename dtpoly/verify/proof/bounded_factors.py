"""Bound products of numbers by the largest magnitudes that their factors may have.

An offset is often data times a counter, such as the part of a row that a round of a loop takes:
`tl.cdiv(length, 4) * i` with `i` below 4. Each factor by itself is proved to be between two
numbers, and then so is the product (lemma 5 of docs/proofs.md).
"""

from __future__ import annotations

from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import Region, is_affine, set_of
from dtpoly.verify.algebra.type_kinds import HALF
from dtpoly.verify.algebra.whole import Atom, Whole, both, compare, names_of, number, one_of
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.triton.access import Computed, Ran
from dtpoly.verify.triton.domains import ranged

MOST_BITS = 31  # of a magnitude that is tried
MOST_FACTORS = 12  # of all products of a number


def has_bounded_factors(proof: Proof, ran: Ran, one: Computed) -> bool:
    """Return whether the largest magnitudes of all factors make a number that 32 bits hold."""
    factors = [atom for monomial, _ in one.value.terms for atom in monomial]
    if not 0 < len(factors) <= MOST_FACTORS:
        return False
    known: dict[Atom, int] = {}
    for atom in factors:
        if atom not in known:
            most = _magnitude(proof, ran, one, Whole((((atom,), 1),)))
            if most is None:
                return False
            known[atom] = most
    limits = tuple(number(known[atom]) for atom in factors)
    total = largest_of(one.value, limits)
    if total is None or total >= HALF:
        return False
    proof.run.assume(Lemma.FACTORS, one.value, limits, total)
    return True


def largest_of(value: Whole, limits: tuple[Whole, ...]) -> int | None:
    """Return the largest magnitude of a sum of products, with one limit for each factor."""
    left, total = list(limits), 0
    for monomial, coefficient in value.terms:
        product = abs(coefficient)
        for _ in monomial:
            most = left.pop(0).constant if left else None
            if most is None or most < 0:
                return None
            product *= most
        total += product
    return None if left else total


def _magnitude(proof: Proof, ran: Ran, one: Computed, factor: Whole) -> int | None:
    """Return a number that a factor is not above, and its negative not below; None if it has none.

    It is 2^k - 1 for the least k with which that is proved.
    """
    if not is_affine(factor):
        return None
    ranges = ranged(
        ran.programs, ran.ranges, names_of(both(one.where, compare("==", factor, number(0))))
    )
    where = set_of(both(proof.facts, one.where, ranges))
    low, high = 0, MOST_BITS
    if not _is_within(proof, factor, high, where):
        return None
    while low < high:
        middle = (low + high) // 2
        if _is_within(proof, factor, middle, where):
            high = middle
        else:
            low = middle + 1
    return (1 << high) - 1


def _is_within(proof: Proof, factor: Whole, bits: int, where: Region) -> bool:
    most = number((1 << bits) - 1)
    outside = one_of(compare(">", factor, most), compare("<", factor, -most))
    return proof.run.is_empty(where.intersect(set_of(outside)))
