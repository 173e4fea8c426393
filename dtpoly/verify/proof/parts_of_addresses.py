"""Say of which numbers of 32 bits an address shows that they fit, though they leave these 32 bits.

Where an address is used, it is below the reach that callers promise, and so is each of its parts
that is not negative. So a number that is brought to 64 bits, and is at most such a part wherever
it is in an address, has fitted. That says nothing of a number that is used for something else too.
"""

from __future__ import annotations

from collections import Counter

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.type_kinds import HALF
from dtpoly.verify.algebra.whole import (
    Atom,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    number,
    one_of,
)
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.triton.access import Computed, KernelAccess, KernelLaunch, KernelTensor, Ran
from dtpoly.verify.triton.domains import domain, ranged


def is_in_addresses_alone(proof: Proof, ran: Ran, value: Whole) -> bool:
    """Return whether a number is a part of some address, and nothing else shows what it is.

    After it was brought to 64 bits, it may be stored or compared, where nothing says that it had
    fitted into 32 bits; or something may be taken from it, so that it is above the address.
    """
    longer = (one for one in ran.computed if one.is_left and one.kind in kinds.MAY_BE_LONG)
    if any(_has(value, one.value) for one in longer):
        return False
    if not any({*value.terms} <= {*part.terms} for one in ran.accesses for part in one.parts):
        return False
    return all(
        _is_at_most(proof, domain(ran, access), value, part)
        for access in ran.accesses
        for part in dict.fromkeys(access.parts)
        if _has(value, part)
    )


def is_part_of_one(proof: Proof, ran: Ran, one: Computed) -> bool:
    """Return whether a number that is computed for one address is at most a part of that.

    It is made of data, for the address of one access, by sums and products alone: nothing else of
    the kernel shows it, and other uses of the same text are noted by themselves.
    """
    if one.added is None or one.tensor not in ran.launch.near:
        return False
    named = names_of(one.where) | names_of(one.added) | names_of(one.value)
    here = both(ranged({**ran.programs, **ran.numbers}, ran.ranges, named), one.where)
    return _is_at_most(proof, here, one.value, one.added)


def short_extents(proof: Proof, launch: KernelLaunch) -> Truth:
    """Return that extents of tensors below a promised reach are, unless there is no element.

    Each index times its stride is a part of the last element's address. So if no stride is below 1,
    no extent is above 2^31.
    """
    found: list[Truth] = []
    for array in (proof.arrays[one] for one in sorted(launch.near)):
        if all(is_affine(one) for one in array.shape) and _is_dense(array):
            short = both(*(compare("<=", one, number(HALF)) for one in array.shape))
            none = (compare("<=", one, number(0)) for one in array.shape)
            found.append(one_of(*none, short))
    return both(*found)


def _is_dense(array: KernelTensor) -> bool:
    """Return whether each stride is the product of the extents behind it, as if contiguous."""
    inner = number(1)
    for stride, extent in zip(reversed(array.strides), reversed(array.shape), strict=True):
        if stride != inner:
            return False
        inner = inner * extent
    return True


def may_have(access: KernelAccess, value: Whole) -> bool:
    """Return whether an address may have been computed from a number: it has all of a product."""
    return any(_has(value, part) for part in access.parts)


def _has(value: Whole, made: Whole) -> bool:
    """Return whether a number may have been computed from another: it has all of some product."""
    products = [Counter(monomial) for monomial, _ in value.terms if len(monomial) > 1]
    within = [Counter(monomial) for monomial, _ in made.terms]
    return any(product <= whole for product in products for whole in within)


def _is_at_most(proof: Proof, used: Truth, value: Whole, part: Whole) -> bool:
    """Return whether a number is at most a part of an address, where the address is `used`.

    What is left of the part must not be negative: its sums, and all factors of its products.
    Strides are not. A product may be in the part times something that is at least 1.
    """
    taken, times_one = _multiplied(value, part)
    sums, factors = number(0), list[Whole]()
    for monomial, times in (part - taken).terms:
        if len(monomial) < 2:
            sums = sums + Whole(((monomial, times),))
            continue
        if times < 0:
            return False
        factors += map(_factor, monomial)
    left = [sums, *factors, *(one - 1 for one in times_one)]
    if times_one:
        left += [_factor(atom) for monomial, _ in value.terms for atom in monomial]
    strides = {one for made in left for one in names_of(made) if ".stride(" in one}
    signs = (compare(">=", name(one), number(0)) for one in sorted(strides))
    here = both(proof.facts, used, *signs)
    return all(_is_never(proof, both(here, compare("<", one, number(0)))) for one in left)


def _multiplied(value: Whole, part: Whole) -> tuple[Whole, list[Whole]]:
    """Return a number with its products as a part has them, times factors, and these factors.

    A product that the part does not have stays as it is.
    """
    made, factors = number(0), list[Whole]()
    known = dict(part.terms)
    for monomial, times in value.terms:
        own = Counter(monomial)
        larger = [one for one in known if monomial and times > 0 and own <= Counter(one)]
        found = monomial if monomial in known or not larger else larger[0]
        factors += map(_factor, (Counter(found) - own).elements())
        made = made + Whole(((found, times),))
    return made, factors


def _factor(atom: Atom) -> Whole:
    return Whole((((atom,), 1),))


def _is_never(proof: Proof, truth: Truth) -> bool:
    return is_affine(truth) and proof.run.is_empty(set_of(truth))
