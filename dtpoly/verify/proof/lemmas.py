"""Prove Funcs that one kernel stores for another one by themselves, as lemmas of a larger proof.

Such a Func is proved once, where it is stored. From then on both sides of a comparison treat an
element of it as an opaque element. This is sound: what a load is sure to see is the algorithm's
value, so equal terms over the element stay equal when that value is put in its place. The reverse
does not hold: terms that differ over the element may be equal when it is replaced. So a difference
proves nothing.

Only those Funcs are proved that the result is made of. What the function computes from the result
afterwards would be compared with the whole result in its place, which may take very long, and
nothing would be learnt from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dtpoly.verify.algebra.algorithm_terms import Unsaid, value_of
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.mask_comparison import proved_difference
from dtpoly.verify.algebra.regions import NotAffine, set_of
from dtpoly.verify.algebra.whole import both
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.proof.stored_values import LaunchMemory, Unwritten
from dtpoly.verify.triton.access import Ran
from dtpoly.verify.triton.domains import domain


def with_known(proof: Proof) -> Proof | None:
    """Return the proof with opaque elements for all Funcs that are proved; None if none is."""
    old = proof.memory
    memory = LaunchMemory(
        old.run,
        old.launches,
        old.inputs,
        old.facts,
        types=old.types,
        shapes=old.shapes,
        atomics=old.atomics,
    )
    known: Proof = replace(proof, memory=memory)
    needed = _needed(proof.runs, proof.result)
    for at, ran in enumerate(proof.runs):
        stored = dict.fromkeys(a.tensor for a in ran.accesses if a.kind != "load")
        for array in (one for one in stored if one in needed):
            for func in _funcs(proof, array):
                if _is_it(known, at, ran, array, func):
                    memory.funcs[array] = func
                    opaque = known.meaning.opaque | {func}
                    known = replace(known, meaning=replace(known.meaning, opaque=opaque, known={}))
                    break
    return known if memory.funcs else None


def _needed(runs: Sequence[Ran], result: str) -> set[str]:
    """Return the tensors that are loaded by the kernels that a result is computed by."""
    needed = set[str]()
    for ran in reversed(runs):
        stored = {one.tensor for one in ran.accesses if one.kind != "load"}
        if not stored.isdisjoint({result, *needed}):
            needed.update(one.tensor for one in ran.accesses if one.kind == "load")
    return needed


def _funcs(proof: Proof, array: str) -> Iterator[str]:
    """Yield the Funcs that a tensor may hold, judged by its name; `_is_it` then proves it."""
    if array in proof.memory.inputs or array == proof.result:
        return
    rank = len(proof.arrays[array].shape)
    stem, _, number = array.rpartition("_")
    names = {array, stem} if number.isdecimal() else {array}
    for func in proof.meaning.program.funcs:
        if len(func.labels) == rank and func.name in names:
            yield func.name


def _is_it(proof: Proof, at: int, ran: Ran, array: str, func: str) -> bool:
    """Return whether it can be proved that only the Func's values are ever stored in a tensor."""
    others = (one for one in proof.runs if one is not ran)
    if any(a.tensor == array and a.kind != "load" for one in others for a in one.accesses):
        return False
    for access in ran.accesses:
        if access.tensor != array or access.kind == "load":
            continue
        if access.kind != "store" or access.value is None:
            return False
        proof.run.about(access.line, f"stores what the algorithm says '{func}' is")
        try:
            here = set_of(both(proof.facts, domain(ran, access)))
            stored = proof.memory.left(at, access)
            wanted = value_of(proof.run, proof.meaning, func, access.indices)
            is_finite = proof.meaning.is_finite
            if proved_difference(proof.run, stored, wanted, here, is_finite=is_finite):
                return False
        except (Unread, Unwritten, Unsaid, NotAffine):
            return False
    return True
