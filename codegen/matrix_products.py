"""Turns one step of an `rdot` into a matrix product of tiles, where the tiles are matrices.

`sides_of` decides whether they are. Where they are not, `sum_step` does the step lane by lane.
"""

from collections.abc import Mapping
from math import prod

from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, DType
from dtpoly.algorithm.expressions import (
    Dot,
    Expr,
    Read,
    Reshape,
    free_labels,
)
from dtpoly.algorithm.outside import is_at_labels
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Accumulate, Product, Reshaped
from dtpoly.ir.kinds import (
    Element,
    Named,
    ValueKind,
    in_memory,
    join,
    operand_parameter,
    stored_parameter,
)
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    LiteralNumber,
    Masked,
    Test,
    Value,
    Variable,
    axes_of,
)

from .building import Held
from .conversions import converted, element_of, typed
from .expression_values import masked, union, value_of
from .python_names import plain
from .tensor_loads import loaded
from .tile_lanes import Tiling

# The fewest lanes along reduced labels that a matrix unit multiplies: of floats, and of bytes.
SMALLEST = 16
SMALLEST_OF_BYTES = 32
# How many rows the matrix units of a multiprocessor multiply together.
FEWEST_ROWS = 64

Counts = Mapping[str, int | None]  # label -> its lanes; None for all of it, at least SMALLEST


@dataclass(frozen=True, slots=True)
class Sides:
    """The labels of a product that have lanes, by their part in the product.

    `out[batch, rows, columns] += left[batch, rows, reduced] * right[batch, reduced, columns]`
    """

    batch: Axes
    rows: Axes
    columns: Axes
    reduced: Axes
    is_second_first: bool  # the rows are of the operand that is written second

    def swapped(self) -> "Sides":
        """Return the same product turned: `out[batch, columns, rows]`."""
        return Sides(self.batch, self.columns, self.rows, self.reduced, not self.is_second_first)

    @property
    def result(self) -> tuple[Axes, ...]:
        """Return the axes of the accumulator as a matrix, or as matrices."""
        return tuple(group for group in (self.batch, self.rows, self.columns) if group)


def sides_of(dot: Dot, kind: ValueKind, labels: Axes, lanes: Counts) -> Sides | None:
    """Both sides as matrices of lanes, if they are; `kind` is that of both operands together.

    The side whose labels come first in the result has the rows; but if it is a matrix only after
    labels were joined, and the other one is by itself, it has the columns. For a matrix unit reads
    columns where a load left them, whatever their shape there, and rows only as they were loaded.
    """
    if not kind.is_float and kind.dtype is not DType.I8:
        return None
    left, right = ({x for x in free_labels(e) if x in lanes} for e in (dot.left, dot.right))
    both = left & right
    reduced = tuple(label for label in dot.labels if label in lanes)
    batch = tuple(label for label in labels if label in both and label not in reduced)
    if not set(reduced) <= both:
        return None
    steps = prod(count for x in reduced if (count := lanes[x] or SMALLEST))
    if not reduced or steps < (SMALLEST if kind.is_float else SMALLEST_OF_BYTES):
        return None
    one, two = (tuple(x for x in labels if x in side - both) for side in (left, right))
    if not one or not two:
        return None
    is_second_first = labels.index(two[0]) < labels.index(one[0])
    rows, columns = (two, one) if is_second_first else (one, two)
    sides = Sides(batch, rows, columns, reduced, is_second_first)
    is_alone = not batch and len(reduced) == len(columns) == 1
    if is_alone and len(rows) > 1 and (lanes[columns[0]] or 0) >= FEWEST_ROWS:
        return sides.swapped()
    return sides


def operands_kind(tiling: Tiling, dot: Dot) -> ValueKind:
    """Return the promoted kind of both operands."""
    elements = tiling.building.elements
    return join(elements.kind(dot.left), elements.kind(dot.right))


def product_step(tiling: Tiling, dot: Dot, held: Held, sides: Sides) -> Product:
    """`accumulator += left @ right`; labels that share an axis of a matrix are joined before."""
    building = tiling.building
    element = _operand(tiling, operands_kind(tiling, dot))
    first, second = (dot.right, dot.left) if sides.is_second_first else (dot.left, dot.right)
    left = _matrix(tiling, dot, first, (sides.batch, sides.rows, sides.reduced), element)
    right = _matrix(tiling, dot, second, (sides.batch, sides.reduced, sides.columns), element)
    accumulator = building.elements.of(tiling.statement.writes.array)
    return Product(held.name, left[0], left[1], right[0], right[1], accumulator, building.precision)


def _operand(tiling: Tiling, kind: ValueKind) -> Element:
    """The type in which operands are multiplied; bytes of floats as f16, which holds them all."""
    element = in_memory(kind)
    if isinstance(element, Named):
        return tiling.building.passing(Named(operand_parameter(kind)), kind)
    return DType.F16 if element in EIGHT_BIT_FLOATS else element


