"""Formulas about the instances of accesses, from which the layers build the sets that they ask of.

An instance is one lane, iteration and program. The domain of an access is the formula that says at
which instances it happens: its conditions, and the ranges of all the names in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Put,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    negation,
    one_of,
    put_truth,
    put_whole,
)
from dtpoly.verify.triton.access import KernelAccess, NamedDatum, Ran


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
    return (*ran.programs, *ran.numbers, *access.loops, *access.lanes, *access.data)


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


def related(one: tuple[Whole, NamedDatum], other: tuple[Whole, NamedDatum]) -> Truth:
    """Return what promises about all elements of a tensor say of two of them.

    Two numbers that were loaded from one index are equal, as no kernel stores such a tensor. That
    elements differ along an axis is said of two that have all other indices in common.
    """
    (a, first), (b, second) = one, other
    is_known = first.tensor == second.tensor != ""
    if not is_known or first.indices is None or second.indices is None:
        return TRUE
    if first.where is None or second.where is None:
        return TRUE
    out = (negation(first.where), negation(second.where))
    pairs = [*zip(first.indices, second.indices, strict=True)]
    equal = [compare("==", i, j) for i, j in pairs]
    apart = [compare("!=", i, j) for i, j in pairs]
    found = [one_of(*out, *apart, compare("==", a, b))]
    if first.is_distinct:
        found.append(one_of(*out, both(*equal), compare("!=", a, b)))
    if first.distinct_axis is not None:
        axis = first.distinct_axis
        others = [*apart[:axis], *apart[axis + 1 :]]
        found.append(one_of(*out, *others, equal[axis], compare("!=", a, b)))
    if first.is_ascending and len(pairs) == 1:
        ((i, j),) = pairs
        found.append(one_of(*out, compare(">", i, j), compare("<=", a, b)))
        found.append(one_of(*out, compare("<", i, j), compare(">=", a, b)))
    return both(*found)


def data_agree(ran: Ran, first: KernelAccess, second: KernelAccess, put: Put) -> Truth:
    """Return what is known of the data of two instances; the second one has the names in `put`.

    The same datum at the same lanes, in the same program and iteration, is the same number.
    """
    found: list[Truth] = []
    around = {*ran.programs, *ran.numbers, *first.loops, *second.loops}
    for one in second.data:
        mine = ran.data[one]
        if one in first.data and mine.names is not None and one in put:
            of = [n for n in put if n in mine.names or (mine.is_free and n in around)]
            apart = (negation(compare("==", name(n), put[n])) for n in of)
            found.append(one_of(*apart, compare("==", name(one), put[one])))
        for other in first.data:
            theirs = ran.data[other]
            found.append(related((name(other), theirs), (put[one], put_datum(mine, put))))
    return both(*found)


def put_datum(datum: NamedDatum, put: Put) -> NamedDatum:
    """Return a datum of another instance."""
    indices, where = datum.indices, datum.where
    if indices is None or where is None:
        return datum
    there = tuple(put_whole(one, put) for one in indices)
    return replace(datum, indices=there, where=put_truth(where, put))
