"""The whole numbers of a kernel in; those that their type may not hold, out.

A size has 32 bits if it fits, else 64; `offset` has 32 only if the wrapper found every index below
2^30. An index times a stride stays below what the wrapper found the reach of the tensor to be,
wherever it is inside; elsewhere it is masked, and its value does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from dtpoly.verify import kinds
from dtpoly.verify.access import Computed, Launch, Ran
from dtpoly.verify.asking import Lemma, about, assume
from dtpoly.verify.domains import ranged
from dtpoly.verify.findings import Finding, Proof
from dtpoly.verify.limits import check_time
from dtpoly.verify.regions import everywhere, holds, is_affine, set_of
from dtpoly.verify.shared import rank
from dtpoly.verify.values import Tile
from dtpoly.verify.whole import (
    Atom,
    Extreme,
    Truth,
    Whole,
    both,
    compare,
    names_of,
    number,
    one_of,
    sign,
    within,
)

HALF = 2**31
# Sizes that are less than this below 2^31 are refused.
NEAR = 2**20
# From here on the wrapper takes 64 bits for offsets: two of them together fit, with some lanes.
LARGE = 2**30 - 2**20
WIDE = ("tl.int64", kinds.WEAK)


def overflow(proof: Proof) -> Iterator[Finding]:
    """Each whole number that is computed fits its type."""
    for ran in proof.runs:
        seen: set[tuple[Whole, str, Truth]] = set()
        for one in ran.computed:
            key = (one.value, one.kind, one.where)
            if key in seen or one.kind in WIDE or kinds.is_float(one.kind):
                continue
            seen.add(key)
            check_time()
            yield from _overflow(proof, ran, one)


def _overflow(proof: Proof, ran: Ran, one: Computed) -> Iterator[Finding]:
    if any(".stride(" in used for used in names_of(one.value)) and _is_address(one.value):
        assume(Lemma.REACH, one.value)
        return
    launch = ran.launch
    # The grid has less than 2^31 programs, and the wrapper has looked at some products.
    if one.value in ran.divisors or (one.kind == kinds.OFFSET and _is_part(one.value, launch)):
        assume(Lemma.LOOKED_AT, one.value)
        return
    if not is_affine(one.value):
        if _is_small(proof, ran, one):
            return
        what = "computes a product of which no bound is known"
        yield Finding("overflow", one.line, what, everywhere(), is_exact=False)
        return
    about(one.line, "computes whole numbers that their type holds")
    outside = one_of(compare(">=", one.value, number(HALF)), compare("<", one.value, number(-HALF)))
    ranges = ranged(ran.programs, ran.ranges, names_of(both(one.where, outside)))
    used = names_of(both(one.where, outside, ranges))
    where = set_of(both(proof.facts, one.where, ranges, _bits(ran, one, used), outside))
    for size in sorted(launch.apart, key=rank):
        if where.is_empty():
            return
        if is_affine(size):
            near = within(number(HALF - NEAR), size, number(HALF))
            where = where.subtract(set_of(near))
    if not where.is_empty():
        yield Finding("overflow", one.line, "computes a number that its 32 bits do not hold", where)


def _is_small(proof: Proof, ran: Ran, one: Computed) -> bool:
    """True if it fits with the constant in the place of each smaller of a number and a constant.

    Sound since all factors are proved not to be negative: a product of larger ones is larger.
    """
    largest = Whole(())
    for monomial, coefficient in one.value.terms:
        product = number(coefficient)
        for atom in monomial:
            factor = Whole((((atom,), 1),))
            here = both(proof.facts, one.where)
            ranges = ranged(ran.programs, ran.ranges, names_of(both(here, sign(factor))))
            if coefficient < 0 or not holds(sign(factor), set_of(both(here, ranges))):
                return False
            product = product * _limit(atom, factor)
        largest = largest + product
    if largest == one.value:
        return False
    constant = largest.constant
    if constant is not None:
        return constant < HALF
    return one.kind == kinds.OFFSET and _is_part(largest, ran.launch)


def _limit(atom: Atom, factor: Whole) -> Whole:
    match atom:
        case Extreme(largest=False, left=left, right=right):
            return left if left.constant is not None else right if right.constant else factor
        case _:
            return factor


def _is_part(value: Whole, launch: Launch) -> bool:
    """True if it is a number that was looked at, but for extents of the grid, which are not 0."""
    extents = [extent for axis in launch.grid for extent in axis]
    for count in range(len(extents) + 1):
        for chosen in combinations(extents, count):
            total = value
            for one in chosen:
                total = total * one
            if total in launch.largest:
                return True
    return False


def _bits(ran: Ran, one: Computed, used: frozenset[str]) -> Truth:
    """That the number has 32 bits: the type that it has if all that it is made of has."""
    given = [
        value.item
        for value in ran.launch.arguments.values()
        if isinstance(value, Tile) and isinstance(value.item, Whole)
    ]
    # A size may be 64 bits wide by itself.
    fit = [compare("<", size, number(HALF)) for size in given if names_of(size) & used]
    if one.kind == kinds.OFFSET:
        parts = (part for part in ran.launch.largest if is_affine(part))
        fit += [compare("<", part, number(LARGE)) for part in parts]
    return both(*fit)


def _is_address(of: Whole) -> bool:
    """True if every product in it is one of an index and a stride."""
    return all(
        len(monomial) < 2
        or sum(isinstance(atom, str) and ".stride(" in atom for atom in monomial) == 1
        for monomial, _ in of.terms
    )
