"""Recognise reductions over a single index, as of a label whose size is fixed at 1.

Such a reduction is its operand at that index, so it can be compared with a term that has no
reduction at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import Term, Total, put
from dtpoly.verify.algebra.whole import All, Sign, Some, Truth, Whole, name, names_of


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
