"""Find out what a name holds when an iteration of a loop begins, where the loop reduces into it.

A variable that each iteration changes to `old op something` holds, when an iteration begins, what
it held before the loop, put together with the reduction of something over all earlier iterations
(lemma 15 of docs/proofs.md). While the body of a loop is read, such a value is a `Carried`. After
the body, when it is known what the variable becomes, all that the body stores gets the reduction in
its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dtpoly.verify.algebra.kernel_values import (
    PointerValue,
    Radix,
    TileValue,
    Value,
    as_term,
    lanes_of,
)
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import (
    Carried,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    children,
    names,
    put,
    rebuilt,
    walk,
)
from dtpoly.verify.algebra.whole import Whole, both, compare, name, put_truth
from dtpoly.verify.triton.access import KernelAccess
from dtpoly.verify.triton.carrying import LoopEnd, reduction_of


def with_earlier(
    run: ProofRun,
    accesses: Sequence[KernelAccess],
    changed: Sequence[str],
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
) -> list[KernelAccess]:
    """Return the accesses of a loop's body with reductions in the place of what is carried."""
    stored = [one.value for one in accesses if one.value is not None]
    carried = {
        part.variable
        for value in stored
        for part in walk(value)
        if isinstance(part, Carried) and part.loop == end.loop
    }
    known: dict[str, Earlier] = {}
    for one in changed:
        found = _earlier(run, one, before, after, end) if one in carried else None
        if found is not None:
            known[one] = found
    if not known:
        return [*accesses]
    return [
        one if one.value is None else replace(one, value=_replaced(run, one.value, end.loop, known))
        for one in accesses
    ]


# The lanes of a variable, and its value at them when an iteration begins.
Earlier = tuple[tuple[str, ...], Term]


def with_others(
    run: ProofRun,
    one: str,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
    around: tuple[str, ...] = (),
) -> Mapping[str, Value] | None:
    """Return the values after the body, where that of a name has reductions for what else it reads.

    A variable may be changed by what another one holds when the iteration begins, which a reduction
    over the earlier iterations says. None if no other one is read, or no reduction says what it is.
    `around` are the names whose values are asked about already: those may not read each other. A
    loop whose bounds are data leaves out rounds, and what the other name holds lacks them.
    """
    new = after[one]
    if (
        end.left_out is not None
        or not isinstance(new, TileValue)
        or isinstance(new.item, Whole | PointerValue | Radix)
    ):
        return None
    term = as_term(new.item, 0)
    others = {
        part.variable
        for part in walk(term)
        if isinstance(part, Carried) and part.loop == end.loop and part.variable != one
    }
    if not others or others & {*around}:
        return None
    known: dict[str, Earlier] = {}
    for other in sorted(others):
        found = _earlier(run, other, before, after, end, (*around, one))
        if found is None:
            return None
        known[other] = found
    return {**after, one: replace(new, item=_replaced(run, term, end.loop, known))}


def _earlier(
    run: ProofRun,
    one: str,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
    around: tuple[str, ...] = (),
) -> Earlier | None:
    """Return what a variable holds when an iteration begins; None if no reduction says that."""
    found = _reduced(run, one, before, after, end)
    if found is not None:
        return found
    told = with_others(run, one, before, after, end, around)
    return None if told is None else _reduced(run, one, before, told, end)


def _reduced(
    run: ProofRun,
    one: str,
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    end: LoopEnd,
) -> Earlier | None:
    """Return the reduction over earlier iterations that a variable holds when one begins."""
    new = after[one]
    if tuple(end.last) != (end.loop,) or not isinstance(new, TileValue):
        return None  # several counters count together, or what is carried is no tile
    found = reduction_of(run, one, new, before, after, end)
    if found is None or found.place is not None:
        return None  # of a list, no pair at a place is a reduction of such pairs
    if isinstance(as_term(new.item, 0), ValueOf | PlaceOf):
        return None  # one half of a pair is no reduction of such halves
    lanes = tuple(lanes_of(new.axes))
    # What a name stands for that the body makes may be something else in each iteration.
    fixed = end.moving - {end.loop, *lanes}
    if any(names(piece) & fixed for piece in found.pieces):
        return None
    result = found.start
    for piece in found.pieces:
        earlier = run.fresh(end.loop)
        again = {end.loop: name(earlier)}
        domain = both(put_truth(end.here, again), compare("<", name(earlier), name(end.loop)))
        total = Total(found.operation, (earlier,), domain, put(run, piece, again))
        result = found.over(total, result)
    return lanes, result


def _replaced(run: ProofRun, term: Term, loop: str, known: Mapping[str, Earlier]) -> Term:
    match term:
        case Carried(variable=variable, loop=of, lanes=at) if of == loop and variable in known:
            lanes, value = known[variable]
            return put(run, value, dict(zip(lanes, at, strict=True)))
        case _:
            return rebuilt(
                term, tuple(_replaced(run, part, loop, known) for part in children(term))
            )
