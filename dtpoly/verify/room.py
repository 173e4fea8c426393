"""Sizes in; those for which the result does not fit into any memory, left out."""

from __future__ import annotations

from itertools import combinations

from dtpoly.verify.asking import Lemma, assume
from dtpoly.verify.findings import Proof
from dtpoly.verify.regions import Region, is_affine, set_of
from dtpoly.verify.whole import both, compare, number

# A result has no two elements in one place, and so many bytes no machine can address.
BITS = 48
# Of numbers of which nothing is known but that they are below 2^31.
WIDTH = 31


def with_room(proof: Proof, where: Region) -> Region:
    """The calls that are left: if it is not empty, two sizes of the result are below 2^48 together.

    Sets have no products, so it is asked for each power of two: not both a < 2^k and b < 2^(48 - k)
    fail.
    """
    sizes = proof.arrays[proof.result].shape
    if not all(is_affine(size) for size in sizes):
        return where
    is_there = both(*(compare(">=", size, number(1)) for size in sizes))
    for one, other in combinations(sizes, 2):
        assume(Lemma.ROOM, one, other)
        for bits in range(BITS - WIDTH, WIDTH + 1):
            if where.is_empty():
                return where
            large = compare(">=", one, number(2**bits))
            too_large = both(is_there, large, compare(">=", other, number(2 ** (BITS - bits))))
            where = where.subtract(set_of(too_large))
    return where
