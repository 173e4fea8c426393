"""Finds the type and the lanes of each name of a kernel, and complains where two do not fit.

A name may be set again. On every way to its use it must have one type and as many lanes: a loop
leaves a name as it found it, and so does a branch that may be passed over.
"""

from collections.abc import Iterator, Mapping
from math import prod
from typing import assert_never

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.operations import OPERATION, ResultRule
from dtpoly.frozen import dataclass
from dtpoly.ir.copy_steps import LoadSlot
from dtpoly.ir.kernel import (
    OFFSET,
    Accumulate,
    Address,
    Collapse,
    DescribedBlock,
    Fill,
    ForLoop,
    GivenScalar,
    If,
    Instruction,
    Lanes,
    Let,
    LineStart,
    Load,
    LoopScalar,
    Mask,
    Product,
    Reshaped,
    Select,
    Step,
    Store,
)
from dtpoly.ir.kinds import Element, Named
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.parts import nested, values, walk
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    Holds,
    IndexValue,
    LiteralNumber,
    Masked,
    Merged,
    Test,
    Value,
    Variable,
)
from dtpoly.ir.tiled import flat

Count = int | str
Shape = tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class TileType:
    """The type of a name and its lanes along each axis; what is None is not known."""

    element: Element | None
    shape: Shape | None

    def __str__(self) -> str:
        size = "" if self.shape is None else " x ".join(map(str, self.shape)) or "1"
        element = "" if self.element is None else element_name(self.element)
        return " of ".join(part for part in (size, element) if part) or "anything"

    def fits(self, other: "TileType") -> bool:
        """Return whether both may be the type of one name."""
        is_alike = self.element == other.element or None in (self.element, other.element)
        return is_alike and (self.shape == other.shape or None in (self.shape, other.shape))


def element_name(element: Element) -> str:
    """Return a type by its name."""
    return element.name if isinstance(element, Named) else str(element)


@dataclass(frozen=True, slots=True)
class Types:
    """The types of the names that are set, and how many lanes each name of lanes has.

    Of a tile that was joined, an axis stands for all labels that share it, and has the name of the
    first.
    """

    names: Mapping[str, TileType]
    lanes: Mapping[str, Count]
    joined: frozenset[str] = frozenset()

    def with_step(self, one: Instruction) -> "Types":
        """Return the types behind an instruction."""
        lanes = {**self.lanes, one.name: one.count} if isinstance(one, Lanes) else self.lanes
        found = dict(_set_by(self, one))
        joined = self.joined - {*found}
        if isinstance(one, Reshaped):
            joined |= {one.name}
        return Types({**self.names, **found}, lanes, joined)

    def shape(self, axes: Axes) -> Shape | None:
        """Return how many lanes there are along axes, if all of them are lanes."""
        found = [self.lanes[axis] for axis in axes if axis in self.lanes]
        return tuple(found) if len(found) == len(axes) else None


def behind(types: Types, body: tuple[Step, ...]) -> Types:
    """Return the types at the end of a body."""
    for step in flat(body):
        match step.instruction:
            case ForLoop() | If():
                pass  # it leaves names as it found them, or `left_otherwise` complains
            case single:
                types = types.with_step(single)
    return types


def left_otherwise(types: Types, one: Instruction) -> Iterator[str]:
    """Complain of names that have another type behind a block than before it, or on another way."""
    match one:
        case ForLoop(body=body):
            before, after = types.names, behind(types, body).names
            ways = "before a loop", "at the end of a round"
        case If(body=body):
            before, after = types.names, behind(types, body).names
            ways = "before a branch", "at its end"
        case _:
            return
    for name in sorted(before.keys() & after.keys()):
        if not before[name].fits(after[name]):
            yield f"'{name}' is {before[name]} {ways[0]}, and {after[name]} {ways[1]}"


def type_of(value: Value) -> Element | None:
    """Return the type of a value; that of a number or of an index is what it meets."""
    match value:
        case LiteralNumber() | IndexValue():
            return None
        case Variable() | Call() | Converted() | Masked() | Holds() | Merged():
            return value.dtype
        case _:
            assert_never(value)


