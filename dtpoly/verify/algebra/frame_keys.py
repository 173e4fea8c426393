"""Compare frames: by a key that is the same at any lane, and on each side of branches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from dtpoly.verify.algebra.frame_terms import EXTREME, INFINITIES, inward
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Element,
    Term,
    children,
    names,
    put,
    rebuilt,
)
from dtpoly.verify.algebra.whole import name

# A frame is looked at on so many sides of branches.
MOST_SIDES = 64
# Names of lanes begin so.
LANE = "lane."


def frame_key(run: ProofRun, term: Term) -> Term | None:
    """Return a frame as it is at any lane, or None if it has several axes of lanes.

    A name of lanes is another one in each tile, so frames are compared without it, and without the
    number of each load: where terms are compared, only elements that no launch writes are left.
    """
    bare = _of_any_load(_without_nothing(inward(term)))
    lanes = [one for one in names(bare) if one.startswith(LANE)]
    if len(lanes) > 1:
        return None
    return put(run, bare, {one: name(f"{LANE}any") for one in lanes})


def _of_any_load(term: Term) -> Term:
    parts = tuple(map(_of_any_load, children(term)))
    if isinstance(term, Element):
        term = Element(term.tensor, term.indices, 0, ())
    return rebuilt(term, parts)


def sides(frame: Term) -> Iterator[Term]:
    """Yield the maxima that a frame is on one side or another of the branches that it went through.

    Where a term is compared in cases, only the side that was taken is left of such a choice.
    """
    match frame:
        case Choose(yes=yes, no=no):
            yield frame
            yield from sides(yes)
            yield from sides(no)
        case AppliedOperation(operation=operation, operands=operands) if operation in EXTREME:
            for parts in product(*(islice(sides(one), MOST_SIDES) for one in operands)):
                yield rebuilt(frame, parts)
        case _:
            yield frame


def _without_nothing(term: Term) -> Term:
    """Return a maximum without operands that are -inf, or a minimum without those that are inf."""
    match term:
        case AppliedOperation(operation=operation, operands=(a, b)) if operation in EXTREME:
            nothing = INFINITIES[EXTREME.index(operation)]
            first, second = _without_nothing(a), _without_nothing(b)
            if nothing in (first, second):
                return second if first == nothing else first
            return rebuilt(term, (first, second))
        case _:
            return term
