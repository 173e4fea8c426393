"""Yields usable schedules of an algorithm, the one that seems fastest first."""

from collections.abc import Iterator

from dtpoly.autoschedule.choose import alike, candidates
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.selection import in_turn
from dtpoly.autoschedule.settle import Settled, settled


def schedules(call: PricedCall) -> Iterator[Settled]:
    """Yield schedules, each made when it is asked for: who wants one does not wait for more."""
    return settled(call, in_turn(candidates(call), lambda one: alike(call, one)))
