"""Estimates what products of f32 cost that are exact, and so are multiplied without tensor cores.

Triton gives each thread squares of the result. For each index that is summed over, a thread reads a
column of one operand and a row of the other one from shared memory. It reads four numbers at once:
along the result's labels if these are contiguous in memory, and else along what is summed over.
Then the threads of a warp read from lines of shared memory that lie in the same banks, and wait for
each other. The constants are those of ten kernels that were measured on an H200 (docs/cost.md).
"""

from math import ceil

from dtpoly.algorithm.expressions import Dot, Expr, free_labels
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.tile_counts import StatementWalk, lanes_of, steps
from dtpoly.explore.cost.job import Job
from dtpoly.explore.cost.resources import WARP
from dtpoly.explore.cost.work import unit_of
from dtpoly.frozen import dataclass

AT_ONCE = 4  # numbers that a thread reads at once
SIDE_BY_SIDE = 8  # threads that read four numbers at once in a clock
# Clocks of a read for each line that the threads of a warp read from, if there are two and more.
OF_TWO, OF_MORE = 1.75, 2.5


@dataclass(frozen=True, slots=True)
class LaneSide:
    """The rows or the columns of a product: those of a thread, and the threads along them."""

    each: float
    threads: int


def is_multiplied_by_lanes(kernel: CostedKernel) -> bool:
    """Return whether a kernel multiplies tiles without tensor cores."""
    precision = kernel.launch.precision
    return any(unit_of(dtype, precision) is None for dtype in kernel.operand_dtypes.values())


def warps_at_once(job: Job) -> int:
    """Return how many warps a multiprocessor has at a time."""
    most = job.kernel.launch.each or ceil(job.each / job.multiprocessors)
    return job.resources.warps * max(min(job.resources.resident, most), 1)


def shared_clocks(job: Job) -> float:
    """Return the clocks in which all programs together read operands from shared memory."""
    precision = job.kernel.launch.precision
    found = 0.0
    for walk in job.kernel.walks:
        dtype = job.kernel.operand_dtypes.get(walk.statement.name)
        if dtype is not None and unit_of(dtype, precision) is None:
            found += _clocks_of_a_step(job, walk) * steps(walk)
    return found


def _clocks_of_a_step(job: Job, walk: StatementWalk) -> float:
    """Return the clocks of one step of a program."""
    body = walk.statement.body
    assert isinstance(body, Dot)
    sides = [tuple(x for x in free_labels(e) if x not in body.labels) for e in _operands(body)]
    both = set(sides[0]) & set(sides[1])
    labels = walk.statement.free
    own = [[x for x in labels if x in side and x not in both] for side in sides]
    own.sort(
        key=lambda side: labels.index(side[0]) if side else 0
    )  # those that come first are rows
    rows, columns = (lanes_of(walk, side) for side in own)
    warps = job.resources.warps
    across = _sides(rows, columns, warps)
    clocks = sum(
        _clocks_of_a_read(job, walk, side, one) for side, one in zip(own, across, strict=True)
    )
    return clocks * warps * lanes_of(walk, body.labels)


def _operands(body: Dot) -> tuple[Expr, Expr]:
    return body.left, body.right


def _sides(rows: int, columns: int, warps: int) -> tuple[LaneSide, LaneSide]:
    """Return how Triton shares a tile among threads: squares, columns first."""
    each = rows * columns / (warps * WARP)
    square = 4 if each >= 16 else 2 if each >= 4 else 1
    along = min(WARP, max(columns // square, 1))
    down = WARP // along
    beside = min(warps, max(columns // (square * along), 1))
    below = warps // beside
    return (
        LaneSide(max(rows / (down * below), 1), down),
        LaneSide(max(columns / (along * beside), 1), along),
    )


def _clocks_of_a_read(job: Job, walk: StatementWalk, side: list[str], one: LaneSide) -> float:
    """Return the clocks in which a warp reads one operand at one index that is summed over."""
    reads = max(one.each / AT_ONCE, 1 / AT_ONCE)
    if _is_contiguous(job.kernel, walk, side):
        return max(reads, 1.0) * max(one.threads / SIDE_BY_SIDE, 1)
    return reads * one.threads * (OF_TWO if one.threads <= 2 else OF_MORE)


def _is_contiguous(kernel: CostedKernel, walk: StatementWalk, side: list[str]) -> bool:
    """Return whether an operand's labels in the result are contiguous, in memory and in a tile.

    A tile of several labels is made of another one, in which they are apart.
    """
    wide = [x for x in side if walk.spans.get(x, 1) > 1]
    for stream in kernel.streams:
        if stream.walk is walk and stream.is_operand and stream.labels & set(side):
            terms = dict(stream.indices[-1].terms)
            return len(wide) == 1 and terms.get(wide[0]) == 1
    return False
