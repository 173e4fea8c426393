"""Finds the value that an expression has in a tile.

It writes the loads that are needed on the way, and brings the operands of operations to one type.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    ProgramId,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
)
from dtpoly.algorithm.inference import LARGEST
from dtpoly.algorithm.operations import COMPARISON, FROM_LIST, OPERATION, ResultRule
from dtpoly.algorithm.outside import is_at_labels, may_be_anything, padded_axes, padding_of
from dtpoly.ir.kernel import Let
from dtpoly.ir.kinds import Element, ValueKind, computed, joined
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    IndexValue,
    LiteralNumber,
    Masked,
    Test,
    Value,
    Variable,
    all_hold,
    axes_of,
)

from .building import Building, Unsupported
from .conversions import cast_to, converted, element_of, fits, typed
from .kept_lists import from_list
from .operation_spelling import OF_BOOLS
from .python_names import plain
from .storage import INDEX
from .tensor_loads import load_where, loaded, relevant
from .tile_lanes import Tiling, tests_on
from .widths import is_far

COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}

# Powers up to this one are computed as products.
LARGEST_PRODUCT = 4

# How deep a value may be nested in one statement of a kernel. Triton's compiler calls itself
# several times for each level, and Python stops after 1,000 nested calls.
MOST_LEVELS = 64


def union(lanes: Axes, *parts: Axes) -> Axes:
    """Return all axes of several values, in the order of lanes."""
    return tuple(name for name in lanes if any(name in part for part in parts))


def value_of(tiling: Tiling, expr: Expr, order: Axes | None = None) -> Value:
    """Return the value of an expression; tiles are loaded with their axes in the order given."""
    building = tiling.building
    order = tiling.lanes if order is None else order
    match expr:
        case Integer(value=number) | Float(value=number):
            return LiteralNumber(number)
        case ScalarRead(name=name):
            element = building.passing(building.elements.of(name))
            return Variable(building.scalar(name, element), (), element)
        case Size(label=label):
            return IndexValue(building.number_of(label), ())
        case Index(label=label):
            index = tiling.at[label]
            return IndexValue(index, building.axes(index, order))
        case ProgramId():
            return Variable("program", (), DType.I32)
        case Read():
            return _read(tiling, expr, order)
        case Reshape(operand=operand):
            return value_of(tiling, operand, order)
        case Cast(operand=operand, dtype=dtype):
            return cast_to(value_of(tiling, operand, order), dtype)
        case Apply():
            return _not_too_deep(tiling, _apply(tiling, expr, order))
        case Reduce() | Dot():
            raise AssertionError("reductions are statements of their own")


def _apply(tiling: Tiling, expr: Apply, order: Axes) -> Value:
    building = tiling.building
    operation = expr.operation
    if operation in OF_BOOLS and building.elements.kind(expr).dtype is DType.BOOL:
        return _apply(tiling, replace(expr, operation=OF_BOOLS[operation]), order)
    if operation in FROM_LIST:
        return from_list(tiling, expr, value_of(tiling, expr.operands[1], order), order)
    values = [value_of(tiling, operand, order) for operand in expr.operands]
    kinds = [building.elements.kind(operand) for operand in expr.operands]
    result = building.elements.kind(expr)
    element = building.passing(computed(result, building.elements.numbers))
    if operation == "pow" and (power := _power(tiling, values, element)) is not None:
        return power
    info = OPERATION[operation]
    if info.result in (ResultRule.LONG, ResultRule.SINGLE):
        values = [typed(value, DType.I64) for value in values]
    elif info.result is ResultRule.CHOSEN:
        values = [values[0], *(converted(value, element) for value in values[1:])]
        if element is DType.BOOL:
            values = [values[0], *(_spread(tiling, value, values) for value in values[1:])]
    elif info.precedence == COMPARISON:
        common = building.passing(computed(joined(kinds), building.elements.numbers))
        if common in LARGEST and not all(map(partial(_is_kept, common), values, kinds)):
            common = DType.I64
        if isinstance(values[0], LiteralNumber) and isinstance(values[1], LiteralNumber):
            return LiteralNumber(int(COMPARED[operation](values[0].value, values[1].value)))
        if not _are_indices(values):
            values = [converted(value, common) for value in values]
    elif info.operands_are_bool:
        values = [_spread(tiling, value, values) for value in values]
    elif element is DType.BOOL:
        # `True + True` is true: as numbers, and then whether that is any.
        numbers = tuple(converted(value, DType.I32) for value in values)
        axes = union(order, *map(axes_of, numbers))
        total = Call(operation, numbers, axes, DType.I32)
        return Call("ne", (total, LiteralNumber(0)), axes, DType.BOOL)
    else:
        values = [converted(value, element) for value in values]
    axes = union(order, *map(axes_of, values))
    return Call(operation, tuple(values), axes, element)


def _not_too_deep(tiling: Tiling, value: Value) -> Value:
    """The value; under a name, if what it is made of is nested so deeply that compilers fail."""
    pending = [(value, 1)]
    while pending:
        one, level = pending.pop()
        if level > MOST_LEVELS:
            return named(tiling, value, "part")
        match one:
            case Call(operands=operands):
                pending += [(operand, level + 1) for operand in operands]
            case Converted(value=inner) | Masked(value=inner):
                pending.append((inner, level + 1))
            case _:
                pass
    return value


def _is_kept(common: Element, value: Value, kind: ValueKind) -> bool:
    """Return whether a whole number is the same in the type that others are compared in.

    A size or a number beside a narrower tensor is not: its width does not count there.
    """
    is_narrowed = kind.weak and element_of(value) not in (None, common)
    return fits(value, common) and not is_narrowed


def _spread(tiling: Tiling, value: Value, others: list[Value]) -> Value:
    """Make a tile of a single truth that meets tiles of truths.

    Triton's interpreter does not spread it.
    """
    lanes = union(tiling.lanes, *map(axes_of, others))
    if isinstance(value, LiteralNumber) or axes_of(value) or not lanes:
        return value
    lane = IndexValue(Affine(((lanes[0], 1),)), lanes[:1])
    nothing = Call("sub", (lane, lane), lanes[:1], DType.I32)
    number = Converted(value, (), DType.I32)
    total = Call("add", (number, nothing), lanes[:1], DType.I32)
    return Call("ne", (total, LiteralNumber(0)), lanes[:1], DType.BOOL)


def _are_indices(values: list[Value]) -> bool:
    """Return whether indices and whole literals are compared as they are.

    Not if all of them are sizes: Triton makes a Python number of a size that is 1.
    """
    return any(isinstance(value, IndexValue) and value.axes for value in values) and all(
        isinstance(value, IndexValue)
        or (isinstance(value, LiteralNumber) and isinstance(value.value, int))
        for value in values
    )


def _power(tiling: Tiling, values: list[Value], element: Element) -> Value | None:
    """A small whole power as a product, in the type asked for: the base's may be narrower."""
    base, exponent = values
    if not isinstance(exponent, LiteralNumber) or exponent.value not in range(
        1, LARGEST_PRODUCT + 1
    ):
        return None
    base = converted(base, element)
    if not isinstance(base, Variable):
        base = named(tiling, base, "base")
    factors = [base] * int(exponent.value)
    return reduce(
        lambda a, b: Call("mul", (a, b), axes_of(base), element_of(base) or element),
        factors[1:],
        factors[0],
    )


