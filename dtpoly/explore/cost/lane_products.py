"""Estimates what products of f32 cost that are exact, and so are multiplied without tensor cores.

Triton gives each thread squares of the result. For each index that is summed over, a thread reads a
column of one operand and a row of the other one from shared memory. It reads four numbers at once:
along the result's labels if these are contiguous in memory, and else along what is summed over.
Then the threads of a warp read from lines of shared memory that lie in the same banks, and wait for
each other. An operand of several labels is put together in registers, and goes through shared
memory once more. The constants are those of 340 times (docs/cost.md).
"""

from collections.abc import Iterator
from math import ceil

from dtpoly.algorithm.expressions import Dot, Expr, free_labels
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import StatementWalk, lanes_of, steps
from dtpoly.explore.cost.job import Job
from dtpoly.explore.needs.product_units import unit_of
from dtpoly.explore.needs.resources import SQUARE, WARP, LaneSide, lane_sides
from dtpoly.frozen import dataclass

PHASES = 4  # in which a warp reads four numbers a thread, of eight threads at a time
BESIDE = 8
# Of the instructions that a multiprocessor could issue, those that it does issue, also because its
# clock goes down; and a clock of shared memory in clocks of the data sheet.
ISSUED, SHARED_CLOCK = 0.78, 1.08
# Instructions of a thread in each step beside those that multiply and read operands; and where a
# loop goes over several labels, of which it computes each index.
EACH_STEP, FLATTENED = 40, 60
# Warps of a multiprocessor with which that rate is reached, and the share of it with one for each
# scheduler, of which there are four.
BUSY, SCHEDULERS, ALONE = 12, 4, 0.79
# Sums of a thread between which it can wait for what it reads, and how fewer make it slower.
MANY_SUMS, SHORT = 32, 0.25
# Bytes of a loop that stay near a multiprocessor, those of an instruction with what is beside it,
# and how much longer a loop takes that does not stay there, if no other warps issue meanwhile.
NEAR_CODE, INSTRUCTION, FAR_CODE, HIDDEN = 32768, 18, 0.45, 8
# Clocks for each element of an operand that is put together of several labels, of which some
# belong to one side of the result; and where only what is summed up has several.
OF_SIDES, OF_SUMS = 5.0, 0.6


@dataclass(frozen=True, slots=True)
class LaneProduct:
    """A product in a kernel: the two sides of its tile, with their labels, rows first."""

    walk: StatementWalk
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    sides: tuple[LaneSide, LaneSide]

    @property
    def sums(self) -> float:
        """Return how many sums a thread has."""
        return self.sides[0].each * self.sides[1].each

    @property
    def depth(self) -> int:
        """Return how many indices a step sums over."""
        body = self.walk.statement.body
        assert isinstance(body, Dot)
        return lanes_of(self.walk, body.labels)


def is_multiplied_by_lanes(kernel: CostedKernel) -> bool:
    """Return whether a kernel multiplies tiles without tensor cores."""
    precision = kernel.launch.precision
    return any(unit_of(dtype, precision) is None for dtype in kernel.operand_dtypes.values())


def lane_products(kernel: CostedKernel, warps: int) -> Iterator[LaneProduct]:
    """Yield the products that a kernel multiplies so."""
    for walk in kernel.walks:
        dtype = kernel.operand_dtypes.get(walk.statement.name)
        if dtype is None or unit_of(dtype, kernel.launch.precision) is not None:
            continue
        body = walk.statement.body
        assert isinstance(body, Dot)
        every = [{x for x in free_labels(e) if x not in body.labels} for e in _operands(body)]
        both = every[0] & every[1]
        order = walk.statement.free
        own = [tuple(x for x in order if x in side - both) for side in every]
        own.sort(key=lambda side: order.index(side[0]) if side else 0)  # the first has the rows
        sides = lane_sides(lanes_of(walk, own[0]), lanes_of(walk, own[1]), warps)
        yield LaneProduct(walk, (own[0], own[1]), sides)


def warps_at_once(job: Job) -> int:
    """Return how many warps a multiprocessor has at a time."""
    most = job.kernel.launch.each or ceil(job.each / job.multiprocessors)
    return job.resources.warps * max(min(job.resources.resident, most), 1)


