"""Cuts the tile of a store into boxes that have the shape of a descriptor's block.

`descriptors` calls this where the block is smaller than the tile. The tile is halved along an axis,
again and again, until each part has the shape of the block.
"""

from dataclasses import replace
from math import prod

from dtpoly.ir.kernel import Box, DescribedBlock, Halved

from .building import Unsupported
from .python_names import fresh

MOST = 8  # boxes of a tile, which are written one after another


def in_boxes(
    block: DescribedBlock, tile: tuple[int, ...], variable: str, taken: set[str]
) -> DescribedBlock:
    """Return the block with parts of its tile that have its shape, each with a name of its own.

    Both have powers of two along their axes; a tile like the block stays whole. Raises Unsupported.
    """
    if tile == block.shape:
        return block
    number = prod(tile) // prod(block.shape)
    if number > MOST:
        raise Unsupported(f"a tile would be stored in {number} boxes, and {MOST} is the most")
    halved: list[Halved] = []
    boxes = [Box("", (0,) * len(tile))]
    shape = tile
    while shape != block.shape:
        axis = next(at for at, n in enumerate(shape) if n > block.shape[at])
        both = [_halves(one, shape, axis, variable, taken) for one in boxes]
        halved += [half for half, _ in both]
        boxes = [part for _, parts in both for part in parts]
        shape = (*shape[:axis], shape[axis] // 2, *shape[axis + 1 :])
    return replace(block, halved=tuple(halved), boxes=tuple(boxes))


def _halves(
    one: Box, shape: tuple[int, ...], axis: int, variable: str, taken: set[str]
) -> tuple[Halved, tuple[Box, Box]]:
    """Cut a part of the tile, which has the given shape, into two halves along an axis."""
    words = ("left", "right") if axis == len(shape) - 1 else ("upper", "lower")
    first, second = (fresh(f"{one.name or variable}_{word}", taken) for word in words)
    taken |= {first, second}
    at = one.offsets[axis] + shape[axis] // 2
    behind = Box(second, (*one.offsets[:axis], at, *one.offsets[axis + 1 :]))
    return Halved(one.name, shape, axis, first, second), (Box(first, one.offsets), behind)
