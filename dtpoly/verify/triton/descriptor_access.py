"""Translate loads and stores through a tensor descriptor to loads and stores by address and mask.

A block starts at an index for each axis. Outside of the shape nothing is stored, and 0 is loaded:
that is what the mask says. Triton computes these addresses in 64 bits. The caller must see to it
that the address and the strides are multiples of 16 bytes.
"""

from __future__ import annotations

import ast
from math import prod

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    DescriptorValue,
    NoneValue,
    PointerValue,
    TileValue,
    TupleValue,
    Unread,
    Value,
    scalar,
)
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.term_building import literal
from dtpoly.verify.algebra.whole import FALSE, TRUE, Truth, Whole, both, name, number, within
from dtpoly.verify.triton import accessing
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.product_axes import shape_of
from dtpoly.verify.triton.python_operators import exact, restored
from dtpoly.verify.triton.reader import Reader

WORDS = ("shape", "strides", "block_shape")
# Types of indices at which a block may start. Where there is a descriptor, 32 bits hold them.
STARTS = ("tl.int32", kinds.WEAK, kinds.SIZE, kinds.OFFSET)
NUMBERS = (*STARTS, "tl.int64")
# Triton compiles no descriptor whose blocks have shorter rows.
LEAST_BYTES = 16
# The copy engine writes a block only to such a multiple of shared memory.
BLOCK_BYTES = 128
MOST_AXES = 5


def made(
    read: Reader, args: list[ast.expr], named: dict[str, ast.expr], node: ast.Call
) -> DescriptorValue:
    """Evaluate `tl.make_tensor_descriptor(pointer, shape, strides, block_shape)`."""
    state = read.state
    given = dict(zip(WORDS, args[1:], strict=False)) | named
    if set(given) != set(WORDS) or len(args) > 4:
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    shape, strides, sizes = (numbers_in(read, given[word]) for word in WORDS)
    block = tuple(size.constant or 0 for size in sizes)
    for part in shape:
        # Triton keeps only 32 bits of each size, so they must hold it.
        state.looked_at(part, "tl.int32", node.lineno, is_cut=True)
    pointer = read.tile(args[0])
    if not isinstance(pointer.item, PointerValue) or pointer.axes:
        raise Unread(node.lineno, "a descriptor of what is not one address")
    is_box = all(size > 0 and size & (size - 1) == 0 for size in block)
    if not len(shape) == len(strides) == len(block) or not is_box or strides[-1] != number(1):
        raise Unread(node.lineno, "a descriptor whose shape, strides and block do not agree")
    if len(block) > MOST_AXES:
        state.doubt(node.lineno, f"a descriptor of more than {MOST_AXES} axes")
    # If the caller decides the type, its bytes are not known here: the emitted file sees to it.
    if block[-1] * kinds.BYTES.get(pointer.kind, LEAST_BYTES) < LEAST_BYTES:
        state.doubt(node.lineno, "a descriptor of rows of less than 16 bytes")
    if prod(block) * kinds.BYTES.get(pointer.kind, BLOCK_BYTES) < BLOCK_BYTES:
        # Where a loop loads blocks ahead, the next one begins where no descriptor may write.
        state.doubt(node.lineno, "a descriptor of a block of less than 128 bytes")
    return DescriptorValue(pointer, shape, strides, block)


def numbers_in(
    read: Reader, node: ast.expr, allowed: tuple[str, ...] = NUMBERS
) -> tuple[Whole, ...]:
    """Return the whole numbers of a list of one or more. Raises Unread."""
    state = read.state
    value = read.value(node)
    parts = value.parts if isinstance(value, TupleValue) else ()
    found: list[Whole] = []
    for part in (restored(one) if isinstance(one, TileValue) else one for one in parts):
        if not isinstance(part, TileValue) or part.axes or not isinstance(part.item, Whole):
            raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a list of whole numbers")
        if part.kind not in allowed:
            raise Unread(node.lineno, f"'{ast.unparse(node)}' in a type that is none for it")
        exact(state, part, node.lineno)
        state.leaves(part, node.lineno)
        found.append(part.item)
    if not found:
        raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a list of whole numbers")
    return tuple(found)


def _is_there(state: KernelState, there: Truth) -> bool:
    """Return whether a condition follows from what holds at the current statement."""
    here = both(state.facts, state.here())
    return is_affine(both(here, there)) and state.run.holds(there, set_of(here))


def call(read: Reader, of: DescriptorValue, word: str, node: ast.Call) -> Value:
    """Evaluate `descriptor.load(starts)` or `descriptor.store(starts, value)`."""
    state = read.state
    args = node.args
    if node.keywords or len(args) != (1 if word == "load" else 2):
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    if of.there != TRUE and not _is_there(state, of.there):
        raise Unread(node.lineno, f"'{ast.unparse(node)}': there may be no such descriptor")
    starts = numbers_in(read, args[0], STARTS)
    if len(starts) != len(of.block):
        raise Unread(node.lineno, f"'{ast.unparse(node)}': the descriptor has {len(of.block)} axes")
    axes: list[str | None] = []
    where: Truth = TRUE
    assert isinstance(of.pointer.item, PointerValue)
    if of.pointer.item.data:
        raise Unread(node.lineno, "a descriptor of what begins at data")
    offset = of.pointer.item.offset
    for start, size, stride, count in zip(starts, of.shape, of.strides, of.block, strict=True):
        lane = state.lane(number(count))
        axes.append(lane)
        index = start + (name(lane) if lane else number(0))
        where = both(where, within(number(0), index, size))
        offset = offset + index * stride
    state.described.add(of.pointer.item.tensor)
    pointer = TileValue(tuple(axes), PointerValue(of.pointer.item.tensor, offset), of.pointer.kind)
    mask = TileValue(tuple(axes), where)
    if word == "load":
        outside = FALSE if state.arrays[of.pointer.item.tensor].kind == kinds.BOOL else literal(0)
        return accessing.load(state, pointer, mask, scalar(outside), node.lineno)
    value = read.tile(args[1])
    if len(value.axes) != len(axes):
        raise Unread(node.lineno, f"'{ast.unparse(node)}': what is stored has other axes")
    if shape_of(state, value.axes) != tuple(map(number, of.block)):
        state.doubt(node.lineno, "a store of another shape than the descriptor has")
    accessing.store(state, "store", pointer, value, mask, node.lineno)
    return NoneValue()


def check(state: KernelState) -> None:
    """Raise Unread for a tensor with a descriptor that a kernel both loads and stores.

    A store through a descriptor may not be visible to a load by address, or the other way round,
    even with barriers between them.
    """
    for one in state.accesses:
        if one.kind != "load" and one.tensor in state.described:
            for other in state.accesses:
                if other.kind == "load" and other.tensor == one.tensor:
                    what = f"'{one.tensor}' is loaded and stored, and not by address alone"
                    raise Unread(other.line, what)
