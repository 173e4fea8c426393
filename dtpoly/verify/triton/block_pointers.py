"""Translate loads and stores through block pointers to loads and stores by address and mask.

A block pointer is an address with a shape, strides, and for each axis the index at which a block
begins. Nothing of it is checked when it is made. A load or a store looks at the shape only along
the axes that its `boundary_check` lists: along all others the whole block must be in memory. Beside
the shape nothing is stored. What is loaded there is 0 or nan if `padding_option` says so; without
it, that is undefined. Triton counts indices and addresses of blocks in 64 bits, and takes offsets
of 32 bits.

A name that holds a block pointer has a name of its own for each offset, so that loops and branches
treat an offset as any other number. What else a block pointer has must stay as it is.
"""

from __future__ import annotations

import ast

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    BlockPointerValue,
    NoneValue,
    PointerValue,
    TextValue,
    TileValue,
    TupleValue,
    Value,
    scalar,
)
from dtpoly.verify.algebra.term_building import literal
from dtpoly.verify.algebra.terms import Literal
from dtpoly.verify.algebra.whole import TRUE, Truth, Whole, both, name, number, within
from dtpoly.verify.triton import accessing
from dtpoly.verify.triton.descriptor_access import NUMBERS, STARTS, numbers_in
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.operands import Operands
from dtpoly.verify.triton.product_axes import axis_of, shape_of
from dtpoly.verify.triton.typed_operations import of_tile

MADE = ("base", "shape", "strides", "offsets", "block_shape", "order")
CHECKED, PADDED = "boundary_check", "padding_option"
OPTIONS = (CHECKED, PADDED)


def made(given: Operands) -> BlockPointerValue:
    """Evaluate `tl.make_block_ptr(base, shape, strides, offsets, block_shape, order)`."""
    if set(given.by_name) != set(MADE):
        raise given.refused()
    pointer = given.read.tile(given.by_name["base"])
    if not isinstance(pointer.item, PointerValue) or pointer.axes or pointer.item.data:
        raise given.refused(": its base is not one address")
    if pointer.kind == kinds.BOOL:
        raise given.refused(": blocks of truths are not read")
    shape, strides = (
        numbers_in(given.read, given.by_name[word], NUMBERS) for word in ("shape", "strides")
    )
    offsets = numbers_in(given.read, given.by_name["offsets"], STARTS)
    block = _sizes(given, given.by_name["block_shape"])
    order = _constants(given, given.by_name["order"])
    if not all(map(_is_power, block)) or sorted(order) != [*range(len(block))]:
        raise given.refused(": its block or its order is none")
    if not len(shape) == len(strides) == len(offsets) == len(block):
        raise given.refused(": its shape, strides, offsets and block do not agree")
    starts = tuple(_offset(given.state, one, given.line) for one in offsets)
    return BlockPointerValue(pointer, shape, strides, block, starts)


def advanced(given: Operands) -> BlockPointerValue:
    """Evaluate `tl.advance(pointer, offsets)`, which changes nothing but what it returns."""
    if set(given.by_name) != {"base", "offsets"}:
        raise given.refused()
    of = given.read.value(given.by_name["base"])
    if not isinstance(of, BlockPointerValue):
        raise given.refused(": it moves what is no block pointer")
    steps = numbers_in(given.read, given.by_name["offsets"], STARTS)
    if len(steps) != len(of.block):
        raise given.refused(f": the block has {len(of.block)} axes")
    starts = tuple(
        _offset(given.state, at(start) + step, given.line)
        for start, step in zip(of.offsets, steps, strict=True)
    )
    return BlockPointerValue(of.pointer, of.shape, of.strides, of.block, starts)


def loaded(given: Operands, of: BlockPointerValue) -> TileValue:
    """Evaluate a load of a block."""
    if {"mask", "other"} & set(given.by_name):
        raise given.refused(": a block is loaded without 'mask' and 'other'")
    pointer, mask = _block(given, of)
    kind = given.state.arrays[_tensor(of)].kind
    other = _padding(given, kind)
    return accessing.load(given.state, pointer, mask, None if mask is None else other, given.line)


