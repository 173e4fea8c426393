"""Marks the loop of a kernel, so that some warps load while the others compute.

Triton then cuts the block of a product into two halves, for two groups of warps that compute. It
can do so only with what is loaded through descriptors that the kernel makes itself, because the
blocks of the caller's descriptors cannot be cut. For the second group, Triton moves the start of a
block's rows. Wherever the number of a row is computed from that start, it moves that number, too,
so that it moves twice as far (Triton 3.6 to 3.9). So rows may be asked for only through
descriptors, which take the start alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.ir.covered import covering
from dtpoly.ir.kernel import (
    Address,
    Described,
    Fill,
    ForLoop,
    GivenScalar,
    Instruction,
    Lanes,
    Let,
    Load,
    LoopScalar,
    Mask,
    Product,
    Step,
    Store,
    TiledLoop,
    TileKernel,
)
from dtpoly.ir.kinds import REAL
from dtpoly.ir.launch_steps import MakeDescriptor
from dtpoly.ir.parts import inside, nested
from dtpoly.ir.tile_values import IndexValue, Test, Value
from dtpoly.plan.launch import LEAST_ROWS

from .descriptors import Wish

OUTSIDE = Address | Fill | GivenScalar | Lanes | Mask | LoopScalar

Made = tuple[tuple[Step, ...], tuple[MakeDescriptor, ...]]


def specialized(
    body: tuple[Step, ...],
    described: Sequence[Described],
    wishes: Mapping[str, Wish],
    *,
    is_persistent: bool,
) -> Made:
    """Return the body and the descriptors that the kernel makes; none if it cannot be so.

    The body is one loop that adds products of two tiles, and before and after it what is done
    with single elements.
    """
    by_name = {wish.name: wish for wish in wishes.values()}
    own = [_own(one, by_name[one.name]) for one in described]
    loops = [at for at, one in enumerate(body) if isinstance(one.instruction, TiledLoop)]
    if len(loops) != 1 or not own or not all(own):
        return body, ()
    (at,) = loops
    step, around = body[at], (*body[:at], *body[at + 1 :])
    loop = step.instruction
    assert isinstance(loop, TiledLoop)
    row = _row(covering(step).instruction) if loop.covered else None
    if row is None or not all(_is_outside(one.instruction, row) for one in around):
        return body, ()
    made = tuple(one for one in own if one is not None)
    if is_persistent:  # it is said of the loop over blocks then
        return body, made
    step = replace(step, instruction=replace(loop, is_specialized=True))
    return (*body[:at], step, *body[at + 1 :]), made


def multiplied(kernel: TileKernel) -> frozenset[str]:
    """Return the tensors that a kernel loads through descriptors, to multiply them."""
    loads = (one for one in inside(kernel.body) if isinstance(one, Load) and one.block is not None)
    variables = {one.tensor for one in loads}
    return frozenset(one.name for one in kernel.tensors if one.variable in variables)


def most_bytes(kernel: TileKernel) -> int:
    """Return the largest size, in bytes, of the numbers that tensor cores multiply for a kernel."""
    products = (one for one in inside(kernel.body) if isinstance(one, Product))
    return 4 if any(one.precision == "tf32" for one in products) else 2


def _own(one: Described, wish: Wish) -> MakeDescriptor | None:
    """Return a descriptor of a matrix as it lies in memory, whose sizes the kernel knows."""
    sizes = tuple(min(some) for some in wish.extents if some)
    if one.axes != (0, 1) or 1 in one.block or len(sizes) != len(wish.extents):
        return None
    return MakeDescriptor(one.name, wish.variable, sizes, one.block)


def _row(loop: Instruction) -> str | None:
    """Return the axis of rows of a loop that multiplies two matrices from descriptors.

    It adds their product to floats. None for any other loop.
    """
    if not isinstance(loop, ForLoop) or not loop.is_pipelined or loop.unroll > 1:
        return None
    match [one.instruction for one in loop.body]:
        case [Load() as one, Load() as other, Product() as product]:
            sides = {one.axes: one.block, other.axes: other.block}
        case _:
            return None
    left, right = sides.get(product.left_axes), sides.get(product.right_axes)
    if left is None or right is None or product.dtype not in (REAL, DType.F32):
        return None
    if left.descriptor == right.descriptor:  # of which only the left one's blocks would be cut
        return None
    is_cut = left.order == (0, 1) and len(right.order) == 2 and left.shape[0] >= LEAST_ROWS
    return product.left_axes[0] if is_cut else None


def _is_outside(one: Instruction, row: str) -> bool:
    """Return whether an instruction computes single elements, none of which says what row it is in.

    What is loaded is the same for all rows, and what is stored goes through a descriptor.
    """
    match one:
        case Load(block=block, axes=axes):
            return block is None and row not in axes
        case Store(block=block, value=value):
            return block is not None and block.order == (0, 1) and not _asks(value, row)
        case Let(value=value):
            return not _asks(value, row)
        case _:
            return isinstance(one, OUTSIDE)


def _asks(value: Value, row: str) -> bool:
    """Return whether a value is made of the numbers of rows."""
    return any(isinstance(one, IndexValue | Test) and row in one.axes for one in nested(value))
