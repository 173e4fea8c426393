"""Recognise reductions over a single index, as of a label whose size is fixed at 1.

Such a reduction is its operand at that index, so it can be compared with a term that has no
reduction at all. So is a reduction that picks one lane of a tile, with the identity in all others.
"""

from __future__ import annotations

from collections.abc import Iterator

from dtpoly.verify.algebra.identities import is_identity
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import Choose, Term, Total, choose, put
from dtpoly.verify.algebra.whole import (
    All,
    Sign,
    Some,
    Truth,
    Whole,
    both,
    name,
    names_of,
    put_truth,
)


def inequalities(of: Truth) -> Iterator[Sign]:
    """Yield every part `number >= 0` of a formula."""
    match of:
        case Sign(exactly=False):
            yield of
        case All(parts=parts) | Some(parts=parts):
            for part in parts:
                yield from inequalities(part)
        case _:
            return


def only_number(domain: Truth, unknown: str) -> Whole | None:
    """Return the only value of a name if the domain says `value <= name` and `name <= value`."""
    parts = domain.parts if isinstance(domain, All) else (domain,)
    said = {part.operand for part in parts if isinstance(part, Sign) and not part.exactly}
    for one in said:
        number = name(unknown) - one
        if unknown not in names_of(number) and number - name(unknown) in said:
            return number
    return None


def equal_number(condition: Truth, unknown: str) -> Whole | None:
    """Return a number that a name must be for a condition to hold, if it says so in one way."""
    for part in condition.parts if isinstance(condition, All) else (condition,):
        if isinstance(part, Sign) and part.exactly:
            for number in (name(unknown) - part.operand, name(unknown) + part.operand):
                if unknown not in names_of(number):
                    return number
    return only_number(condition, unknown)


def only_operand(run: ProofRun, total: Total) -> Term | None:
    """Return the operand of a reduction over one index, which is its result; None for others."""
    known = {one: only_number(total.domain, one) for one in total.bound}
    numbers = {one: number for one, number in known.items() if number is not None}
    parts = total.domain.parts if isinstance(total.domain, All) else (total.domain,)
    used = frozenset[str]().union(*map(names_of, numbers.values()))
    if len(numbers) < len(total.bound) or not used.isdisjoint(total.bound):
        return None
    if len(parts) != 2 * len(numbers):
        return None  # the domain says more: if that does not hold, nothing is reduced at all
    return put(run, total.body, numbers)


def picked(run: ProofRun, total: Total) -> Term | None:
    """Return what a reduction picks out of its operands; None for one that picks nothing.

    The operand is a choice whose condition leaves one number for the bound name, and elsewhere it
    is the identity. So the result is the operand at that number, if the number is in the domain.
    """
    match total:
        case Total(
            operation=operation, bound=(one,), body=Choose(condition=condition, yes=yes, no=no)
        ) if is_identity(operation, no):
            number = equal_number(condition, one)
            if number is None:
                return None
            where = put_truth(both(total.domain, condition), {one: number})
            return choose(where, put(run, yes, {one: number}), no)
        case _:
            return None
