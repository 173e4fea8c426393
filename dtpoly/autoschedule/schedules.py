"""Yields usable schedules of an algorithm, the one that seems fastest first."""

from collections.abc import Iterator

from dtpoly.autoschedule.choose import alike, candidates
from dtpoly.autoschedule.invariant_rows import invariant
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.selection import in_turn
from dtpoly.autoschedule.settle import Settled, settled


def schedules(call: PricedCall) -> Iterator[Settled]:
    """Yield schedules, each made when it is asked for: who wants one does not wait for more.

    If the call asks for rows with the same bits in each batch, these are proved of each schedule.
    """
    found = settled(call, in_turn(candidates(call), lambda one: alike(call, one)))
    return invariant(call, found) if call.rows else found
