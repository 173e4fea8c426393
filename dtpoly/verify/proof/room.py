"""Leave out sizes for which the result would not fit into any memory.

`overflow` calls this module before it reports a number that does not fit its type: a call whose
result has more than 2^48 elements cannot happen.
"""

from __future__ import annotations

from itertools import combinations

from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import Region, is_affine, set_of
from dtpoly.verify.algebra.whole import both, compare, number
from dtpoly.verify.proof.findings import Proof

# A result has no two elements in one place, and no machine can address 2^48 bytes.
BITS = 48
# The bits of a number about which we only know that it is below 2^31.
WIDTH = 31


def with_room(proof: Proof, where: Region) -> Region:
    """Return the calls that are possible: where the result has elements, it has less than 2^48.

    That is asked of each pair of its sizes. Sets have no products, so it is asked for each power of
    two: a size of at least 2^k and another of at least 2^(48 - k) are too large together.
    """
    sizes = proof.arrays[proof.result].shape
    if not all(is_affine(size) for size in sizes):
        return where
    is_there = both(*(compare(">=", size, number(1)) for size in sizes))
    for one, other in combinations(sizes, 2):
        proof.run.assume(Lemma.ROOM, one, other)
        for bits in range(BITS - WIDTH, WIDTH + 1):
            if proof.run.is_empty(where):
                return where
            large = compare(">=", one, number(2**bits))
            too_large = both(is_there, large, compare(">=", other, number(2 ** (BITS - bits))))
            where = where.subtract(set_of(too_large))
    return where