def named(tiling: Tiling, value: Value, wish: str) -> Value:
    """Return the value under a name, so that it is computed once."""
    if isinstance(value, Variable | LiteralNumber):
        return value
    building = tiling.building
    name = building.tile_name(wish, axes_of(value), element_of(value))
    building.scopes.emit(Let(name, value, axes_of(value)), tiling.statement.name)
    return Variable(name, axes_of(value), element_of(value) or DType.I64)


def _read(tiling: Tiling, read: Read, order: Axes) -> Value:
    building = tiling.building
    if not read.indices:
        read = replace(read, padding=None)
    padding = padding_of(read)
    if read.tensor in building.storage.registers and padding is None:
        held = building.find_held(read.tensor)
        dims = building.model.arrays[read.tensor].dims
        here = dict(zip(dims, read.indices, strict=True))
        axes = tuple(
            lane
            for label in dict.fromkeys(held.labels)
            for lane in tiling.lanes_of(here[label].plain or "")
        )
        return Variable(held.name, axes, building.passing(building.elements.of(read.tensor)))
    if read.tensor + INDEX in building.storage.scratch:
        read = replace(read, tensor=read.tensor + INDEX)
    if is_at_labels(read):
        return converted(
            loaded(tiling, read, order), building.passing(building.elements.of(read.tensor))
        )
    return _padded(tiling, read, Integer(0) if padding is None else padding, order)


