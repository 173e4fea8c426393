"""The layers of a proof. Each yields its findings; a layer without findings is proved.

stores: each element of the output is stored once.
bounds: each access is inside of its tensor.
order: there is no race, and no load sees a stale value.
value: what is stored is what the algorithm says. So each load must give the right value, and so
must lanes outside of the domain, as far as they contribute; a finding says which of these fails.
overflow: whole numbers stay in their types.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from dtpoly.verify.algebra.regions import Region, same, set_of, without
from dtpoly.verify.algebra.whole import (
    both,
    compare,
    name,
    names_of,
    negation,
    number,
    one_of,
    put_truth,
    sign,
    within,
)
from dtpoly.verify.proof.access_order import in_place, order
from dtpoly.verify.proof.findings import NOT_STORED, Finding, Proof
from dtpoly.verify.proof.overflow import overflow
from dtpoly.verify.proof.stored import value
from dtpoly.verify.triton.access import ATOMICS, KernelAccess, Ran
from dtpoly.verify.triton.domains import (
    data_agree,
    domain,
    ids_agree,
    own_names,
    ranged,
    renaming,
    same_element,
)


def cover(proof: Proof) -> Iterator[Finding]:
    """Show that each element of the output is stored by one instance, or only by atomic operations.

    Yields what contradicts it: elements that are stored twice or not at all, and stores elsewhere.
    """
    outputs = proof.outputs
    wanted = set_of(both(proof.facts, proof.box(outputs)))
    written: Region | None = None
    before: list[tuple[Ran, KernelAccess]] = []
    is_sure = not any(access.kind in ATOMICS for _, _, access in proof.stores())
    for _, ran, access in proof.stores():
        proof.run.about(access.line, "stores elements of the output, each once")
        here = set_of(both(proof.facts, domain(ran, access)))
        for output, index in zip(outputs, access.indices, strict=True):
            here = here.intersect(same(name(output), index))
        image = without(here, own_names(ran, access))
        outside = image.subtract(wanted)
        if not proof.run.is_empty(outside):
            yield Finding("stores", access.line, "is not an element of the output", outside, access)
        if access.kind != "store":
            continue
        is_sure = is_sure and not access.data
        if written is not None and not proof.run.is_disjoint(written, image):
            where = written.intersect(image)
            if any(_both_store(proof, one, (ran, access)) for one in before):
                yield Finding("stores", access.line, "is stored twice", where, access)
        before.append((ran, access))
        again = _twice(proof, ran, access)
        if not proof.run.is_empty(again):
            yield Finding("stores", access.line, "is stored by two instances", again, access)
        written = image if written is None else written.union(image)
    if not proof.is_valued and (proof.is_partly or not is_sure):
        return  # see claim_of_stores
    line = proof.runs[-1].launch.line if proof.runs else 1
    proof.run.about(line, "every element of the output is stored")
    missing = wanted if written is None else wanted.subtract(written)
    if not proof.run.is_empty(missing):
        yield Finding("stores", line, NOT_STORED, missing)


def _both_store(
    proof: Proof, first: tuple[Ran, KernelAccess], second: tuple[Ran, KernelAccess]
) -> bool:
    """Return whether two stores may store one element, by what is known of data in both.

    The elements that each of them stores for some data may be the same, though for no data both do.
    """
    (ran, store), (_, other) = first, second
    if first[0] is not second[0] or not (store.data and other.data):
        return True
    ids = dict.fromkeys((*own_names(ran, store), *own_names(ran, other)))
    put = {one: name(proof.run.fresh(one)) for one in ids}
    here = both(proof.facts, domain(ran, store), put_truth(domain(ran, other), put))
    here = both(here, ids_agree(ran, put), data_agree(ran, store, other, put))
    here = both(here, same_element(store, {}, other, put))
    return not proof.run.is_empty(set_of(here))


def _twice(proof: Proof, ran: Ran, access: KernelAccess) -> Region:
    """Return the set of two different instances of a store that store the same element."""
    put = renaming(proof.run, ran, access)
    here = domain(ran, access)
    alike = both(here, put_truth(here, put), same_element(access, {}, access, put))
    alike = both(alike, ids_agree(ran, put), data_agree(ran, access, access, put))
    own = ((old, new) for old, new in put.items() if old not in ran.data)
    apart = one_of(*(negation(compare("==", name(old), new)) for old, new in own))
    return set_of(both(proof.facts, alike)).intersect(set_of(apart))


def claim_of_stores(proof: Proof) -> str:
    """Return what the layer `stores` shows, in words, where that is less than its usual claim."""
    kinds = {access.kind for _, _, access in proof.stores()}
    is_of_data = any(access.data for _, _, access in proof.stores())
    if proof.is_valued or not (is_of_data or proof.is_partly or kinds & {*ATOMICS}):
        return ""
    if kinds <= {*ATOMICS}:
        return "elements are changed by atomic operations alone, and it is not said which are"
    if kinds & {*ATOMICS}:
        return "elements are stored at most once, and some are changed by atomic operations"
    if is_of_data:
        return "each element is stored at most once: data decide whether it is"
    return "each element is stored at most once, and some may keep what they had"


def bounds(proof: Proof) -> Iterator[Finding]:
    """Show that each access is inside of its tensor, and that no input is written to."""
    yield from guards(proof)
    for ran in proof.runs:
        for access in ran.accesses:
            if access.kind != "load" and access.tensor in proof.memory.inputs:
                here = set_of(both(proof.facts, domain(ran, access)))
                yield Finding("bounds", access.line, "writes to an input", here, access)
    for ran in proof.runs:
        for access in ran.accesses:
            here = set_of(both(proof.facts, domain(ran, access)))
            proof.run.about(access.line, f"stays inside of '{access.tensor}'")
            shape = proof.arrays[access.tensor].shape
            for axis, (index, size) in enumerate(zip(access.indices, shape, strict=True)):
                outside = here.subtract(set_of(within(number(0), index, size)))
                if not proof.run.is_empty(outside):
                    what = f"reaches outside of axis {axis} of '{access.tensor}'"
                    is_sure = not access.may_never_be
                    yield Finding("bounds", access.line, what, outside, access, is_exact=is_sure)


def guards(proof: Proof) -> Iterator[Finding]:
    """Show that divided numbers are not negative, or are multiples of the divisor.

    Triton rounds other quotients towards 0, and the verifier reads them as rounded down.
    """
    for ran in proof.runs:
        for one in ran.divided:
            proof.run.about(one.line, "what is divided is not negative, or a multiple")
            names = names_of(both(one.where, sign(one.number)))
            here = both(proof.facts, one.where, ranged(ran.programs, ran.ranges, names))
            less = both(here, compare("<", one.number, number(0)))
            left = set_of(less)
            if one.by is not None and not proof.run.is_empty(left):
                left = set_of(both(less, compare(">", one.number.modulo(one.by), number(0))))
            if not proof.run.is_empty(left):
                yield Finding("bounds", one.line, one.what, left, is_exact=False)


def values(proof: Proof) -> Iterator[Finding]:
    """Show that what is stored is what the algorithm says.

    Every load counts as one of what the caller left there. Where a person loads a result in the
    place of an input, other values are no mistake: the new ones may be meant.
    """
    for one in value(proof):
        finds_new = proof.is_by_hand and any(other.finds_new for other in in_place(proof))
        yield replace(one, is_exact=False) if finds_new else one


def order_and_loads(proof: Proof) -> Iterator[Finding]:
    """Show that nothing races, and that loads find what was stored there, whatever it is.

    Where values are compared, the second is a part of that. Raises Unwritten where it may not be.
    """
    yield from order(proof)
    for at, ran in enumerate(proof.runs):
        for access in ran.accesses:
            if access.kind == "load" and access.tensor not in proof.memory.inputs:
                proof.memory.cases(at, access)


Argument = Callable[[Proof], Iterator[Finding]]

ARGUMENTS: Mapping[str, Argument] = {
    "stores": cover,
    "bounds": bounds,
    "order": order,
    "value": values,
    "overflow": overflow,
}


def arguments(only: Collection[str]) -> Mapping[str, Argument]:
    """Return the argument of each of some layers."""
    found = {one: argument for one, argument in ARGUMENTS.items() if one in only}
    if "order" in found and "value" not in found:
        found["order"] = order_and_loads
    return found
