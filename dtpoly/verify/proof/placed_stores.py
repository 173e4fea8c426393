"""Find which element of its Func a store leaves, where the Func goes to places in an input.

The address of such a store may be made of data, so it does not show the element. The element is
guessed, and then it is proved that the place that the algorithm gives it is the place of the store.
For that, both places are compared as if the input were read there: two reads that give the same
value, whatever the input holds, are reads of one element, and both are inside of it or neither is.
From then on the store counts as one of the element, wherever its place is (lemma 18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dtpoly.algorithm.distinct_places import undecided
from dtpoly.algorithm.expressions import Read
from dtpoly.algorithm.program import Func, Placing
from dtpoly.verify.algebra.algorithm_places import place_of
from dtpoly.verify.algebra.algorithm_terms import AlgorithmMeaning, value_of
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.mask_comparison import proved_difference
from dtpoly.verify.algebra.pieces import BagPiece
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.term_building import literal
from dtpoly.verify.algebra.terms import Element, Pair, Term
from dtpoly.verify.algebra.unify import guesses
from dtpoly.verify.algebra.whole import Truth, Whole, both, name, number, within
from dtpoly.verify.proof.stored_values import LaunchMemory
from dtpoly.verify.triton.access import KernelAccess, Ran
from dtpoly.verify.triton.data_indices import LoadMask
from dtpoly.verify.triton.domains import domain, own_names

Elements = Mapping[KernelAccess, KernelAccess]


def elements_of(
    memory: LaunchMemory,
    meaning: AlgorithmMeaning,
    into: Mapping[str, str],
    started: Mapping[str, str],
) -> dict[KernelAccess, KernelAccess]:
    """Return each store to a place as a store of the element of its Func. Raises Unread.

    `into` has the input that each result in place goes into, and `started` the Func that is added
    in each result which begins as another Func. The elements of that one are stored before.
    """
    for tensor in started:
        _check_begun(memory, tensor)
    placed = {
        tensor: func
        for tensor, given in into.items()
        for func in meaning.program.funcs
        if func.into is not None and func.into.at is not None and func.into.tensor == given
    }
    placed |= {tensor: meaning.program.func(added) for tensor, added in started.items()}
    found: dict[KernelAccess, KernelAccess] = {}
    for at, ran in enumerate(memory.launches):
        for access in ran.accesses:
            func = placed.get(access.tensor)
            if func is None:
                if access.scattered is not None:
                    raise Unread(access.line, "a store at an address that is data")
            elif access.kind == "load":
                raise Unread(access.line, "a load from a result that goes to a place")
            elif access.tensor in started and access.kind == "store" and access.scattered is None:
                continue  # it is one of what the sums begin with
            elif access.kind != _kind(func):
                raise Unread(access.line, _other_kind(func, access.kind))
            else:
                found[access] = _element(memory, meaning, func, (at, ran, access))
    return found


def _check_begun(memory: LaunchMemory, tensor: str) -> None:
    """Refuse a text that adds to a tensor before all of what sums begin with is stored there.

    Launches follow each other, but two kernels of one launch do not. Raises Unread.
    """
    last = -1
    touching = [
        (at, ran, access)
        for at, ran in enumerate(memory.launches)
        for access in ran.accesses
        if access.tensor == tensor
    ]
    for at, ran, access in touching:
        if ran.launch.is_part:
            raise Unread(access.line, "sums in a launch of two kernels")
        if access.kind == "store":
            last = at
    for at, _, access in touching:
        if access.kind != "store" and at <= last:
            raise Unread(access.line, "a sum that may come before what it begins with is stored")


def _kind(func: Func) -> str:
    """Return the kind of access that a Func asks for at its places."""
    return "atomic_add" if func.into is not None and func.into.is_added else "store"


def _other_kind(func: Func, kind: str) -> str:
    if kind == "store":
        return f"a store at a place of '{func.name}', which is to be added there"
    if _kind(func) == "store":
        return "an atomic operation at a place"
    return f"another atomic operation than a sum at a place of '{func.name}'"


def _element(
    memory: LaunchMemory,
    meaning: AlgorithmMeaning,
    func: Func,
    store: tuple[int, Ran, KernelAccess],
) -> KernelAccess:
    number_of, ran, access = store
    assert func.into is not None
    assert func.into.at is not None
    if undecided(func.labels, func.into.at) and func.into.placing is Placing.SHOWN:
        raise Unread(access.line, f"two elements of '{func.name}' may have the same place")
    moved, mine = _place_of_store(access, func.into.at, partial(memory.seen, number_of))
    here = both(memory.facts, domain(ran, moved))
    memory.run.about(access.line, f"stores at the place of an element of '{func.name}'")
    left = memory.left(number_of, moved) if func.into.is_added else None
    for indices in _guesses(memory.run, meaning, func, (ran, moved, mine), left):
        theirs = place_of(memory.run, meaning, func.name, indices)
        is_finite = meaning.is_finite
        if proved_difference(memory.run, mine, theirs, set_of(here), is_finite=is_finite) is None:
            # What is added is proved as what is stored: each element once, and its value.
            return replace(moved, kind="store", indices=indices)
    raise Unread(access.line, f"a store that is not seen to be at a place of '{func.name}'")


def _place_of_store(
    access: KernelAccess, at: Read, see: Callable[[Term], Term]
) -> tuple[KernelAccess, Term]:
    """Return a store without what its mask says of data, and what a load at its place gives.

    `see` returns a term with what the loads in it have found.
    """
    held = access.scattered
    if held is None:
        return access, Element(at.tensor, access.indices, 0, ())
    lanes = tuple(one for one in access.lanes if one not in held.names)
    indices = tuple([one if isinstance(one, Whole) else see(one) for one in held.indices])
    element = Element(at.tensor, indices, 0, ())
    missing = literal(0)
    moved = replace(access, where=held.where, lanes=lanes, scattered=None)
    return moved, LoadMask(data=tuple(map(see, held.tests))).chosen(element, missing)


def _guesses(
    run: ProofRun,
    meaning: AlgorithmMeaning,
    func: Func,
    store: tuple[Ran, KernelAccess, Term],
    left: Term | None,
) -> Iterator[tuple[Whole, ...]]:
    """Yield which element of a Func a store may be one of, the likeliest first.

    Where elements may share a place, the place does not tell them apart, so that the value that is
    `left` is looked at, too.
    """
    ran, access, mine = store
    fresh = [run.fresh(label) for label in func.labels]
    theirs = place_of(run, meaning, func.name, tuple(map(name, fresh)))
    box: Sequence[Truth] = [
        within(number(0), name(one), meaning.sizes[label])
        for one, label in zip(fresh, func.labels, strict=True)
    ]
    own = own_names(ran, access)
    pairs = [(mine, theirs)]
    if left is not None:
        value = value_of(run, meaning, func.name, tuple(map(name, fresh)))
        pairs.insert(0, (Pair(mine, left), Pair(theirs, value)))
    names = tuple(fresh)
    for here, there in pairs:
        kernel = BagPiece(own, domain(ran, access), here, own)
        for guess in guesses(run, kernel, BagPiece(names, both(*box), there, names)):
            if all(one in guess for one in names):
                yield tuple(guess[one] for one in names)
