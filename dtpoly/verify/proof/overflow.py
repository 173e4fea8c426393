"""Find whole numbers of a kernel that their type may not hold.

`layers` calls `overflow` for the layer of that name. A size has 32 bits if it fits into them, and
64 otherwise. `offset`, the type of what is added to addresses, has 32 bits only if the runtime
found every index to be below 2^30 - 2^20. An address stays below the reach of the tensor, which the
runtime has looked at, wherever the address is inside of the tensor; the same holds for each of its
parts that is not negative. Elsewhere the access is masked, so that the value of the address does
not matter (lemma 5 of docs/proofs.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import TileValue
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import Region, everywhere, is_affine, set_of
from dtpoly.verify.algebra.shared_nodes import rank
from dtpoly.verify.algebra.type_kinds import HALF, NEAR
from dtpoly.verify.algebra.whole import (
    TRUE,
    Atom,
    Extreme,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    number,
    one_of,
    sign,
    within,
)
from dtpoly.verify.proof.bounded_factors import has_bounded_factors
from dtpoly.verify.proof.findings import Finding, Proof
from dtpoly.verify.proof.parts_of_addresses import (
    is_in_addresses_alone,
    is_part_of_one,
    may_have,
    short_extents,
)
from dtpoly.verify.proof.promised_products import has_small_factors, is_below
from dtpoly.verify.proof.room import with_room
from dtpoly.verify.triton.access import Computed, KernelLaunch, Ran
from dtpoly.verify.triton.domains import domain, ranged
from dtpoly.verify.triton.shifts import unshifted
from dtpoly.verify.triton.strides import apart_from

# From this index on the runtime takes 64 bits for offsets. Below it the sum of two offsets still
# fits into 32 bits, with some lanes added.
LARGE = 2**30 - 2**20
LONG = "tl.int64"
# No memory holds a tensor with so many elements, and no launch has so many programs.
MOST = 2**48
LONG_HALF = 2**63
# Products of more extents of a grid than this are not stated to be small.
MOST_EXTENTS = 6


def overflow(proof: Proof) -> Iterator[Finding]:
    """Yield each whole number that a kernel computes and that may not fit its type."""
    for ran in proof.runs:
        seen: set[tuple[Computed, frozenset[str] | None]] = set()
        for one in ran.computed:
            key = (replace(one, line=0), ran.sources.get(one.line))
            if key in seen or one.kind == kinds.WEAK or kinds.is_float(one.kind):
                continue
            seen.add(key)
            check_time()
            if one.kind == LONG and not one.is_cut:
                yield from _long_overflow(proof, ran, one)
                continue
            for found in _overflow(proof, ran, one):
                where = with_room(proof, found.where) if found.is_exact else found.where
                if not proof.run.is_empty(where):
                    yield replace(found, where=where)
        if ran.launch.reaches or ran.launch.near:
            yield from _parts_of_addresses(proof, ran)


def _may_wrap(proof: Proof, ran: Ran, one: Computed) -> bool:
    """Return whether a number shows in addresses alone, as far as 32 bits hold it."""
    if one.is_left:
        return False
    if one.added is not None:
        return is_part_of_one(proof, ran, one)
    return not one.is_widened or is_in_addresses_alone(proof, ran, one.value)


def _parts_of_addresses(proof: Proof, ran: Ran) -> Iterator[Finding]:
    """Yield the addresses in use that have a part below 0.

    If no part is below 0, then no part is larger than the whole address, which fits.
    """
    for access in ran.accesses:
        array = proof.arrays[access.tensor]
        for part in dict.fromkeys(access.parts):
            apart = apart_from(array.strides, unshifted(ran.shifts, part))
            factors = [] if apart is None else [*apart[0], apart[1]]
            # Another layer shows that no index is below 0.
            left = [factor for factor in factors if factor not in access.indices]
            negative = one_of(*(compare("<", factor, number(0)) for factor in left if factor.terms))
            where = set_of(both(proof.facts, domain(ran, access), negative))
            if apart is None or not proof.run.is_empty(where):
                what = "adds up an address of parts below 0, and others may not fit"
                yield Finding("overflow", access.line, what, where, access, is_exact=False)


def _overflow(proof: Proof, ran: Ran, one: Computed) -> Iterator[Finding]:
    launch = ran.launch
    if one.is_less:
        what = "takes something from a part of an address, which may be too large before that"
        yield Finding("overflow", one.line, what, everywhere(), number=one.value, is_exact=False)
        return
    may_wrap = _may_wrap(proof, ran, one)
    if launch.near and may_wrap and _is_near(proof, ran, one):
        proof.run.assume(Lemma.PART, one.value)
        return
    strides = _strides_in(one.value)
    if one.value.plain in strides and not one.is_cut:
        return  # it is as it was given
    if strides and _is_address(one.value):
        if one.kind != kinds.OFFSET or not strides <= launch.reaches or not may_wrap:
            what = "multiplies a stride in 32 bits, and no one looked how far the tensor reaches"
            yield Finding(
                "overflow", one.line, what, everywhere(), number=one.value, is_exact=False
            )
        else:
            proof.run.assume(Lemma.REACH, one.value)
        return
    if _is_looked_at(proof, ran, one):
        return
    if is_affine(one.value):
        yield from _outside(proof, ran, one)
    elif not _is_bounded(proof, ran, one):
        what = "computes a product of which no bound is known"
        yield Finding("overflow", one.line, what, everywhere(), number=one.value, is_exact=False)


def _is_looked_at(proof: Proof, ran: Ran, one: Computed) -> bool:
    """Whether the runtime has looked at a number: the grid has less than 2^31 programs."""
    launch = ran.launch
    if one.value in ran.divisors or any(
        _is_part_of_blocks(one.value, extents) for extents in _extents(launch)
    ):
        proof.run.assume(Lemma.LOOKED_AT, one.value, (), one.value)
        return True
    if one.kind == kinds.OFFSET and (factors := _factors(one.value, launch)) is not None:
        proof.run.assume(Lemma.LOOKED_AT, one.value, factors, _product(one.value, factors))
        return True
    return False


def _is_bounded(proof: Proof, ran: Ran, one: Computed) -> bool:
    """Whether a product is small, by what is promised or by its factors."""
    launch = ran.launch
    if _is_promised(proof, ran, one) or _is_part_of_blocks(one.value, launch.turns or ()):
        proof.run.assume(Lemma.BELOW, one.value)
        return True
    return _is_small(proof, ran, one) or has_bounded_factors(proof, ran, one)


def _outside(proof: Proof, ran: Ran, one: Computed) -> Iterator[Finding]:
    """Yield where an affine number is outside of 32 bits."""
    launch = ran.launch
    proof.run.about(one.line, "computes whole numbers that their type holds")
    outside = one_of(compare(">=", one.value, number(HALF)), compare("<", one.value, number(-HALF)))
    ranges = ranged(ran.programs, ran.ranges, names_of(both(one.where, outside)))
    # What is cut had more bits, and an int32 has 32 whatever sizes its loops run through.
    bits = TRUE if one.is_cut or one.kind == "tl.int32" else _bits(ran, one)
    where = set_of(both(proof.facts, one.where, ranges, bits, _few_programs(launch), outside))
    for size in sorted(launch.apart, key=rank):
        if proof.run.is_empty(where):
            return
        if is_affine(size):
            near = within(number(HALF - NEAR), size, number(HALF))
            where = where.subtract(set_of(near))
    if not proof.run.is_empty(where):
        where = where.intersect(set_of(_is_run(ran)))
    if launch.near and not proof.run.is_empty(where):
        where = where.intersect(set_of(short_extents(proof, launch)))
        if proof.run.is_empty(where):
            proof.run.assume(Lemma.PART, one.value)
    if not proof.run.is_empty(where):
        what = f"{'cuts' if one.is_cut else 'computes'} a number that its 32 bits do not hold"
        is_sure = (
            not one.is_cut and not one.may_never_be and not _may_be_longer(proof, ran, one, where)
        )
        yield Finding("overflow", one.line, what, where, number=one.value, is_exact=is_sure)


def _may_be_longer(proof: Proof, ran: Ran, one: Computed, where: Region) -> bool:
    """Return whether a number is too large only where the counter of a loop may have 64 bits.

    That is a loop over programs up to a size. Its counter is read as the id of a program, which
    has 32 bits.
    """
    if one.kind != kinds.SIZE:
        return False
    bits = set_of(_bits(replace(ran, ranges={**ran.programs, **ran.ranges}), one))
    return proof.run.is_empty(where.intersect(bits))


def _is_promised(proof: Proof, ran: Ran, one: Computed) -> bool:
    """Return whether a product that callers promise to be small bounds a number."""
    return any(
        is_below(proof, ran, one, *promise) or has_small_factors(proof, ran, one, *promise)
        for promise in ran.launch.below
    )


def _long_overflow(proof: Proof, ran: Ran, one: Computed) -> Iterator[Finding]:
    """Yield a number that may not fit into 64 bits, where each size is below 2^48.

    A product of several names is passed over: it is part of an address, or else no set that a proof
    asks about has it in it. Data of 64 bits may be any numbers.
    """
    is_of_data = not names_of(one.value).isdisjoint(ran.data)
    if not is_affine(one.value) or (_is_moderate(one.value) and not is_of_data):
        return
    proof.run.about(one.line, "computes whole numbers that 64 bits hold")
    outside = one_of(
        compare(">=", one.value, number(LONG_HALF)), compare("<", one.value, number(-LONG_HALF))
    )
    ranges = ranged(ran.programs, ran.ranges, names_of(both(one.where, outside)))
    here = both(proof.facts, one.where, ranges, _few_programs(ran.launch), outside)
    sizes = (name(size) for size in sorted(names_of(here)) if _is_size(size))
    where = set_of(both(here, *(compare("<", size, number(MOST)) for size in sizes)))
    if not proof.run.is_empty(where):
        what = "computes a number that its 64 bits do not hold"
        yield Finding("overflow", one.line, what, where, number=one.value)


def _is_moderate(value: Whole) -> bool:
    """True for a sum of names with factors so small that 64 bits hold it: names are below 2^48."""
    is_plain = all(isinstance(atom, str) for monomial, _ in value.terms for atom in monomial)
    return is_plain and MOST * sum(abs(times) for _, times in value.terms) < LONG_HALF


def _is_size(one: str) -> bool:
    return ".shape[" in one or ".stride(" in one or one.endswith("_size")


def _is_run(ran: Ran) -> Truth:
    """Return the condition that the launch has a program: without one nothing is computed."""
    return ranged(ran.programs, ran.ranges, ran.programs)


def _few_programs(launch: KernelLaunch) -> Truth:
    """Return the condition that an axis of the grid has less than 2^31 programs.

    Where there is a program, no extent is 0, so each product of some of the extents is below 2^31
    too. Only the products that are linear in sizes are put into the condition.
    """
    parts: dict[Whole, None] = {}
    # The number of blocks that programs take in turn is below 2^31 too (see launching).
    for extents in (*_extents(launch), launch.turns or ()):
        for count in range(1, min(len(extents), MOST_EXTENTS) + 1):
            parts |= dict.fromkeys(
                _product(number(1), some) for some in combinations(extents, count)
            )
    small = (one for one in parts if one.constant is None and is_affine(one))
    return both(*(compare("<", one, number(HALF)) for one in small))


def _extents(launch: KernelLaunch) -> list[list[Whole]]:
    """Return for each axis of the grid the factors whose product is its number of programs."""
    return [
        [part for one in axis for part in launch.factors.get(one, (one,))] for axis in launch.grid
    ]


def _is_part_of_blocks(value: Whole, turns: Sequence[Whole]) -> bool:
    """True for a product of some of the factors of the number of blocks that programs take in turn.

    The number of blocks is below 2^31. Where a program runs, none of the factors is 0, so a product
    of some of them is at most the number of blocks.
    """
    parts = (some for count in range(2, len(turns)) for some in combinations(turns, count))
    return any(_product(number(1), some) == value for some in parts)


def _is_small(proof: Proof, ran: Ran, one: Computed) -> bool:
    """True if the number fits even with each `min(c, x)`, where c is constant, replaced by c.

    This is sound because all factors are proved not to be negative: then larger factors make a
    larger product.
    """
    largest = Whole(())
    for monomial, coefficient in one.value.terms:
        product = number(coefficient)
        for atom in monomial:
            factor = Whole((((atom,), 1),))
            here = both(proof.facts, one.where)
            ranges = ranged(ran.programs, ran.ranges, names_of(both(here, sign(factor))))
            if coefficient < 0 or not proof.run.holds(sign(factor), set_of(both(here, ranges))):
                return False
            product = product * _limit(atom, factor)
        largest = largest + product
    if largest == one.value:
        return False
    proof.run.assume(Lemma.LARGER, one.value, largest)
    constant = largest.constant
    if constant is not None:
        return constant < HALF
    factors = _factors(largest, ran.launch) if one.kind == kinds.OFFSET else None
    if factors is None:
        return False
    proof.run.assume(Lemma.LOOKED_AT, largest, factors, _product(largest, factors))
    return True


def _limit(atom: Atom, factor: Whole) -> Whole:
    match atom:
        case Extreme(largest=False, left=left, right=right):
            return left if left.constant is not None else right if right.constant else factor
        case _:
            return factor


def _is_near(proof: Proof, ran: Ran, one: Computed) -> bool:
    """True for a part of an address into tensors whose addresses are all below 2^31.

    No part of such an address is negative, so each part is at most the whole. A number that is
    brought to 64 bits may also be a part of other addresses, which need not be near.
    """
    others = (access for access in ran.accesses if access.tensor not in ran.launch.near)
    # What is added to one address alone is no part of others.
    is_shared = one.is_widened and one.added is None
    if is_shared and any(may_have(access, one.value) for access in others):
        return False
    used = [one.tensor] if one.tensor else sorted({access.tensor for access in ran.accesses})
    found: list[list[Whole]] = []
    for times in _factors_of_strides(proof, used):
        for owner in used:
            parts = _parts(one.value * times, proof.arrays[owner].strides)
            if parts and owner not in ran.launch.near:
                return False
            found += [parts] if parts else []
    return bool(found) and _are_not_negative(proof, ran, one, found[0])


def _factors_of_strides(proof: Proof, used: Sequence[str]) -> Iterator[Whole]:
    """Yield 1 and the sizes by which a kernel may multiply a number until it is part of an address.

    These are a size, or two sizes of one tensor. Where an element is used, each size of its tensor
    is at least 1: so the number is at most what it is after that.
    """
    yield number(1)
    shapes = [proof.arrays[one].shape for one in used]
    sizes = dict.fromkeys(size for shape in shapes for size in shape if size.constant != 0)
    yield from sizes
    pairs = (one * other for shape in shapes for one, other in combinations(shape, 2))
    yield from dict.fromkeys(one for one in pairs if one.constant != 0 and one not in sizes)


def _are_not_negative(proof: Proof, ran: Ran, one: Computed, parts: Sequence[Whole]) -> bool:
    """Return whether no part is below 0 where a number is computed."""
    negative = one_of(*(compare("<", part, number(0)) for part in parts))
    ranges = ranged(ran.programs, ran.ranges, names_of(both(one.where, negative)))
    return proof.run.is_empty(set_of(both(proof.facts, one.where, ranges, negative)))


def _parts(value: Whole, strides: Sequence[Whole]) -> list[Whole]:
    """Return the factors of the strides, and the rest; nothing if it is no part of an address."""
    apart = apart_from(strides, value)
    if apart is None or not any(factor.terms for factor in apart[0]):
        return []
    parts = [*apart[0], apart[1]]
    is_said = all(is_affine(one) and not _strides_in(one) for one in parts)
    return parts if is_said and (_strides_in(value) or not is_affine(value)) else []


def _strides_in(value: Whole) -> set[str]:
    return {one for one in names_of(value) if ".stride(" in one}


def _factors(value: Whole, launch: KernelLaunch) -> tuple[Whole, ...] | None:
    """Return extents of the grid that make the value a number which the runtime has looked at.

    The product of the value and these extents is then known to be small, and no extent is 0 where a
    program runs. Where programs take blocks in turn, none of the factors of these is 0 either.
    """
    extents = [extent for axis in (*_extents(launch), launch.turns or ()) for extent in axis]
    for count in range(len(extents) + 1):
        for chosen in combinations(extents, count):
            if _product(value, chosen) in launch.largest:
                return chosen
    return None


def _product(value: Whole, factors: Sequence[Whole]) -> Whole:
    for one in factors:
        value = value * one
    return value


def _bits(ran: Ran, one: Computed) -> Truth:
    """Return the condition for 32 bits: all numbers that it is made of have 32 bits."""
    if one.kind == kinds.OFFSET:
        parts = (part for part in ran.launch.largest if is_affine(part))
        return both(*(compare("<", part, number(LARGE)) for part in parts))
    given = {
        parameter: value.item
        for parameter, value in ran.launch.arguments.items()
        if parameter in ran.mentioned
        and isinstance(value, TileValue)
        and isinstance(value.item, Whole)
    }
    sources = ran.sources.get(one.line, ran.mentioned)
    # A size may itself be 64 bits wide, and so may the counter of a loop that goes up to it,
    # but not a program id. A size that the algorithm uses as a value of 32 bits is the
    # algorithm's own matter.
    used = names_of(ranged({}, ran.ranges, names_of(one.value))) | names_of(one.value)
    return both(*(_is_short(by, given, sources) for by in sorted(used)))


def _is_short(by: str, given: Mapping[str, Whole], sources: frozenset[str]) -> Truth:
    """Return the condition that a given number with this name in it has 32 bits.

    Several of the numbers that the kernel is given may depend on the name. The number at hand was
    computed of those that its line is made of, if there are such. It is enough that one of them has
    32 bits: nothing says from which of them it was computed.
    """
    named = {one: size for one, size in given.items() if by in names_of(size)}
    mine = {one: size for one, size in named.items() if one in sources} or named
    depend = [size for size in mine.values() if is_affine(size)]
    return one_of(*(compare("<", size, number(HALF)) for size in depend)) if depend else TRUE


def _is_address(of: Whole) -> bool:
    """True if every product in the number is a product of an index and a stride."""
    return all(
        len(monomial) < 2
        or sum(isinstance(atom, str) and ".stride(" in atom for atom in monomial) == 1
        for monomial, _ in of.terms
    )
