"""Compare frames: by a key that is the same at any lane, and on the sides of branches."""

from __future__ import annotations

from dtpoly.verify.algebra.frame_terms import EXTREME, INFINITIES, inward
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Element,
    Term,
    Total,
    children,
    names,
    put,
    rebuilt,
)
from dtpoly.verify.algebra.whole import name, names_of

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


def is_side_of(frame: Term, whole: Term, bound: frozenset[str] = frozenset()) -> bool:
    """Return whether a frame is another one on some sides of the branches that it went through.

    Where a term is compared in cases, only the side that was taken is left of such a choice. Inside
    of a reduction, a condition on the names that are bound there is a mask, and no such choice.
    """
    if frame == whole:
        return True
    match whole:
        case Choose(condition=condition, yes=yes, no=no):
            if not names_of(condition) & bound:
                return any(is_side_of(frame, side, bound) for side in (yes, no))
        case AppliedOperation(operation=operation, operands=(a, b)) if operation in EXTREME:
            for one, other in ((a, b), (b, a)):
                if _may_be_nothing(one, operation) and is_side_of(frame, other, bound):
                    return True
        case Total(bound=more):
            bound = bound | {*more}
        case _:
            pass
    mine, theirs = children(frame), children(whole)
    if not theirs or len(mine) != len(theirs) or rebuilt(whole, mine) != frame:
        return False
    return all(is_side_of(*pair, bound) for pair in zip(mine, theirs, strict=True))


def _may_be_nothing(term: Term, operation: str) -> bool:
    """Return whether a maximum has no such operand on some side of a branch, as that is -inf."""
    match term:
        case Choose(yes=yes, no=no):
            return any(_may_be_nothing(one, operation) for one in (yes, no))
        case _:
            return term == INFINITIES[EXTREME.index(operation)]


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
