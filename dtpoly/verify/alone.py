"""Reductions over one index: labels whose sizes are fixed at 1 have no other."""

from __future__ import annotations

from collections.abc import Iterator

from dtpoly.verify.terms import Term, Total, put
from dtpoly.verify.whole import All, Sign, Some, Truth, Whole, name, names_of


def inequalities(of: Truth) -> Iterator[Sign]:
    """Every `number >= 0` that a formula is made of."""
    match of:
        case Sign(exactly=False):
            yield of
        case All(parts=parts) | Some(parts=parts):
            for part in parts:
                yield from inequalities(part)
        case _:
            return


def only_number(domain: Truth, unknown: str) -> Whole | None:
    """The one number that a name may be, if `number <= name` and `name <= number` are said."""
    parts = domain.parts if isinstance(domain, All) else (domain,)
    said = {part.operand for part in parts if isinstance(part, Sign) and not part.exactly}
    for one in said:
        number = name(unknown) - one
        if unknown not in names_of(number) and number - name(unknown) in said:
            return number
    return None


def only_operand(total: Total) -> Term | None:
    """What a reduction reduces, if that is one value: then it is that value."""
    known = {one: only_number(total.domain, one) for one in total.bound}
    numbers = {one: number for one, number in known.items() if number is not None}
    parts = total.domain.parts if isinstance(total.domain, All) else (total.domain,)
    used = frozenset[str]().union(*map(names_of, numbers.values()))
    if len(numbers) < len(total.bound) or not used.isdisjoint(total.bound):
        return None
    if len(parts) != 2 * len(numbers):
        return None  # what else is said might not hold, and nothing be reduced
    return put(total.body, numbers)
