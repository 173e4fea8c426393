"""Find accesses of a kernel that meet at one element of memory without an order between them.

`layers` calls `order` for the layer of that name. Two programs run in any order, so they may never
meet at an element that one of them writes. Lanes and iterations of one program may meet, but only
with a barrier in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of, without
from dtpoly.verify.algebra.whole import (
    Whole,
    both,
    compare,
    name,
    negation,
    one_of,
    put_truth,
    put_whole,
)
from dtpoly.verify.proof.findings import Finding, Proof
from dtpoly.verify.proof.in_place_by_hand import is_trusted
from dtpoly.verify.triton.access import ATOMICS, KernelAccess, Ran
from dtpoly.verify.triton.domains import (
    before,
    data_agree,
    domain,
    ids_agree,
    own_names,
    same_element,
)
from dtpoly.verify.triton.gathering import ATOMIC


def order(proof: Proof) -> Iterator[Finding]:
    """Yield each pair of accesses that may meet at one element without an order between them.

    Loads never conflict with each other, nor do atomic operations of one kind.
    """
    for ran in proof.runs:
        for store in ran.accesses:
            if store.kind == "load":
                continue
            for other in ran.accesses:
                if other.tensor != store.tensor:
                    continue
                if store.kind in ATOMIC and other.kind == store.kind:
                    continue
                if not proof.is_valued and {store.kind, other.kind} <= {*ATOMICS}:
                    continue
                # Two elements that go to places never go to one place.
                pair = (proof.elements.get(one, one) for one in (store, other))
                yield from _surely(other, _meeting(proof, ran, *pair))
    yield from in_place(proof)


def in_place(proof: Proof) -> Iterator[Finding]:
    """Yield each load of an input that may come behind the store of a result in its place.

    The other layers take the two for two tensors. What they show holds for one memory if each
    element is loaded for the last time before it is stored: in a launch before, or in the same
    program with a barrier in between. Then every load finds what the caller left there.
    """
    for at, ran in enumerate(proof.runs):
        for store in ran.accesses:
            given = proof.into.get(store.tensor)
            if store.kind == "load" or given is None:
                continue
            for later in range(at, len(proof.runs)):
                for load in proof.runs[later].accesses:
                    if load.tensor == given and later > at:
                        found = _replaced(proof, (ran, store), (proof.runs[later], load))
                        yield from _surely(load, found)
                    elif load.tensor == given:
                        yield from _surely(load, _met_in_launch(proof, ran, store, load))


def _surely(load: KernelAccess, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings about a load; none is sure if there may be no call for which it happens."""
    yield from (replace(one, is_exact=False) if load.may_never_be else one for one in findings)


Placed = tuple[Ran, KernelAccess]


def _replaced(proof: Proof, first: Placed, second: Placed) -> Iterator[Finding]:
    """Yield a load of an element that a launch before has replaced."""
    (ran, store), (other, load) = first, second
    put = {one: name(proof.run.fresh(one)) for one in own_names(other, load)}
    here = both(proof.facts, domain(ran, store), put_truth(domain(other, load), put))
    proof.run.about(load.line, f"loads nothing that line {store.line} has replaced")
    same = set_of(both(here, same_element(store, {}, load, put)))
    if not proof.run.is_empty(same):
        what = f"loads of '{load.tensor}' what line {store.line} has replaced"
        is_sure = not proof.is_by_hand
        yield Finding("order", load.line, what, same, store, is_exact=is_sure, finds_new=True)


