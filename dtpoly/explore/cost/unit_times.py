"""Estimates how long each unit of the device takes for a launch by itself."""

from collections.abc import Iterator
from math import ceil

from dtpoly.algorithm.expressions import Dot, free_labels
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.footprints import footprint
from dtpoly.explore.accesses.tile_counts import lanes_of, steps
from dtpoly.explore.cost.chained import chain_of, chained
from dtpoly.explore.cost.job import Job
from dtpoly.explore.cost.lane_products import (
    is_multiplied_by_lanes,
    issued_share,
    other_instructions,
    shared_clocks,
)
from dtpoly.explore.cost.traffic import waste_of
from dtpoly.explore.cost.waiting import PORT, waiting
from dtpoly.explore.devices.devices import Device
from dtpoly.explore.needs.product_units import ProductUnit, computed_sides, product_of

# What a call moves at its beginning takes longer, by this share of so many bytes: caches are full
# of what was written before, which goes to memory first. Fitted like the numbers of a device.
COLD, COLD_BYTES = 0.2, 1e8
# Of the instructions that a multiprocessor could issue.
ISSUED = 0.85
# How often a byte that has no register moves.
SPILLED = 4.0
# Columns from which on a product is as fast as it gets, and the fewest.
COLUMNS, FEWEST = 32, 8
MEMORY, L2, TENSOR, INSTRUCTIONS, SPECIAL, SHARED, LATENCY, ADDITIONS = (
    *("memory", "L2", "tensor cores", "instructions", "special functions"),
    *("shared memory", "latency", "atomic additions"),
)
LEAST_ADDED = 4  # bytes that an atomic addition takes at the least; of two it compares four


def limits(job: Job) -> Iterator[tuple[str, float]]:
    """Yield each unit of the device, and the seconds for which the kernel keeps it busy."""
    device, work, many = job.device, job.work, job.multiprocessors
    # The multiprocessor that has most programs decides.
    uneven = ceil(job.each / many) * many / job.each
    from_memory = sum(one.from_memory for one in job.operands)
    cold = 0.0 if job.is_warm else COLD * min(from_memory, COLD_BYTES)
    yield MEMORY, (from_memory + cold) / device.memory
    spilled = SPILLED * job.resources.spilled * job.programs * _tiles_of_a_program(job)
    spilled *= _touched_again(job)
    moved = sum(one.from_l2 for one in job.operands) + spilled
    ports = min(job.each, many) * PORT * device["clock"]
    yield L2, max(moved / device["l2_rate"], moved / ports)
    share = _share_of_products(job.kernel, device)
    products = sum(count / device.tensor(unit) for unit, count in work.products.items())
    yield TENSOR, products * uneven / share
    by_lanes = is_multiplied_by_lanes(job.kernel)
    issued = issued_share(job) if by_lanes else ISSUED
    instructions = work.instructions + (other_instructions(job) if by_lanes else 0.0)
    issuing = instructions / (device.issue * issued)
    yield INSTRUCTIONS, issuing * uneven
    yield SPECIAL, work.special * uneven / (device["special"] * many * device["clock"])
    yield SHARED, shared_clocks(job) * uneven / (device["clock"] * many)
    if added := _added(job):
        yield ADDITIONS, added
    chain = chain_of(job)
    yield LATENCY, chained(job, chain, products / share, issuing) if chain else waiting(job)


def _added(job: Job) -> float:
    """Return the seconds of additions to memory.

    L2 does them, one sector after another. Those to one element follow each other, so that few
    elements to which much is added take long; where an index is data, each gets its share.
    """
    moved, most = 0.0, 0.0
    for one in job.kernel.streams:
        if one.is_atomic:
            moved += one.loaded * max(one.size, LEAST_ADDED) * waste_of(one)
            most = max(most, one.loaded / max(footprint(one, {}), 1))
    return max(moved / job.device.atomic_rate, most * job.device.atomic_wait)


def _share_of_products(kernel: CostedKernel, device: Device) -> float:
    """Return the share of the tensor cores' rate that the tiles of products can reach."""
    share = 1.0
    for walk in kernel.walks:
        body = walk.statement.body
        if walk.statement.name in kernel.operand_dtypes and isinstance(body, Dot):
            free = [set(free_labels(side)) - set(body.labels) for side in (body.left, body.right)]
            both = free[0] & free[1]
            least = min(lanes_of(walk, side - both) for side in free)
            product = product_of(kernel, walk, device)
            if product is not None and product.unit is ProductUnit.WARP:
                share = min(share, device["warp_share"])
            if least < COLUMNS:
                share = min(share, device["warp_share"] * max(least, FEWEST) / COLUMNS)
    return share


def _touched_again(job: Job) -> int:
    """Count how often a tile goes over what is spilled.

    Lanes go over their sums at each index that is summed over. Where an operand is computed, that
    is what has no room, and each of its elements is multiplied at one index alone.
    """
    kernel, depth = job.kernel, 1
    if not job.resources.spilled or not is_multiplied_by_lanes(kernel):
        return 1
    for walk in kernel.walks:
        body = walk.statement.body
        if walk.statement.name in kernel.operand_dtypes and isinstance(body, Dot):
            if next(computed_sides(kernel, walk, body), None) is not None:
                return 1
            depth = max(depth, lanes_of(walk, body.labels))
    return depth


def _tiles_of_a_program(job: Job) -> float:
    """Count the tiles that a program computes in turn, of the statement with the most."""
    return max((steps(walk) / job.each for walk in job.kernel.walks), default=1.0)
