"""Results in place, in kernels that a person wrote.

The lines of such a file give a kernel the input, and it loads the old values and stores the new
ones through one pointer. In a proof these are two tensors, as for a generated kernel (see
`access_order.in_place`).

dtpoly puts a barrier between the last load of an element and the store that replaces it. People
seldom do, as they count on this: the thread that stores a lane is the one that has loaded it. No
law says so, so it is an assumption, which the report lists. It is made only where nothing else is
known to be needed: each lane of a tile is loaded and stored by a tile of the same shape, in one
iteration, and all that is stored of a loaded value has that shape, too. A reduction along an axis
does no harm if what is stored is made of it, and so waits for all lanes of it. Any other reduction
may come after the store. Then threads that load the same lanes, as those of a small tile do, may
bring new values to it. And where the lanes of a tile are
numbered anew, or brought along another axis, other threads may still load what the first one has
already replaced.

Triton gives a load as many neighbouring lanes to a thread as any access of such a tile has in 16
bytes, but a store only as many as the stored tensor has. Beside a tensor with smaller elements, the
thread that stores a lane is another one. Then only a value that is made of what was loaded is sure
to be stored late enough, as it is brought to that thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.algebra.residues import UNKNOWN
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Carried,
    Element,
    Stored,
    Term,
    Total,
    walk,
)
from dtpoly.verify.algebra.whole import Put, both, compare, name, names_of
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.triton.access import KernelAccess, Ran
from dtpoly.verify.triton.gathering import ATOMIC


def with_results(ran: Ran, into: Mapping[str, str], placed: Collection[str]) -> Ran:
    """Return what a launch does, with what it stores to an input as stores of the Func in place.

    Funcs in `placed` go to places. Only these may be added by atomic operations. Raises Unread.
    """
    results = {given: func for func, given in into.items()}
    if not results.keys() & {one.tensor for one in ran.accesses}:
        return ran
    for one in ran.accesses:
        if one.kind in ATOMIC and results.get(one.tensor, "") not in {"", *placed}:
            what = f"an atomic operation on '{one.tensor}', which a Func goes into without 'add'"
            raise Unread(one.line, what)
    accesses = tuple(
        replace(one, tensor=results[one.tensor])
        if one.tensor in results and one.kind != "load"
        else one
        for one in ran.accesses
    )
    # One promise about the reach of the input is also one about its result.
    near = ran.launch.near | {func for given, func in results.items() if given in ran.launch.near}
    return replace(ran, accesses=accesses, launch=replace(ran.launch, near=near))


def is_trusted(
    proof: Proof, ran: Ran, store: KernelAccess, load: KernelAccess, met: tuple[Region, Put]
) -> bool:
    """Return whether it is taken for granted that a load comes before a store, without a barrier.

    `met` are the instances that meet at an element, and the names that those of the load have.
    """
    where, put = met
    is_plain = proof.is_by_hand and ran.keeps_lanes and store.kind == "store"
    is_plain = is_plain and not {store.tensor, load.tensor} & ran.described
    is_plain = is_plain and not ran.launch.is_specialized
    if not is_plain or not load.lanes or load.loops != store.loops or load.shape != store.shape:
        return False
    if len(load.lanes) != len(store.lanes):
        return False
    if any(_may_show(one, load) and one.shape != load.shape for one in ran.accesses):
        return False
    if any(_brings(one, load) - _brings(store, load) for one in _not_before(ran, store)):
        return False
    if not _is_made_of(store, load) and not _has_one_width(proof, ran, load):
        return False
    loops = (compare("==", name(one), put[one]) for one in store.loops)
    lanes = (
        compare("==", name(one), put[other])
        for one, other in zip(store.lanes, load.lanes, strict=True)
    )
    proof.run.about(store.line, f"stores each lane that line {load.line} has loaded")
    if not proof.run.holds(both(*loops, *lanes), where):
        return False
    proof.run.assume(Lemma.OWN_LANE, load.tensor, load.line, store.line)
    return True


def _not_before(ran: Ran, store: KernelAccess) -> Iterator[KernelAccess]:
    """Yield the accesses that are not sure to come before a store."""
    is_behind = False
    for one in ran.accesses:
        is_behind = is_behind or one is store
        if is_behind or one.loops != store.loops:
            yield one


def _brings(store: KernelAccess, load: KernelAccess) -> set[Term]:
    """Return the parts of what is stored that may bring what a load has found to other lanes."""
    terms = () if store.value is None else walk(store.value)
    return {one for one in terms if _is_open(one) or _reduces(one, load)}


def _is_open(term: Term) -> bool:
    """Return whether a part of a term may be made of anything that was loaded."""
    if isinstance(term, AppliedOperation):
        return term.operation.partition(" ")[0] == UNKNOWN
    return isinstance(term, Carried | Stored)


def _reduces(term: Term, load: KernelAccess) -> bool:
    """Return whether a term is a reduction along lanes of a load."""
    if not isinstance(term, Total):
        return False
    found = (one for one in walk(term.body) if isinstance(one, Element) and one.load == load.load)
    lanes = (lane for one in found for lane in one.at[: len(load.lanes)])
    return any(not names_of(lane).isdisjoint(term.bound) for lane in lanes)


def _is_made_of(store: KernelAccess, load: KernelAccess) -> bool:
    """Return whether what is stored is sure to be computed from what a load has found."""
    terms = () if store.value is None else walk(store.value)
    return any(isinstance(one, Element) and one.load == load.load for one in terms)


def _has_one_width(proof: Proof, ran: Ran, load: KernelAccess) -> bool:
    """Return whether all that a kernel loads or stores by tiles of one shape is equally wide."""
    tensors = {load.tensor, *(one.tensor for one in ran.accesses if one.shape == load.shape)}
    widths = {kinds.BYTES.get(proof.arrays[one].kind) for one in tensors}
    return len(widths) == 1 and None not in widths


def _may_show(store: KernelAccess, load: KernelAccess) -> bool:
    """Return whether what is stored may depend on what a load has found."""
    if store.value is None:
        return False
    return any(
        _is_open(one) or (isinstance(one, Element) and one.load == load.load)
        for one in walk(store.value)
    )


def trusted(run: ProofRun) -> Iterator[str]:
    """Yield in words where a proof takes for granted what Triton's compiler does."""
    for one in run.assumptions:
        match one.lemma, one.instance:
            case Lemma.OWN_LANE, (str() as tensor, int() as first, int() as second):
                yield (
                    f"the thread that stores a lane of '{tensor}' in line {second} has loaded it"
                    f" in line {first}: there is no barrier between"
                )
            case Lemma.COMPILED, (int() as line,):
                yield (
                    f"Triton's compiler reads 'and' and 'or' of tiles in line {line} as '&' and"
                    " '|'; it warns of them, and its interpreter takes one side instead"
                )
            case _:
                pass