def _set_by(types: Types, one: Instruction) -> Iterator[tuple[str, TileType]]:  # noqa: C901  # one case for each instruction
    """Yield the types of the names that an instruction sets."""
    match one:
        case Lanes(name=name, count=count, shifted=shifted):
            yield name, TileType(Named(OFFSET), (count,))
            if shifted is not None:
                yield shifted.name, TileType(Named(OFFSET), (count,))
        case Mask(name=name, test=test):
            yield name, TileType(DType.BOOL, types.shape(test.axes))
        case Let(name=name, value=value, axes=axes):
            yield name, TileType(type_of(value), types.shape(axes))
        case GivenScalar(name=name, dtype=element):
            yield name, TileType(element, ())
        case Fill(name=name, shape=shape, dtype=element):
            yield name, TileType(element, shape)
        case Load(name=name, axes=axes, dtype=element, converted=converted):
            yield name, TileType(converted or element, types.shape(axes) or _of_block(one))
        case LoadSlot(name=name, axes=axes, dtype=element):
            yield name, TileType(element, types.shape(axes))
        case Reshaped(name=name, value=value):
            yield name, TileType(type_of(value), reshaped(one))
        case Collapse():
            yield from _collapsed(types, one)
        case ScanLanes(name=name, axes=axes, dtype=element, factors=factors):
            for own in (name, *((factors,) if factors else ())):
                yield own, TileType(element, types.shape(axes))
        case LoopScalar(name=name) | Address(name=name):
            yield name, TileType(None, () if isinstance(one, LoopScalar) else types.shape(one.axes))
        case LineStart(name=name, shift=shift):
            yield from ((name, TileType(None, ())), (shift, TileType(None, ())))
        case Store(block=DescribedBlock(halved=halved)):
            for half in halved:
                yield from ((name, TileType(None, None)) for name in (half.first, half.second))
        case _:
            pass  # what is accumulated keeps its type


def _of_block(one: Load) -> Shape | None:
    """Return the lanes of a tile that a descriptor loads; it needs no names of them."""
    block = one.block
    return None if block is None else tuple(block.shape[axis] for axis in block.order)


def reshaped(one: Reshaped) -> Shape:
    """Return the lanes of what was given another shape."""
    if one.is_joined:
        return tuple(map(_together, one.counts))
    return tuple(count for group in one.counts for count in group)


def _together(counts: Shape) -> Count:
    """Return how many lanes several axes have together."""
    known = prod(count for count in counts if isinstance(count, int))
    names = sorted(count for count in counts if isinstance(count, str))
    if not names:
        return known
    return " * ".join((*([str(known)] if known != 1 else []), *names))


def _collapsed(types: Types, one: Collapse) -> Iterator[tuple[str, TileType]]:
    source = types.names.get(one.source, TileType(None, None))
    kept = [at for at, axis in enumerate(one.axes) if axis in one.kept]
    shape = source.shape
    is_known = shape is not None and len(shape) == len(one.axes)
    left = tuple(shape[at] for at in kept) if is_known and shape is not None else None
    if one.index is None:
        yield one.name, TileType(source.element, left)
        return
    index = types.names.get(one.index, TileType(None, None))
    if one.keeps_value:
        yield one.source, TileType(source.element, left)
        yield one.index, TileType(index.element, left)
    else:
        yield one.name, TileType(index.element, left)


def misfits(types: Types, one: Instruction) -> Iterator[str]:
    """Yield what does not fit in an instruction, without the steps inside of it."""
    if isinstance(one, ForLoop | If):
        yield from left_otherwise(types, one)
        return
    yield from _in_tests(types, one)
    if not isinstance(one, Reshaped):  # of which the value is no tile along axes
        for value in values(one):
            yield from _in_value(types, value)
    match one:
        case Let(axes=axes):
            yield from _in_sight(types, axes)
        case Accumulate(name=name, axes=axes, dtype=element, value=value):
            yield from _in_sight(types, axes)
            yield from _accumulated(types, name, TileType(element, types.shape(axes)))
            yield from _alike(element, (value,), "what is accumulated")
        case ScanLanes(carry=carry, axes=axes, dtype=element, along=along):
            yield from _in_sight(types, axes)
            rest = tuple(axis for axis in axes if axis != along)
            yield from _accumulated(types, carry, TileType(element, types.shape(rest)))
            yield from _alike(element, values(one), "what is scanned")
        case Select(name=name, index=index, axes=axes, value=value, at=at):
            shape = types.shape(axes)
            if one.count and shape is not None:
                shape = (*shape[:-1], one.count)
            yield from _accumulated(types, name, TileType(type_of(value), shape))
            yield from _accumulated(types, index, TileType(type_of(at), shape))
        case Product():
            yield from _product(types, one)
        case Load() | Store():
            yield from _in_indices(types, one)
        case Collapse(source=source, axes=axes):
            own = types.names.get(source, TileType(None, None))
            if own.shape is not None and len(own.shape) != len(axes):
                yield f"'{source}' is {own}, and is reduced as if it had {len(axes)} axes"
        case _:
            pass


def _in_sight(types: Types, axes: Axes) -> Iterator[str]:
    """Report axes of a tile that are no lanes here."""
    for axis in axes:
        if axis not in types.lanes:
            yield f"the tile varies along '{axis}', which is no name of lanes"


def _accumulated(types: Types, name: str, wanted: TileType) -> Iterator[str]:
    """Report an accumulator of another type, or with other lanes, than what it takes in."""
    own = types.names.get(name)
    if own is not None and not own.fits(wanted):
        yield f"the accumulator '{name}' is {own}, and {wanted} is added to it"


