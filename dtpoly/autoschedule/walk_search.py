"""Searches the layouts of a kernel without products: loops first, then the warps that run them.

The number of warps changes less than blocks and tiles do. So loops are priced with a middle number
of warps first, and the other numbers are tried only for loops that come near the best ones.
"""

from collections.abc import Iterable
from dataclasses import replace
from heapq import nsmallest
from math import inf

from dtpoly.autoschedule.nest import KernelNest
from dtpoly.autoschedule.pricing import Priced, PricedCall, priced
from dtpoly.plan.layout import Layout

FEW = 24  # layouts that are priced, all of them
PROBES = 6  # loops, far from each other in the list, that show whether a kernel is hopeless
# Times what a kernel may take: if the best of the probes takes more, nothing else is priced. The
# other loops of a kernel are seldom this much better.
HOPELESS = 4.0
# Times what the best loops take so far: others, with other warps, are seldom this much better.
BEHIND = 2.0
CLOSER = 20  # loops of which all numbers of warps are priced


def walked(
    call: PricedCall, nest: KernelNest, layouts: Iterable[Layout], limit: float
) -> list[Priced]:
    """Return layouts that were priced. `limit` is the seconds that the kernel may take."""
    every = list(dict.fromkeys(layouts))
    if len(every) <= FEW:
        return list(priced(call, nest, every))
    shapes: dict[Layout, list[Layout]] = {}
    for one in every:
        shapes.setdefault(replace(one, warps=1), []).append(one)
    groups = list(shapes.values())
    step = max(len(groups) // PROBES, 1)
    order = [*groups[::step], *(one for at, one in enumerate(groups) if at % step)]
    found: dict[Layout, Priced] = {}
    nearest: list[tuple[float, list[Layout]]] = []
    for number, group in enumerate(order):
        if number == PROBES and _least(found) > HOPELESS * limit:
            return list(found.values())
        some = list(priced(call, nest, (_middle(group),)))
        found |= {one.layout: one for one in some}
        nearest.append((min((one.score for one in some), default=0.0), group))
    least = _least(found)
    for score, group in nsmallest(CLOSER, nearest, key=lambda one: one[0]):
        if score <= BEHIND * least:
            rest = (one for one in group if one not in found)
            found |= {one.layout: one for one in priced(call, nest, rest)}
    return list(found.values())


def _middle(group: list[Layout]) -> Layout:
    """Return the layout with as many smaller numbers of warps as larger ones."""
    return group[len(group) // 2]


def _least(found: dict[Layout, Priced]) -> float:
    return min((one.score for one in found.values()), default=inf)
