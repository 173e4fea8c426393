"""Prefers some layouts to others that the cost model takes for equally fast.

The cost model does not tell apart what differs in these ways alone, or only by chance. What it does
tell apart these shares are too small to turn round.
"""

from collections.abc import Iterable
from math import log2, prod

from dtpoly.autoschedule.nest import KernelNest
from dtpoly.explore.devices.devices import Device
from dtpoly.explore.needs.resources import Resources
from dtpoly.plan.layout import Layout

WARP = 32
# Elements of a thread that keep its loads wide and leave others room.
FEW, LOTS = 8, 32
# Of a line side by side, and warps that hide what each of them waits for.
LINE, WARPS, SHORTER_LINE, ALONE = 1024, 4, 0.002, 0.002
EACH_DOUBLING, NARROW, SHALLOW, FEWER_STAGES = 0.004, 0.004, 0.006, 0.003
PLAIN_ORDER, OTHER_GROUPS, USUAL_GROUP = 0.004, 0.001, 8
DEEP = 128  # bytes
# The other way round than tensor cores take 32-bit operands, and element by element: what either
# costs was measured at 4 and at 3 times the time. Half of that is enough to be behind.
TURNED, BY_ELEMENT = 1.0, 1.0
HOPPER = 90
# Bytes of a thread that have no register: some hardly cost anything. How much longer a kernel with
# more takes is not known well: for some, the cost model is two to five times too fast.
FEW_SPILLED, MANY_SPILLED = 64, 256
LANES_WIDTH = 4  # bytes of what is multiplied without tensor cores, or as tf32
# Elements that rows must be multiples of for Triton to see it; and for a kernel to be told.
WIDE, FOURS = 16, 4


def reluctance(nest: KernelNest, layout: Layout, device: Device) -> float:
    """Return a share of the time."""
    if not nest.products:
        return _of_threads(nest, layout)
    return _of_products(nest, layout) + of_operands(nest, device, layout.precision)


def spilling(every: Iterable[Resources]) -> float:
    """Return the extra time of kernels that spill, as a share, beyond what the cost model says."""
    most = max((one.spilled / (WARP * one.warps) for one in every), default=0.0)
    return max(most - FEW_SPILLED, 0.0) / MANY_SPILLED


def is_by_lanes(nest: KernelNest, precision: str) -> bool:
    """Return whether threads multiply, and no tensor cores: numbers of 32 bits, exactly."""
    width = max((one.size for one in nest.loads if one.is_operand), default=0)
    return width == LANES_WIDTH and not precision


def is_hopper(device: Device) -> bool:
    """Return whether it has a copy engine for tiles, and tensor cores that read shared memory."""
    kind, _, number = str(device.target).partition(":")
    return kind == "cuda" and int(number) >= HOPPER


def of_operands(nest: KernelNest, device: Device, precision: str) -> float:
    """Return the extra time of loads that lie badly; no layout of this kernel changes that.

    Where threads multiply, and not tensor cores, the cost model counts it.
    """
    share = 0.0
    if is_by_lanes(nest, precision):
        return share
    summed = {label for one in nest.products for label in one.labels}
    for one in nest.loads:
        if one.is_operand and one.shape:
            is_row = bool(summed & {*one.contiguous})
            share += TURNED if is_hopper(device) and one.size == 4 and not is_row else 0.0
            is_ragged = not one.is_between and one.shape[-1] % FOURS != 0
            share += BY_ELEMENT if is_ragged and one.shape[-1] > 1 else 0.0
    return share


def _of_threads(nest: KernelNest, layout: Layout) -> float:
    spans = {x: layout.tile(x) or layout.block(x) or nest.sizes[x] for x in nest.sizes}
    labels = dict.fromkeys((*nest.labels, *nest.reduced))
    each = prod(spans[x] for x in labels) / (layout.warps * WARP)
    away = max(log2(FEW / each), log2(each / LOTS), 0.0) if each else 0.0
    line = next(iter(nest.contiguous()), "")
    short = max(log2(min(LINE, nest.sizes.get(line, 1)) / max(spans.get(line, 1), 1)), 0.0)
    alone = max(log2(WARPS / layout.warps), 0.0)
    return EACH_DOUBLING * away + SHORTER_LINE * short + ALONE * alone


def _of_products(nest: KernelNest, layout: Layout) -> float:
    one = nest.products[-1]
    blocks = dict(layout.blocks)
    rows = prod(blocks.get(x, 1) for x in nest.labels if x in one.left)
    columns = prod(blocks.get(x, 1) for x in nest.labels if x in one.right)
    width = max((load.size for load in nest.loads if load.is_operand), default=4)
    deep = prod(layout.tile(x) or nest.sizes[x] for x in one.labels) * width
    share = NARROW if columns < rows else 0.0
    share += SHALLOW * abs(log2(deep / DEEP)) if deep else 0.0
    share += FEWER_STAGES * max(4 - layout.stages, 0)
    if layout.group is None:
        return share + (PLAIN_ORDER if layout.order else 0.0)
    return share + OTHER_GROUPS * abs(log2(layout.group.count / USUAL_GROUP))