def _padded(tiling: Tiling, read: Read, other: Expr, order: Axes) -> Value:
    """Elements where the index is inside, the padding elsewhere.

    Data that the caller promises to be inside is not tested.
    """
    building = tiling.building
    indices, taken = places_of(tiling, read, order)
    padding = value_of(tiling, other, order)
    if read.tensor in building.model.arrays and not _is_written(building, read.tensor):
        # No read is ever inside, so nothing was computed.
        return converted(padding, building.passing(building.elements.of(read.tensor)))
    element = building.passing(building.elements.of(read.tensor))
    inside: list[Test] = []
    for axis in sorted(padded_axes(read)):
        index = indices[axis]
        extent = extent_of(building, read.tensor, axis)
        if may_be_anything(read.indices[axis]):
            (at,) = (one for one in taken if one.name in index.labels)
            inside.append(_within(tiling, read.tensor, at, extent))
            continue
        # A part is there if its first index is.
        first = index.scaled(unit_of(building, read.tensor, axis))
        inside += _inside(first, extent, building.axes(index, order))
    if any(not test.value.terms and test.value.constant < 0 for test in inside):
        return converted(padding, element)
    inside = [test for test in inside if test.value.terms or test.name is not None]
    tests = relevant(tiling, indices, order, taken)
    if not inside:
        return converted(load_where(tiling, read.tensor, indices, tests, order, 0, taken), element)
    missing = padding.value if isinstance(padding, LiteralNumber) else 0
    tests = (*tests, *inside)
    loaded_tile = load_where(tiling, read.tensor, indices, tests, order, missing, taken)
    tile = converted(loaded_tile, element)
    if isinstance(padding, LiteralNumber):
        return tile
    axes = axes_of(tile)
    tests = tuple(replace(t, axes=tuple(n for n in axes if n in t.axes)) for t in inside)
    return Call("where", (all_hold(tests, axes), tile, converted(padding, element)), axes, element)


def _inside(index: Affine, extent: Affine, axes: Axes) -> tuple[Test, Test]:
    """Return the tests that an index is inside of an axis."""
    # An index is as wide as offsets are; an extent that a number is added to may not be.
    rest = extent - index + Affine((), -1)
    return Test(index, axes), Test(rest, axes, is_large=is_far(rest) and rest.constant > 0)


def places_of(
    tiling: Tiling, read: Read, order: Axes
) -> tuple[tuple[Affine, ...], tuple[Variable, ...]]:
    """Return the indices of a read over the kernel's variables, and those that hold data."""
    found: list[Affine] = []
    taken: list[Variable] = []
    for index in read.indices:
        if index.data is None:
            found.append(tiling.index(index))
            continue
        value = typed(value_of(tiling, index.data, order), DType.I64)
        at = _shared(tiling, value, f"{plain(read.tensor)}_at")
        found.append(Affine(((at.name, 1),)))
        taken.append(at)
    return tuple(found), tuple(taken)


