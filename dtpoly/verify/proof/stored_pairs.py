"""Joins a value and its place that a kernel stored in two tensors into one stored pair.

A stored value is that of the one case that holds, for one choice of the names of the case. If two
stored values have the same conditions over the same names, the same case holds for both, with the
same choice. So the pair of the two is what that case has of both.
"""

from __future__ import annotations

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import Case, Stored, Term, pair, put
from dtpoly.verify.algebra.whole import name, put_truth


def stored_pair(run: ProofRun, value: Term, place: Term) -> Term:
    """Return a pair of two values, as one stored value where both were stored together."""
    match value, place:
        case Stored(cases=first), Stored(cases=second) if len(first) == len(second):
            found = [_joined(run, one, other) for one, other in zip(first, second, strict=True)]
            cases = [case for case in found if case is not None]
            if len(cases) == len(first):
                return Stored(tuple(cases))
        case _:
            pass
    return pair(value, place)


def _joined(run: ProofRun, one: Case, other: Case) -> Case | None:
    """Return the case of a pair; None if the two cases do not hold at the same points."""
    bound, where, value = one
    names, condition, place = other
    if len(bound) != len(names):
        return None
    same = {old: name(new) for old, new in zip(names, bound, strict=True)}
    if put_truth(condition, same) != where:
        return None
    return bound, where, pair(value, put(run, place, same))
