"""Compare the values that a kernel stores with those that the algorithm asks for.

`layers` calls `value` for the layer of that name; it yields a finding for each store that differs.
"""

from __future__ import annotations

from collections.abc import Iterator

from dtpoly.verify.algebra.algorithm_terms import value_of
from dtpoly.verify.algebra.identities import IDENTITY, is_identity
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.mask_comparison import proved_difference
from dtpoly.verify.algebra.regions import NotAffine, Region, set_of
from dtpoly.verify.algebra.residues import settled
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.terms import AppliedOperation, Term, Total, put, walk
from dtpoly.verify.algebra.value import Difference
from dtpoly.verify.algebra.whole import both, compare, name, put_truth, put_whole
from dtpoly.verify.proof.findings import Finding, Proof
from dtpoly.verify.proof.lemmas import with_known
from dtpoly.verify.proof.stored_values import Unwritten
from dtpoly.verify.triton.access import KernelAccess, Ran
from dtpoly.verify.triton.domains import domain, renaming
from dtpoly.verify.triton.gathering import ATOMIC, operation_of, part


def value(proof: Proof) -> Iterator[Finding]:
    """Yield where what is stored is not what the algorithm says.

    The comparison is first done Func by Func. If that is not enough for a proof, it is done again
    with all Funcs in one.
    """
    known = with_known(proof)
    try:
        if known is not None and next(_value(known), None) is None:
            return
    except (Unread, Unwritten, NotAffine):
        pass
    yield from _value(proof)


def _value(proof: Proof) -> Iterator[Finding]:
    atomics = [one for one in proof.stores() if one[2].kind in ATOMIC]
    for at, ran, access in proof.stores():
        if access.kind in ATOMIC:
            continue
        here = set_of(both(proof.facts, domain(ran, access)))
        stored = proof.memory.left(at, access)
        proof.run.about(access.line, "stores what the algorithm says")
        wanted = value_of(proof.run, proof.meaning, proof.func, access.indices)
        if atomics:
            # The value that an element has before the atomic operations must be their
            # identity.
            operation = ATOMIC[atomics[0][2].kind]
            wanted = IDENTITY[operation]
            if any(at >= later for later, _, _ in atomics):
                yield Finding("value", access.line, "is stored after atomic operations", here)
            if is_identity(operation, stored):
                continue
        found = _difference(proof, stored, wanted, here)
        if found is not None:
            yield Finding(
                found.layer, access.line, found.why, found.where, access, terms(stored, wanted)
            )
    if atomics:
        yield from _atomic(proof, atomics)


def _atomic(proof: Proof, atomics: list[tuple[int, Ran, KernelAccess]]) -> Iterator[Finding]:
    """Check that an element is its first value, reduced with all that atomic operations add."""
    operation = ATOMIC[atomics[0][2].kind]
    outputs = proof.outputs
    parts: list[Total] = []
    for at, ran, access in atomics:
        if ATOMIC[access.kind] != operation:
            where = set_of(both(proof.facts, domain(ran, access)))
            yield Finding("value", access.line, "is another atomic operation", where, access)
            return
        put_names = renaming(proof.run, ran, access)
        here = put_truth(domain(ran, access), put_names)
        for output, index in zip(outputs, access.indices, strict=True):
            here = both(here, compare("==", name(output), put_whole(index, put_names)))
        bound = tuple(str(one.plain) for one in put_names.values())
        kind, is_asked = proof.arrays[proof.result].kind, proof.func in proof.meaning.atomics
        value_there = part(access, kind, is_finite=proof.meaning.is_finite, is_asked=is_asked)
        body = put(proof.run, proof.memory.seen(at, value_there), put_names)
        parts.append(Total(operation_of(access, kind, is_asked=is_asked), bound, here, body))
    proof.run.about(atomics[-1][2].line, "puts together what the algorithm says")
    total: Term = parts[0]
    for other in parts[1:]:
        total = AppliedOperation(parts[0].operation, (total, other))
    total = settled(proof.arrays[proof.result].kind, total)
    wanted = value_of(proof.run, proof.meaning, proof.func, tuple(name(o) for o in outputs))
    where = set_of(both(proof.facts, proof.box(outputs)))
    found = _difference(proof, total, wanted, where)
    if found is not None:
        last = atomics[-1][2]
        compared = terms(total, wanted)
        yield Finding(found.layer, last.line, found.why, found.where, last, compared)


def _difference(proof: Proof, kernel: Term, wanted: Term, where: Region) -> Difference | None:
    return proved_difference(proof.run, kernel, wanted, where, is_finite=proof.meaning.is_finite)


def terms(kernel: Term, algorithm: Term) -> tuple[Term, Term, frozenset[str]]:
    """Return both terms, with the types to which the algorithm lets values be rounded."""
    kinds = (split(one) for one in walk(algorithm))
    return kernel, algorithm, frozenset(kind for word, kind in kinds if word == "may")
