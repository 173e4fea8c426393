"""Estimates how long the programs of a launch take from their first load to their last store.

While a program waits for a load, or for all its lanes to meet, other programs and other warps can
work. So the wait counts only as far as there are too few of them.
"""

from collections.abc import Iterator
from math import ceil, prod

from dtpoly.algorithm.expressions import Dot
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.list_steps import list_steps
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import (
    StatementWalk,
    cut_steps,
    goes_by_index,
    lanes_of,
    steps,
    trips,
)
from dtpoly.explore.cost.job import Job
from dtpoly.explore.cost.lane_products import ALONE, is_multiplied_by_lanes
from dtpoly.explore.cost.lane_products import ISSUED as LANES_ISSUED
from dtpoly.explore.needs.resources import WARP, stages_of
from dtpoly.poly.model import Role

PORT = 64  # bytes a clock that a multiprocessor takes from L2
ISSUING = 4  # warps that issue an instruction at the same time
FEW = 4  # waves, of which the last one counts whole
# Seconds of an index of a tile that a range cuts, which is loaded, multiplied and added by itself:
# 64 of them took 50 us on an H200, before several were loaded at a time.
CUT_INDEX = 0.4e-6
# Clocks of a sum over the lanes of a warp, and over the warps of a block.
ACROSS_LANES, ACROSS_WARPS = 120, 160


def waiting(job: Job) -> float:
    """Seconds of programs one after the other, where they do not fit side by side."""
    kernel, device, resources, each = job.kernel, job.device, job.resources, job.each
    clock = device["clock"]
    rounds = float(ceil(job.waves)) if job.waves <= FEW else job.waves + 0.5
    at_least = max(rounds, 1.0)
    units = min(resources.warps, ISSUING) * WARP * clock
    by_lanes = is_multiplied_by_lanes(kernel)
    share = LANES_ISSUED * ALONE if by_lanes else 1.0
    products = sum(count / device.tensor(unit) for unit, count in job.work.products.items())
    parts = [
        job.work.instructions / each / (units * share),
        products / each * job.multiprocessors,
        sum(one.from_l2 for one in job.operands) / each / (PORT * clock),
    ]
    across = ACROSS_LANES + (ACROSS_WARPS if resources.warps > 1 else 0)
    stages = stages_of(kernel)
    # Where loads run ahead, what computes does not wait for what moves.
    own = max(parts) if stages > 1 else sum(parts)
    waits = 0.0
    near = device["l2_latency"]
    far = near if job.is_warm else device["memory_latency"]
    seen: set[str] = set()
    for loops, walks in _nests(kernel).items():
        walk = walks[0]
        times = steps(walk) / each * max(_longest(walk, each) / at_least, 1.0)
        for loads in _groups(kernel, walks):
            is_new = any(one.array not in seen for one in loads)
            seen |= {one.array for one in loads}
            wait = far if is_new else near
            if loops and stages > 1:
                count = trips(walk, walk.loops[-1])
                entries = times / count
                busy = own / max(times, 1)
                later = max(wait / _ahead(stages, count, loads, by_lanes) - busy, 0)
                waits += entries * wait + (times - entries) * later
            else:
                waits += times * wait
        for one in walks:
            # What a loop does not load ahead, and a maximum over all lanes of the tile.
            tile = near + (2 * ACROSS_LANES + ACROSS_WARPS) / clock
            cut = _cut_seconds(kernel, one, tile) / each
            waits += max(cut, cut * _parts(kernel, one) / at_least)
            if one.statement.role is Role.COMBINE:
                waits += steps(one) / each * across / clock
    waits += sum(one.meetings for one in list_steps(kernel)) / each * across / clock
    if kernel.launch.each:
        # The next block is loaded while the last one is stored.
        return far + (own + waits / at_least) * rounds
    # While some warps wait, others compute, but for products, which all warps begin together.
    alone = 1.0 if kernel.operand_dtypes else min(1.0, ISSUING / resources.warps)
    return rounds * (max(waits, own) + alone * min(waits, own) + far / 2)


def _longest(walk: StatementWalk, each: int) -> float:
    """Return how many times as many steps the program with most has as they have in the mean.

    The range of a reduced label makes them differ. Where all programs run at once, the longest one
    decides; where there are more, others take the places of those that end early.
    """
    if not walk.statement.is_over_range:
        return 1.0
    most = prod(trips(walk, axis) for axis in walk.loops)
    return max(most * each / max(steps(walk), 1), 1.0)


def _cut_seconds(kernel: CostedKernel, walk: StatementWalk, tile: float) -> float:
    """Return how long all programs wait in tiles through which a range goes.

    Either each index is added up by itself, or the tile is multiplied, which takes `tile` seconds,
    and looked at.
    """
    body = walk.statement.body
    if walk.joined or walk.statement.name not in kernel.operand_dtypes:
        return 0.0
    if not isinstance(body, Dot) or body.hides:
        return 0.0
    if goes_by_index(walk, body):
        return cut_steps(walk) * lanes_of(walk, body.labels) * CUT_INDEX
    return cut_steps(walk) * tile


def _parts(kernel: CostedKernel, walk: StatementWalk) -> int:
    """Return how many programs share what one would reduce; a range cuts tiles of few of them."""
    body = walk.statement.body
    labels = body.labels if isinstance(body, Dot) else ()
    return prod(trips(walk, axis) for axis in kernel.grid if axis.label in labels)


def _groups(kernel: CostedKernel, walks: list[StatementWalk]) -> Iterator[list[AccessStream]]:
    """Yield the loads that a nest issues at once; after lanes have met, the next load is alone."""
    found: list[AccessStream] = []
    for walk in walks:
        if walk.statement.role is Role.COMBINE:
            if found:
                yield found
            found = []
        found += [s for s in kernel.streams if s.walk is walk and not s.is_store]
    if found:
        yield found


def _ahead(stages: int, trips: int, loads: list[AccessStream], by_lanes: bool) -> float:
    """Return how many iterations of loads are under way beside the one that computes.

    Tensor cores hold their operands until a product is over, while the next one begins.
    """
    if any(one.is_operand for one in loads) and not by_lanes:
        return max(min(stages, trips) - 2, 0.5)
    return max(min(stages, trips) - 1, 0.5)


def _nests(kernel: CostedKernel) -> dict[tuple[str, ...], list[StatementWalk]]:
    """Return the statements of a kernel by the loops that they are in."""
    found: dict[tuple[str, ...], list[StatementWalk]] = {}
    for walk in kernel.walks:
        found.setdefault(walk.nest, []).append(walk)
    return found