def placed(
    tiling: Tiling, at: Read
) -> tuple[tuple[Affine, ...], tuple[Test, ...], tuple[Variable, ...]]:
    """Return the indices of a place, the tests that it is inside, and what holds data of it."""
    indices, taken = places_of(tiling, at, tiling.lanes)
    tests: list[Test] = []
    for axis, (index, said) in enumerate(zip(indices, at.indices, strict=True)):
        if said.data is None and axis in padded_axes(at):
            extent = extent_of(tiling.building, at.tensor, axis)
            tests += _inside(index, extent, tiling.building.axes(index, tiling.lanes))
        elif may_be_anything(said):
            (held,) = (one for one in taken if one.name in index.labels)
            tests.append(
                _within(tiling, at.tensor, held, extent_of(tiling.building, at.tensor, axis))
            )
    if any(not one.value.terms and one.value.constant < 0 for one in tests):
        raise Unsupported(f"no place in '{at.tensor}' is inside")
    return indices, tuple(one for one in tests if one.value.terms or one.name), taken


def _shared(tiling: Tiling, value: Value, wish: str) -> Variable:
    """Return a value under a name: that which it has already, if it was computed before."""
    if isinstance(value, Variable):
        return value
    building = tiling.building
    known = building.scopes.find_load(("value", value))
    if known is not None:
        return known
    axes, element = axes_of(value), element_of(value) or DType.I64
    variable = Variable(building.tile_name(wish, axes, element), axes, element)
    let = Let(variable.name, value, axes)
    return building.scopes.bound_value(("value", value), let, variable, tiling.statement.name)


def _within(tiling: Tiling, tensor: str, at: Variable, extent: Affine) -> Test:
    """Return the test that an index, which may be anything, is inside of an axis."""
    axes = at.axes
    end = IndexValue(extent, ()) if extent.terms else LiteralNumber(extent.constant)
    first = Call("ge", (at, LiteralNumber(0)), axes, DType.BOOL)
    inside = Call("and", (first, Call("lt", (at, end), axes, DType.BOOL)), axes, DType.BOOL)
    found = _shared(tiling, inside, f"{plain(tensor)}_inside")
    return Test(Affine(), axes, name=found.name, own=axes)


def _is_written(building: Building, array: str) -> bool:
    return any(one.writes.array == array for one in building.model.statements)


def unit_of(building: Building, tensor: str, axis: int) -> int:
    """Return how many indices of a label a number along an axis of a tensor stands for."""
    known = building.model.arrays.get(tensor)
    part = None if known is None else building.model.parts.get(known.dims[axis])
    return 1 if part is None else part.size


def extent_of(building: Building, tensor: str, axis: int) -> Affine:
    """Return the extent of an axis of a tensor in memory; of parts, that of what they divide."""
    if tensor in building.model.arrays:
        label = building.model.arrays[tensor].dims[axis]
        part = building.model.parts.get(label)
        return building.number_of(label if part is None else part.of)
    return Affine(((building.shape(tensor, axis), 1),))


def masked(
    tiling: Tiling,
    value: Value,
    lanes: Axes,
    other: int | float,
    element: Element,
    order: Axes | None = None,
) -> Value:
    """Return the value, with the identity where a lane of those given has nothing to say.

    The order is that of a tile which has not all lanes.
    """
    order = tiling.lanes if order is None else order
    tests = tests_on(
        tiling,
        order,
        lambda tests: tuple(
            t for t in tests if set(t.axes) & set(lanes) or not t.axes or tiling.is_of_range(t)
        ),
    )
    if not tests or not (lanes or any(map(tiling.is_of_range, tests))):
        return value
    axes = union(tiling.lanes, axes_of(value), *(t.axes for t in tests))
    return Masked(value, tests, other, axes, element)