def other_instructions(job: Job) -> float:
    """Return the instructions of all lanes that read operands, and that steps have beside that."""
    found = 0.0
    for one in lane_products(job.kernel, job.resources.warps):
        body = one.walk.statement.body
        assert isinstance(body, Dot)
        read = sum(side.each for side in one.sides) / SQUARE * one.depth
        beside = EACH_STEP + (FLATTENED if len(body.labels) > 1 else 0)
        found += (read + beside) * job.resources.warps * WARP * steps(one.walk)
    return found


def issued_share(job: Job) -> float:
    """Return the share of instructions that are issued of those that could be."""
    warps = warps_at_once(job)
    few = max(BUSY - max(warps, SCHEDULERS), 0) / (BUSY - SCHEDULERS)
    share = ISSUED * min(warps / SCHEDULERS, 1) * (1 - (1 - ALONE) * few)
    every = [*lane_products(job.kernel, job.resources.warps)]
    share *= float(min(min(one.sums for one in every) / MANY_SUMS, 1) ** SHORT)
    if max(one.sums * one.depth for one in every) * INSTRUCTION > NEAR_CODE:
        open_share = min(max(HIDDEN - warps, 0) / (HIDDEN - SCHEDULERS), 1)
        share /= 1 + FAR_CODE * open_share
    return share


def shared_clocks(job: Job) -> float:
    """Return the clocks in which all programs together read operands from shared memory."""
    found = 0.0
    for one in lane_products(job.kernel, job.resources.warps):
        rows, columns = one.sides
        clocks = _of_rows(rows, _is_contiguous(job.kernel, one, 0))
        clocks += _of_columns(columns, _is_contiguous(job.kernel, one, 1))
        each = clocks * job.resources.warps * one.depth
        apart = sum(s.tile * _put_together(one, s) for s in _operand_streams(job.kernel, one.walk))
        found += (each + apart) * steps(one.walk)
    return SHARED_CLOCK * found


def _operands(body: Dot) -> tuple[Expr, Expr]:
    return body.left, body.right


def _of_rows(side: LaneSide, is_contiguous: bool) -> float:
    """Return the clocks in which a warp reads what belongs to its rows at one index.

    Threads in a row read the same. Those in different rows read from the same banks, if an operand
    is contiguous along what is summed up.
    """
    if is_contiguous:
        return side.each / min(side.square, SQUARE) * max(side.threads / 2, 1.0)
    return side.each / SQUARE * side.threads


def _of_columns(side: LaneSide, is_contiguous: bool) -> float:
    """Return the same for its columns, along which threads are numbered: eight read at a time."""
    if side.threads == 1:
        return side.each / SQUARE
    if is_contiguous:
        return side.each / min(side.square, SQUARE) * min(side.square, PHASES)
    return side.each / SQUARE * PHASES * min(side.threads, BESIDE)


def _operand_streams(kernel: CostedKernel, walk: StatementWalk) -> Iterator[AccessStream]:
    return (s for s in kernel.streams if s.walk is walk and s.is_operand)


def _put_together(one: LaneProduct, stream: AccessStream) -> float:
    """Return the clocks for each element of an operand whose tile is made of several labels."""
    body = one.walk.statement.body
    assert isinstance(body, Dot)
    wide = {x for x in stream.labels if one.walk.spans.get(x, 1) > 1}
    if any(len(wide & {*side}) > 1 for side in one.labels):
        return OF_SIDES
    return OF_SUMS if len(wide & {*body.labels}) > 1 else 0.0


def _is_contiguous(kernel: CostedKernel, one: LaneProduct, at: int) -> bool:
    """Return whether an operand's labels in the result are contiguous, in memory and in a tile.

    A tile of several labels is made of another one, in which they are apart.
    """
    side = one.labels[at]
    wide = [x for x in side if one.walk.spans.get(x, 1) > 1]
    for stream in _operand_streams(kernel, one.walk):
        if stream.labels & {*side}:
            terms = dict(stream.indices[-1].terms)
            return len(wide) == 1 and terms.get(wide[0]) == 1
    return False