def stored(given: Operands, of: BlockPointerValue) -> NoneValue:
    """Evaluate a store of a block, which needs a value of its shape and type, or one number."""
    if given.word != "store" or {"mask", PADDED} & set(given.by_name):
        raise given.refused(": a block is stored without 'mask' and padding")
    value = given.tile(1)
    pointer, mask = _block(given, of)
    is_alike = len(value.axes) == len(pointer.axes) and shape_of(
        given.state, value.axes
    ) == shape_of(given.state, pointer.axes)
    if value.axes and not is_alike:
        raise given.refused(": what is stored has another shape than the block")
    kind = given.state.arrays[_tensor(of)].kind
    if of_tile(value) != kind:
        what = "some versions of Triton store only values of the type of the block"
        given.state.doubt(given.line, f"{given.text}: {what}")
    accessing.store(given.state, "store", pointer, value, mask, given.line)
    return NoneValue()


def at(offset: TileValue) -> Whole:
    """Return the number of an offset."""
    assert isinstance(offset.item, Whole), "offsets are whole numbers"
    return offset.item


def _offset(state: KernelState, item: Whole, line: int) -> TileValue:
    """Return an offset, which must fit into 32 bits: some versions count it in as many."""
    state.looked_at(item, "tl.int32", line, is_cut=True)
    return scalar(item, kinds.SIZE)


def _tensor(of: BlockPointerValue) -> str:
    assert isinstance(of.pointer.item, PointerValue)
    return of.pointer.item.tensor


def _block(given: Operands, of: BlockPointerValue) -> tuple[TileValue, TileValue | None]:
    """Return the addresses of a block, and the mask that its boundary check is; None without."""
    state = given.state
    checked = _checked(given, len(of.block))
    assert isinstance(of.pointer.item, PointerValue)
    # The parts of an address are kept: what 32 bits computed of it is below the reach only if no
    # part is below 0, also none of those that the block adds.
    address, where, axes = of.pointer.item, TRUE, list[str | None]()
    for axis, (start, size, stride, count) in enumerate(
        zip(of.offsets, of.shape, of.strides, of.block, strict=True)
    ):
        lane = axis_of(state, count)
        axes.append(lane)
        index = at(start) + (name(lane) if lane else number(0))
        address = address.plus(index * stride)
        if axis in checked:
            where = both(where, within(number(0), index, size))
    pointer = TileValue(tuple(axes), address, of.pointer.kind)
    return pointer, _mask(tuple(axes), where) if checked else None


def _mask(axes: tuple[str | None, ...], where: Truth) -> TileValue:
    return TileValue(axes, where, kinds.BOOL)


def _checked(given: Operands, axes: int) -> frozenset[int]:
    """Return the axes that a boundary check lists, as numbers that Triton knows."""
    node = given.by_name.get(CHECKED)
    found = () if node is None else _constants(given, node, is_empty=True)
    if any(not 0 <= one < axes for one in found) or len(set(found)) != len(found):
        raise given.refused(f": its boundary check is not of different axes below {axes}")
    return frozenset(found)


def _padding(given: Operands, kind: str) -> TileValue | None:
    """Return what a load gives beside the shape; None if that is undefined."""
    value = given.value_of(PADDED)
    match value:
        case None | NoneValue() | TextValue(text=""):
            return None
        case TextValue(text="zero"):
            return scalar(literal(0))
        case TextValue(text="nan") if kinds.is_float(kind):
            return scalar(Literal("nan"))
        case _:
            raise given.refused(": its padding is none of '', 'zero', and 'nan' of floats")


def _is_power(size: Whole) -> bool:
    """Return whether a size may be a power of two; of one that is no number, a lane is asked."""
    known = size.constant
    return known is None or (known > 0 and known & (known - 1) == 0)


def _sizes(given: Operands, node: ast.expr) -> tuple[Whole, ...]:
    """Return a list of sizes that Triton knows while it compiles. Raises Unread."""
    value: Value = given.read.value(node)
    found: list[Whole] = []
    for part in value.parts if isinstance(value, TupleValue) else ():
        match part:
            case TileValue(axes=(), kind=kinds.WEAK, item=Whole() as size):
                found.append(size)
            case _:
                raise given.refused(f": '{ast.unparse(node)}' is no list of constants")
    if not found:
        raise given.refused(f": '{ast.unparse(node)}' is no list of constants")
    return tuple(found)


def _constants(given: Operands, node: ast.expr, *, is_empty: bool = False) -> tuple[int, ...]:
    """Return a list of numbers that Triton knows while it compiles. Raises Unread."""
    if is_empty and isinstance(node, ast.Tuple | ast.List) and not node.elts:
        return ()
    found = tuple(one.constant for one in _sizes(given, node))
    known = tuple(one for one in found if one is not None)
    if known != found:
        raise given.refused(f": '{ast.unparse(node)}' is no list of numbers")
    return known