def _matrix(
    tiling: Tiling, dot: Dot, expr: Expr, groups: tuple[Axes, ...], element: Element
) -> tuple[Value, Axes]:
    """Return an operand, and its axes: one for each group of labels."""
    building = tiling.building
    along = tuple(tuple(a for x in g for a in tiling.lanes_of(x)) for g in groups if g)
    firsts = tuple(group[0] for group in along)
    reduced = tuple(axis for label in dot.labels for axis in tiling.lanes_of(label))
    if len(along[-2]) == 1 < len(along[-1]) and _are_last(tiling, expr, *along[-2:]):
        # Joined as they lie in memory, and then turned: that moves nothing. Triton cannot do so
        # where short lines would be joined.
        along = (*along[:-2], along[-1], along[-2])
    axes = tuple(axis for group in along for axis in group)
    value = converted(_side(tiling, dot, expr, axes, reduced), element)
    is_whole = set(axes_of(value)) == set(axes)
    if is_whole and len(along) == len(axes):
        return value, axes
    wish = f"{plain(expr.tensor) if isinstance(expr, Read) else 'operand'}_matrix"
    counts = tuple(tuple(building.lane_count(axis) for axis in group) for group in along)
    name = building.scopes.name(wish, (counts, element))
    building.scopes.emit(Reshaped(name, value, axes, counts), tiling.statement.name)
    return Variable(name, tuple(group[0] for group in along), element), firsts


def _are_last(tiling: Tiling, expr: Expr, axes: Axes, others: Axes) -> bool:
    """Return whether neighbours along `axes` are neighbours in memory, and along `others` not.

    As far as the text says: along the last axis of a tensor that a tile varies along.
    """
    while isinstance(expr, Reshape):
        expr = expr.operand
    if not isinstance(expr, Read):
        return False
    varied = ({*axes, *others} & tiling.names_in(one) for one in reversed(expr.indices))
    last = next(filter(None, varied), set[str]())
    return not last.isdisjoint(axes) and last.isdisjoint(others)


def _side(tiling: Tiling, dot: Dot, expr: Expr, axes: Axes, reduced: Axes) -> Value:
    """Return an operand, 0 where a reduced label has ended: its lanes there may hold inf or nan."""
    while isinstance(expr, Reshape):
        expr = expr.operand
    is_loaded = isinstance(expr, Read) and is_at_labels(expr) and _is_stored(tiling, expr)
    if isinstance(expr, Read) and is_loaded and set(dot.labels) <= set(free_labels(expr)):
        return loaded(tiling, expr, axes)
    kind = operands_kind(tiling, dot)
    value = typed(value_of(tiling, expr, axes), tiling.building.elements.of_kind(kind))
    own = element_of(value)
    assert own is not None
    made = masked(tiling, value, reduced, 0, own, axes)
    if isinstance(made, Masked) and (tile := _filled(tiling, value, made.conditions)) is not None:
        return tile
    return rounded(tiling, dot, expr, made)


def _filled(tiling: Tiling, value: Value, tests: tuple[Test, ...]) -> Variable | None:
    """Return the tile that was loaded at data, if it has a 0 wherever a test fails.

    It is an operand as it was loaded, in its own type. Of other tiles the pass `loaded_masks`
    leaves such masks out; these are brought to the type of sums, and then to that of operands.
    """
    while isinstance(value, Converted):
        value = value.value
    if not isinstance(value, Variable):
        return None
    load = tiling.building.scopes.load_of(value.name)
    if load is None or not load.taken or load.other != 0:
        return None
    return value if {*tests} <= {*load.conditions} else None


def is_in_memory(tiling: Tiling, expr: Expr) -> bool:
    """Return whether an operand is loaded as it is, with nothing computed of it."""
    while isinstance(expr, Reshape):
        expr = expr.operand
    return isinstance(expr, Read) and _is_stored(tiling, expr)


def _is_stored(tiling: Tiling, read: Read) -> bool:
    """Return whether what is read comes from memory, as inputs and other kernels' results do."""
    storage = tiling.building.storage
    return read.tensor not in storage.registers and read.tensor not in storage.scratch


def rounded(tiling: Tiling, dot: Dot, expr: Expr, value: Value) -> Value:
    """Return an operand as if it had been stored: in the promoted type of both.

    So a product is the same whether an operand was computed here or by another kernel.
    """
    kind = operands_kind(tiling, dot)
    is_exact = isinstance(value, LiteralNumber) or (
        isinstance(expr, Read) and _is_stored(tiling, expr)
    )
    if is_exact or not kind.is_float:
        return value
    element = in_memory(kind)
    if isinstance(element, Named):
        element = tiling.building.passing(Named(stored_parameter(kind)), kind)
    return converted(value, element)


def sum_step(tiling: Tiling, dot: Dot, held: Held, axes: Axes, reduced: Axes) -> Accumulate:
    """Do the same step lane by lane, where the sides are no matrices."""
    element = tiling.building.elements.of(tiling.statement.writes.array)
    sides = [
        converted(rounded(tiling, dot, side, value_of(tiling, side)), element)
        for side in (dot.left, dot.right)
    ]
    both = union(tiling.lanes, *map(axes_of, sides))
    value = Call("mul", tuple(sides), both, element)
    return Accumulate(held.name, "rsum", masked(tiling, value, reduced, 0, element), axes, element)
