"""Varies a layout in ways that the cost model cannot tell apart, but a GPU may."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.autoschedule.nest import ALIGNED, KernelNest, MovedTensor
from dtpoly.plan.layout import Layout

UNIT = 64  # elements, of which tiles that are shifted are multiples


def variants(nest: KernelNest, layout: Layout) -> Iterator[Layout]:
    """Yield variants with other walks over lines, and with and without the copy engine."""
    if layout.descriptors:
        yield replace(layout, descriptors=())
    line = next((x for x, tile in layout.tiles if tile > 1 and x in nest.reduced), None)
    if line is None or nest.products:
        return
    walks = len(nest.sums) + (line in nest.labels)
    turned = (line,) if walks > 1 else ()
    ragged = tuple(dict.fromkeys(one.tensor for one in nest.loads if is_ragged(one, line)))
    is_one = all(size == 1 for _, size in layout.blocks)
    can_align = bool(ragged and is_one and layout.tile(line) % UNIT == 0)
    if can_align:
        yield replace(layout, aligned=ragged, turned=turned)
    if turned:
        yield replace(layout, turned=turned)
    if can_align and turned:
        yield replace(layout, aligned=ragged)


def is_ragged(one: MovedTensor, line: str) -> bool:
    """Return whether lines begin where memory is not aligned."""
    return len(one.shape) > 1 and line in one.contiguous and one.row % ALIGNED != 0
