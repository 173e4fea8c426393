"""Yields usable schedules of an algorithm, the one that seems fastest first."""

from collections.abc import Iterator

from dtpoly.autoschedule.choose import LIMIT, Known, alike, candidates, last_candidates
from dtpoly.autoschedule.invariant_rows import invariant
from dtpoly.autoschedule.plans import PlacementPlan
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.selection import in_turn
from dtpoly.autoschedule.settle import HopelessPlan, Settled, settled


def schedules(call: PricedCall) -> Iterator[Settled]:
    """Yield schedules, each made when it is asked for: who wants one does not wait for more.

    If the call asks for rows with the same bits in each batch, these are proved of each schedule.
    """
    found = _usable(call)
    return invariant(call, found) if call.rows else found


def _usable(call: PricedCall) -> Iterator[Settled]:
    """Yield schedules that are legal.

    A plan that is much slower than the best one is not looked at. If nothing legal comes of the
    best one, the others are looked at again without it; if nothing comes of any, each Func has a
    kernel of its own.
    """
    without: set[PlacementPlan] = set()
    known: Known = {}
    while ranked := candidates(call, without, known):
        least = min(one.seconds for one in ranked)
        found = settled(call, in_turn(ranked, lambda one: alike(call, one)))
        first, hopeless = _first_of(found)
        if first is None:
            without |= {one.plan for one in ranked}
        elif hopeless and first.seconds > LIMIT * least:
            without |= hopeless
        else:
            yield first
            yield from _legal(found)
            return
    yield from _legal(settled(call, in_turn(last_candidates(call))))


def _first_of(
    found: Iterator[Settled | HopelessPlan],
) -> tuple[Settled | None, set[PlacementPlan]]:
    """Return the first schedule that is legal, and the plans of which nothing came before it."""
    hopeless: set[PlacementPlan] = set()
    for one in found:
        if isinstance(one, Settled):
            return one, hopeless
        hopeless.add(one.plan)
    return None, hopeless


def _legal(found: Iterator[Settled | HopelessPlan]) -> Iterator[Settled]:
    return (one for one in found if isinstance(one, Settled))
