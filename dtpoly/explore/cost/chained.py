"""Estimates how long programs take that multiply, reduce and multiply again in one loop.

In a joined loop, such as that of attention, each product waits for what is computed of the one
before it. So matrix unit and lanes take turns, and only other groups of warps fill the gaps. The
constants were fitted to 400 times of attention on an H200, at 36 schedules and 12 shapes, which
are in `benchmarks/results/attention_grid_h200.json`.
"""

from collections.abc import Iterator
from math import ceil

from dtpoly.algorithm.expressions import Dot, free_labels
from dtpoly.explore.accesses.joined_loops import is_carried
from dtpoly.explore.accesses.tile_counts import StatementWalk, lanes_of, steps
from dtpoly.explore.cost.job import Job
from dtpoly.explore.needs.resources import stages_of

GROUP = 4  # warps that multiply together
ROWS = 16  # of a warp; with fewer, warps share rows, and meet for each maximum
# Of the lanes' time, what other programs do not hide; and what other groups of one program do not.
BESIDE, WITHIN = 0.7, 0.9
STEP = 0.02e-6  # seconds of an iteration in which neither multiplies nor computes
ALONE = 0.15e-6  # seconds of an iteration in which a group without others waits for its own results
LATE = 0.27e-6  # seconds that a tile is late which is asked for one iteration ahead
# Seconds of a step before the loop, whose result goes through memory: all warps wait for its
# operands, for each other before it is stored, and again before it is read.
BEFORE = 2e-6
SHARED_ROWS = 1.75  # times longer, where warps share rows
BEGIN = 1.5e-6  # seconds from a program's start to its first product, and of its store


def chain_of(job: Job) -> StatementWalk | None:
    """Return the last product of a joined loop; None where a kernel has no such loop."""
    products = job.kernel.operand_dtypes
    found = [one for one in job.kernel.walks if is_carried(one) and one.statement.name in products]
    return found[-1] if found else None


def chained(job: Job, walk: StatementWalk, multiplying: float, issuing: float) -> float:
    """Seconds of a kernel with a joined loop of products.

    `multiplying` and `issuing` are what its products and its instructions would take alone.
    """
    many = job.multiprocessors
    resident = max(min(job.resources.resident, ceil(job.each / many)), 1)
    iterations = steps(walk) / many
    found = multiplying + iterations * STEP
    if resident > 1:
        found += BESIDE * issuing
    elif job.resources.warps > GROUP:
        found += WITHIN * issuing
    else:
        found += issuing + iterations * ALONE
    if stages_of(job.kernel) <= 2:
        found += iterations * LATE / resident**2
    found += sum(map(steps, _inside(job, walk))) / many * LATE
    found += sum(map(steps, _before(job))) / many * BEFORE
    if _rows(walk) < ROWS * job.resources.warps:
        found *= SHARED_ROWS
    uneven = ceil(job.each / (many * resident)) * many * resident / job.each
    return found * uneven + ceil(job.each / (many * resident)) * BEGIN


def _inside(job: Job, last: StatementWalk) -> Iterator[StatementWalk]:
    """Yield the products that go in steps of their own inside of the loop: no load runs ahead."""
    for walk in job.kernel.walks:
        is_product = walk.statement.name in job.kernel.operand_dtypes
        if is_product and walk.joined and len(walk.nest) > len(last.nest):
            yield walk


def _before(job: Job) -> Iterator[StatementWalk]:
    """Yield the products that go in a loop of their own, before the joined one."""
    for walk in job.kernel.walks:
        if walk.statement.name in job.kernel.operand_dtypes and not walk.joined:
            yield walk


def _rows(walk: StatementWalk) -> int:
    """Return how many rows the last product has."""
    body = walk.statement.body
    assert isinstance(body, Dot)
    only = set(free_labels(body.left)) - set(free_labels(body.right))
    return lanes_of(walk, only)