def _met_in_launch(
    proof: Proof, ran: Ran, store: KernelAccess, load: KernelAccess
) -> Iterator[Finding]:
    """Yield a load that may come behind the store of the same launch, or beside it."""
    ids = dict.fromkeys((*own_names(ran, store), *own_names(ran, load)))
    put = {one: name(proof.run.fresh(one)) for one in ids}
    here = both(proof.facts, domain(ran, store), put_truth(domain(ran, load), put))
    here = both(here, ids_agree(ran, put), data_agree(ran, store, load, put))
    proof.run.about(store.line, f"replaces what line {load.line} has loaded before")
    same = set_of(both(here, same_element(store, {}, load, put)))
    if proof.run.is_empty(same):
        return
    programs = list(ran.programs)
    elsewhere = one_of(*(negation(compare("==", name(p), put[p])) for p in programs))
    race = same.intersect(set_of(elsewhere))
    if not proof.run.is_empty(race):
        what = f"replaces what line {load.line} of another program loads"
        yield Finding("order", store.line, what, race, store)
    together = same.intersect(set_of(both(*(compare("==", name(p), put[p]) for p in programs))))
    loaded = tuple(put_whole(one, put) for one in load.time)
    late = together.subtract(set_of(before(loaded, store.time)))
    if not proof.run.is_empty(late):
        what = f"replaces what line {load.line} loads later"
        is_sure = not proof.is_by_hand
        yield Finding("order", store.line, what, late, store, is_exact=is_sure, finds_new=True)
        return
    pairs = _unguarded(proof.run, ran, together, loaded, store.time)
    if not proof.run.is_empty(pairs):
        if is_trusted(proof, ran, store, load, (pairs, put)):
            return
        what = f"replaces what line {load.line} loads, without a barrier between"
        # Kernels that people write may be right by the layouts that Triton chooses.
        yield Finding("order", store.line, what, pairs, store, is_exact=not proof.is_by_hand)
    # What loads ahead, or by other warps or units, does not wait at barriers of the program.
    in_loop = any(p in store.loops and p in load.loops for p in ran.pipelined)
    is_described = bool({store.tensor, load.tensor} & ran.described)
    if in_loop or is_described or ran.launch.is_specialized:
        what = f"replaces what line {load.line} may load at another time"
        yield Finding("order", store.line, what, together, store, is_exact=False)


def _meeting(proof: Proof, ran: Ran, store: KernelAccess, other: KernelAccess) -> Iterator[Finding]:
    ids = dict.fromkeys((*own_names(ran, store), *own_names(ran, other)))
    put = {one: name(proof.run.fresh(one)) for one in ids}
    here = both(proof.facts, domain(ran, store), put_truth(domain(ran, other), put))
    here = both(here, ids_agree(ran, put), data_agree(ran, store, other, put))
    proof.run.about(store.line, f"does not meet line {other.line} without an order")
    same = set_of(both(here, same_element(store, {}, other, put)))
    if proof.run.is_empty(same):
        return
    programs = list(ran.programs)
    elsewhere = one_of(*(negation(compare("==", name(p), put[p])) for p in programs))
    race = same.intersect(set_of(elsewhere))
    if not proof.run.is_empty(race):
        yield Finding(
            "order", store.line, f"meets line {other.line} of another program", race, store
        )
    together = same.intersect(set_of(both(*(compare("==", name(p), put[p]) for p in programs))))
    later = tuple(put_whole(one, put) for one in other.time)
    if store is other:
        lanes = one_of(*(negation(compare("==", name(n), put[n])) for n in store.lanes))
        loops = both(*(compare("==", name(n), put[n]) for n in store.loops))
        race = together.intersect(set_of(both(loops, lanes)))
        if not proof.run.is_empty(race):
            yield Finding("order", store.line, "two lanes store one element", race, store)
    for first, second in ((store.time, later), (later, store.time)):
        pairs = together.intersect(set_of(before(first, second)))
        if proof.run.is_empty(pairs):
            continue
        pairs = _unguarded(proof.run, ran, pairs, first, second)
        if not proof.run.is_empty(pairs):
            what = f"and line {other.line} meet without a barrier between"
            yield Finding("order", store.line, what, pairs, store)
            return
    piped = [p for p in ran.pipelined if p in store.loops and p in other.loops]
    if other.kind == "load" and piped and not proof.run.is_empty(together):
        what = f"feeds line {other.line} in a loop that may be pipelined"
        yield Finding("order", store.line, what, together, store)


def _unguarded(
    run: ProofRun, ran: Ran, pairs: Region, first: tuple[Whole, ...], second: tuple[Whole, ...]
) -> Region:
    """Return the pairs of places in time that have no barrier between them."""
    for barrier in ran.barriers:
        if run.is_empty(pairs):
            break
        put = {one: name(run.fresh(one)) for one in barrier.loops}
        time = tuple(put_whole(one, put) for one in barrier.time)
        runs = both(
            *(put_truth(ran.ranges[one], put) for one in barrier.loops),
            put_truth(barrier.where, put),
        )
        # The conditions are applied one after the other, because each of them leaves few
        # pairs; all orders of three places at once would be many.
        between = pairs
        for one in (runs, before(first, time), before(time, second)):
            between = between.intersect(set_of(one))
        guarded = without(between, [str(one.plain) for one in put.values()])
        pairs = pairs.subtract(guarded)
    return pairs
