"""Puts what a kernel stored in the place of what a later kernel loads, where one store is seen.

A `Stored` says of which choice of program and lanes it is the value: those for which a condition
holds. If equations of the condition say each of them, the value itself may stand in its place. So
a frame of a part, which each program stores, is a frame in the terms of the kernel that merges.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import Choose, Stored, Term, Total, children, choose, put, rebuilt
from dtpoly.verify.algebra.whole import All, Sign, Truth, Whole, name, names_of

NOTHING_KNOWN: Mapping[Truth, bool] = MappingProxyType({})


def with_stores_seen(run: ProofRun, term: Term) -> Term:
    """Return a term in which the value of each load is written out whose store is known.

    Each load sees just one store, which is proved where the load is read. So where there is one
    case, its condition holds for the programs that its equations say.
    """
    match term:
        case Stored(cases=((bound, condition, value),)):
            known = _said(condition, bound)
            if len(known) == len(bound):
                return with_stores_seen(run, put(run, value, known))
            return term
        case _:
            parts = children(term)
            seen = tuple(with_stores_seen(run, one) for one in parts)
            return term if seen == parts else rebuilt(term, seen)


def with_masks_once(term: Term, known: Mapping[Truth, bool] = NOTHING_KNOWN) -> Term:
    """Return a term in which what is chosen by a condition is not chosen by it once more inside."""
    if isinstance(term, Choose):
        if term.condition in known:
            return with_masks_once(term.yes if known[term.condition] else term.no, known)
        yes = with_masks_once(term.yes, {**known, term.condition: True})
        no = with_masks_once(term.no, {**known, term.condition: False})
        return choose(term.condition, yes, no)
    if isinstance(term, Total):
        known = {one: is_so for one, is_so in known.items() if names_of(one).isdisjoint(term.bound)}
    parts = children(term)
    seen = tuple(with_masks_once(one, known) for one in parts)
    return term if seen == parts else rebuilt(term, seen)


def _said(condition: Truth, bound: tuple[str, ...]) -> dict[str, Whole]:
    """Return what equations say that bound names are, as numbers over other names."""
    found = dict[str, Whole]()
    for part in condition.parts if isinstance(condition, All) else (condition,):
        if not isinstance(part, Sign) or not part.exactly:
            continue
        mine = names_of(part.operand).intersection(bound)
        if len(mine) != 1:
            continue
        (one,) = mine
        factors = [factor for monomial, factor in part.operand.terms if monomial == (one,)]
        if factors not in ([1], [-1]):
            continue
        rest = (part.operand - name(one) * factors[0]) * -factors[0]
        if one not in names_of(rest):
            found.setdefault(one, rest)
    return found
