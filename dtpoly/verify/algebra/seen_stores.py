"""Puts what a kernel stored in the place of what a later kernel loads, where one store is seen.

A `Stored` says of which choice of program and lanes it is the value: those for which a condition
holds. If equations of the condition say each of them, the value itself may stand in its place. So
a frame of a part, which each program stores, is a frame in the terms of the kernel that merges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Literal,
    Stored,
    Term,
    Total,
    children,
    choose,
    put,
    rebuilt,
    renamed,
)
from dtpoly.verify.algebra.whole import All, Sign, Truth, Whole, name, names_of, put_whole

ZERO = Literal("0")
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
    if isinstance(term, AppliedOperation) and term.operation == "add" and seen[1] == ZERO:
        return seen[0]  # so that a maximum of maxima is one
    return term if seen == parts else rebuilt(term, seen)


def without_empty_sums(run: ProofRun, term: Term, where: Region) -> Term:
    """Return a term in which a sum of nothing, for all points of a set, is 0."""
    if isinstance(term, Total) and term.operation == "add":
        new = term if where.names.isdisjoint(term.bound) else renamed(run, term)
        if run.is_empty(where.intersect(set_of(new.domain))):
            return ZERO
        return term
    parts = children(term)
    seen = tuple(without_empty_sums(run, one, where) for one in parts)
    if isinstance(term, AppliedOperation) and term.operation == "add" and ZERO in seen:
        return seen[1] if seen[0] == ZERO else seen[0]
    return term if seen == parts else rebuilt(term, seen)


def _said(condition: Truth, bound: tuple[str, ...]) -> dict[str, Whole]:
    """Return what equations say that bound names are, as numbers over other names."""
    signs = [one for one in _parts(condition) if isinstance(one, Sign)]
    widths = _widths([one.operand for one in signs if not one.exactly], bound)
    found = dict[str, Whole]()
    for one in signs:
        if one.exactly:
            found |= _digits(put_whole(one.operand, found), bound, widths)
    return found


def _parts(condition: Truth) -> tuple[Truth, ...]:
    return condition.parts if isinstance(condition, All) else (condition,)


def _widths(bounds: Sequence[Whole], names: tuple[str, ...]) -> dict[str, int]:
    """Return how many values each name has that goes from 0 to below a written number."""
    least = {one.plain for one in bounds}
    found = dict[str, int]()
    for one in names:
        ends = ((bound + name(one)).constant for bound in bounds if one in names_of(bound))
        known = [end + 1 for end in ends if end is not None]
        if known and one in least:
            found[one] = min(known)
    return found


def _digits(equation: Whole, bound: tuple[str, ...], widths: Mapping[str, int]) -> dict[str, Whole]:
    """Return the names that a number which is 0 has with factors, as digits of its other parts.

    In `4 * a + b - e`, where b has the values 0 to 3, a is e // 4 and b is e % 4. There is no other
    choice of them, if each factor is a multiple of the one before and of the values there.
    """
    factors = dict[str, int]()
    rest = equation
    for monomial, factor in equation.terms:
        if len(monomial) == 1 and isinstance(monomial[0], str) and monomial[0] in bound:
            factors[monomial[0]] = factor
            rest = rest - name(monomial[0]) * factor
    if not factors or not names_of(rest).isdisjoint(bound):
        return {}
    sign = 1 if min(factors.values()) > 0 else -1
    number = rest * -sign
    order = sorted(factors, key=lambda one: factors[one] * sign)
    found, unit = dict[str, Whole](), 1
    for at, one in enumerate(order):
        if factors[one] * sign != unit:
            return {}
        if at + 1 == len(order):
            found[one] = number.floor(unit)
        elif one in widths:
            found[one] = number.floor(unit).modulo(widths[one])
            unit *= widths[one]
        else:
            return {}
    return found