def _alike(element: Element, operands: tuple[Value, ...], what: str) -> Iterator[str]:
    """Report operands of another type than is asked for; numbers and indices take on any type."""
    for one in operands:
        own = type_of(one)
        if own is not None and own != element:
            yield f"{what} is {element_name(own)}, and {element_name(element)} is asked for"


def _product(types: Types, one: Product) -> Iterator[str]:
    """Report an accumulator without the rows of the left side and the columns of the right one."""
    rows = _side(types, one.left, one.left_axes)
    columns = _side(types, one.right, one.right_axes)
    shape = None if rows is None or columns is None else (*rows[:-1], columns[-1])
    yield from _accumulated(types, one.name, TileType(one.dtype, shape))
    if rows is not None and columns is not None and rows[-1] != columns[-2]:
        yield f"rows of {rows[-1]} lanes meet columns of {columns[-2]}"
    left, right = type_of(one.left), type_of(one.right)
    if left is not None and right is not None and left != right:
        yield f"sides of {element_name(left)} and {element_name(right)} are multiplied"


def _side(types: Types, value: Value, axes: Axes) -> Shape | None:
    """Return the lanes of a side of a product, in the order of its axes."""
    if isinstance(value, Variable) and value.name in types.joined:
        shape = types.names[value.name].shape
        if shape is None or sorted(value.axes) != sorted(axes) or len(shape) != len(axes):
            return None
        return tuple(shape[value.axes.index(axis)] for axis in axes)
    shape = types.shape(axes)
    return shape if shape is not None and len(shape) > 1 else None


def _in_tests(types: Types, one: Instruction) -> Iterator[str]:
    """Report tests with names that are no tiles of truths, or vary along other axes."""
    for part in nested(one):
        if isinstance(part, Test) and part.name is not None and part.name in types.names:
            own, used = types.names[part.name], TileType(DType.BOOL, types.shape(part.own))
            if not own.fits(used):
                yield f"'{part.name}' is {own}, and is used as {used}"
    if isinstance(one, Load | Store):
        for test in one.conditions:
            if extra := [axis for axis in test.axes if axis not in one.axes]:
                yield f"a condition varies along {', '.join(extra)}, and the tile does not"


def _in_indices(types: Types, one: Load | Store) -> Iterator[str]:
    """Report an index that varies along lanes which are no axis of the tile, and are not taken."""
    taken = {variable.name: variable for variable in one.taken}
    for variable in one.taken:
        yield from _in_value(types, variable)
    for name in dict.fromkeys(name for index in one.indices for name in index.labels):
        own = types.names.get(name)
        if name in one.axes or name in taken or own is None or not own.shape:
            continue
        # Lanes of one axis that are counted from another place need not be laid out.
        if own.shape != types.shape(one.axes):
            yield f"'{name}' has lanes, and is an index of a tile that has no such axis"
    if not (isinstance(one, Load) and one.block is not None):
        yield from _in_sight(types, one.axes)


def _in_value(types: Types, value: Value) -> Iterator[str]:
    for part in walk(value):
        match part:
            case Variable(name=name, axes=axes, dtype=element) if name in types.names:
                shape = None if name in types.joined else types.shape(axes)
                own, used = types.names[name], TileType(element, shape)
                if not own.fits(used):
                    yield f"'{name}' is {own}, and is used as {used}"
            case IndexValue(index=index, axes=axes):
                tiles = (name for name in index.labels if name in types.names)
                for name in (one for one in tiles if types.names[one].shape):
                    if name not in axes:
                        yield f"'{name}' has lanes, and is in an index that has no such axis"
            case Call(operation=operation, operands=operands, dtype=element):
                yield from _operands(operation, operands, element)
            case Masked(value=inner, dtype=element):
                yield from _alike(element, (inner,), "what is masked")
            case Merged(left=left, right=right, dtype=element):
                yield from _alike(element, (left, right), "what is merged")
            case _:
                pass


def _operands(operation: str, operands: tuple[Value, ...], element: Element) -> Iterator[str]:
    """Report operands of an operation that were not brought to one type."""
    result, what = OPERATION[operation].result, f"an operand of '{operation}'"
    if result in (ResultRule.LONG, ResultRule.SINGLE):
        yield from _alike(DType.I64, operands, what)
        return
    chosen = operands[1:] if result is ResultRule.CHOSEN else operands
    if result is not ResultRule.BOOL:
        yield from _alike(element, chosen, what)
        return
    kinds = dict.fromkeys(kind for one in operands if (kind := type_of(one)) is not None)
    for first, *others in ([*kinds],) if kinds else ():
        for other in others:
            yield f"'{operation}' compares {element_name(first)} and {element_name(other)}"
