"""Formulas about the instances of accesses, from which the layers build the sets that they ask of.

An instance is one lane, iteration and program. The domain of an access is the formula that says at
which instances it happens: its conditions, and the ranges of all the names in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.whole import (
    FALSE,
    Put,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    negation,
    one_of,
    put_whole,
)
from dtpoly.verify.triton.access import KernelAccess, Ran


def ranged(
    programs: Mapping[str, Truth], ranges: Mapping[str, Truth], names: Iterable[str]
) -> Truth:
    """Return the ranges of some names, and of all names that these ranges mention."""
    done: dict[str, None] = {}
    # The order must be the same in every process.
    pending = sorted(names)
    parts: list[Truth] = []
    while pending:
        one = pending.pop()
        if one in done:
            continue
        done[one] = None
        known = programs.get(one) or ranges.get(one)
        if known is not None:
            parts.append(known)
            pending.extend(sorted(names_of(known)))
    return both(*parts)


def domain(ran: Ran, access: KernelAccess) -> Truth:
    """Return the formula for every lane, iteration and program at which the access happens."""
    named = (*own_names(ran, access), *names_of(access.where))
    return both(ranged(ran.programs, ran.ranges, named), access.where)


def own_names(ran: Ran, access: KernelAccess) -> tuple[str, ...]:
    """Return the names that tell one instance of the access from another."""
    return (*ran.programs, *ran.numbers, *access.loops, *access.lanes)


def before(first: tuple[Whole, ...], second: tuple[Whole, ...]) -> Truth:
    """Return the formula that one point in time comes before another."""
    cases: list[Truth] = []
    equal: list[Truth] = []
    for a, b in zip(first, second, strict=False):
        cases.append(both(*equal, compare("<", a, b)))
        equal.append(compare("==", a, b))
    return one_of(*cases) if cases else FALSE


def same_program(ran: Ran, put: Put) -> Truth:
    """Return the formula that two instances of a kernel belong to the same program."""
    return both(*(compare("==", name(one), put.get(one, name(one))) for one in ran.programs))


def ids_agree(ran: Ran, put: Put) -> Truth:
    """Return the formula that two instances have the same id if and only if the same program."""
    same = same_program(ran, put)
    ids = [one for one in ran.numbers if one in put]
    return both(
        *(
            one_of(both(same, alike), negation(one_of(same, alike)))
            for alike in (compare("==", name(one), put[one]) for one in ids)
        )
    )


def renaming(run: ProofRun, ran: Ran, access: KernelAccess, kept: Sequence[str] = ()) -> Put:
    """Return fresh names for an instance of an access, except for the names in `kept`."""
    return {one: name(run.fresh(one)) for one in own_names(ran, access) if one not in kept}


def same_element(
    first: KernelAccess, put_first: Put, second: KernelAccess, put_second: Put
) -> Truth:
    """Return the formula that two instances access the same element."""
    return both(
        *(
            compare("==", put_whole(a, put_first), put_whole(b, put_second))
            for a, b in zip(first.indices, second.indices, strict=True)
        )
    )
