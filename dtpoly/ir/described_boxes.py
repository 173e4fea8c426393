"""Complains of loads and stores through descriptors that are no boxes of their parameters."""

from collections.abc import Iterator
from math import prod

from dtpoly.ir.kernel import Described, DescribedBlock, Load, Pointer, Store
from dtpoly.ir.tile_types import Shape, Types


def wrong_boxes(
    types: Types, one: Load | Store, pointer: Pointer, described: Described
) -> Iterator[str]:
    """Yield why an access is no box of a descriptor, which is a parameter of the kernel."""
    block = one.block
    if block is None:
        return
    name = described.name
    if described.tensor != pointer.name:
        yield f"'{name}' describes '{described.tensor}', and '{one.tensor}' is accessed"
    own = tuple(described.block[axis] for axis in described.axes)
    if len(block.starts) != len(own):
        yield f"'{name}' has {len(own)} axes, and {len(block.starts)} starts here"
        return
    units = len(own) - len(block.shape)
    if (1,) * units + block.shape != own:
        yield f"'{name}' has blocks of {_size(own)}, and {_size(block.shape)} is asked for"
    elif sorted(block.order) != [*range(len(block.shape))]:
        yield f"the axes of a block of '{name}' are no order of {len(block.shape)}"
    else:
        yield from _other_tile(types, one, block)


def _other_tile(types: Types, one: Load | Store, block: DescribedBlock) -> Iterator[str]:
    """Report a block that is not the tile, or boxes that do not make the tile together."""
    tile = types.shape(one.axes)
    if tile is None:
        return
    shape = tuple(block.shape[axis] for axis in block.order)
    if not block.boxes:
        if tile != shape:
            yield f"a tile of {_size(tile)} is accessed in a block of {_size(shape)}"
        return
    lanes = prod(count for count in tile if isinstance(count, int))
    if len(block.boxes) * prod(shape) != lanes:
        yield f"{len(block.boxes)} boxes of {_size(shape)} are no tile of {_size(tile)}"


def _size(shape: Shape) -> str:
    return " x ".join(map(str, shape)) or "1"
