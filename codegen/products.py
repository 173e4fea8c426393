"""One step of an `rdot` in; a matrix product of tiles out, where the tiles are matrices."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Dot, Expr, Read, free_labels

from .building import Held
from .kernel import Accumulate, Axes, Call, Product, Value
from .kinds import Element, Kind, Named, in_memory, join
from .values import (
    Tiling,
    axes_of,
    converted,
    element_of,
    loaded,
    masked,
    union,
    value_of,
)

# What a matrix unit multiplies at least along the reduced label, whatever the dtype.
SMALLEST = 16


def product_labels(dot: Dot, lanes: dict[str, int | None]) -> tuple[str, str, str] | None:
    """The rows, the reduced and the columns' label, if both sides are matrices of lanes."""
    left, right = ({x for x in free_labels(e) if x in lanes} for e in (dot.left, dot.right))
    both = left & right
    reduced = [label for label in dot.labels if label in lanes]
    if both != set(reduced) or len(reduced) != 1 or len(left) != 2 or len(right) != 2:
        return None
    (rows,), (columns,) = left - both, right - both
    count = lanes[reduced[0]]
    if count is not None and count < SMALLEST:
        return None
    return rows, reduced[0], columns


def is_product(dot: Dot, lanes: dict[str, int | None], kind: Kind) -> bool:
    """Whether a step is a matrix product of tiles: of floats, or of bytes."""
    is_fit = kind.is_float or kind.dtype in (DType.I8,)
    return is_fit and product_labels(dot, lanes) is not None


def product_step(tiling: Tiling, dot: Dot, held: Held, lanes: dict[str, int | None]) -> Product:
    """`accumulator += left @ right`."""
    building = tiling.building
    labels = product_labels(dot, lanes)
    assert labels is not None
    rows, reduced, columns = (tiling.lanes_of(label)[0] for label in labels)
    kind = join(building.elements.kind(dot.left), building.elements.kind(dot.right))
    element = operand_element(tiling, kind)
    sides = [(dot.left, rows), (dot.right, columns)]
    if held.labels[0] != labels[0]:
        # The accumulator has the right's label first: the transposed product.
        sides.reverse()
    (first, above), (second, beside) = sides
    left = _side(tiling, first, (above, reduced), reduced, element)
    right = _side(tiling, second, (reduced, beside), reduced, element)
    accumulator = building.elements.of(tiling.statement.writes.array)
    return Product(
        held.name,
        left,
        (above, reduced),
        right,
        (reduced, beside),
        accumulator,
        building.precision,
    )


def operand_element(tiling: Tiling, kind: Kind) -> Element:
    """The type in which operands meet: the promoted stored one of both."""
    element = in_memory(kind)
    if isinstance(element, Named):
        name = operand_parameter(element.name)
        element = tiling.building.passing(Named(name), kind)
    return element


def operand_parameter(promoted: str) -> str:
    """The name of the parameter for a promoted type: `A_B_dtype`."""
    return "_".join((*promoted.split()[1:], "dtype"))


def _side(tiling: Tiling, expr: Expr, axes: Axes, reduced: str, element: Element) -> Value:
    """An operand, 0 where the reduced label has ended: its lanes there may hold inf or nan."""
    building = tiling.building
    is_in_memory = (
        isinstance(expr, Read)
        and expr.padding is None
        and expr.tensor not in building.storage.registers
    )
    if is_in_memory and isinstance(expr, Read):
        tile = loaded(tiling, expr, axes)
        is_same = in_memory(building.elements.kind(expr)) == element
        return tile if is_same else converted(tile, element)
    value = value_of(tiling, expr, axes)
    own = element_of(value) or element
    value = masked(tiling, value, (reduced,), 0, own)
    return converted(value, element)


def sum_step(tiling: Tiling, dot: Dot, held: Held, axes: Axes, reduced: Axes) -> Accumulate:
    """The same lane by lane, where the sides are no matrices."""
    element = tiling.building.elements.of(tiling.statement.writes.array)
    sides = [converted(value_of(tiling, e), element) for e in (dot.left, dot.right)]
    both = union(tiling.lanes, *map(axes_of, sides))
    value = Call("mul", tuple(sides), both, element)
    return Accumulate(held.name, "rsum", masked(tiling, value, reduced, 0, element), axes, element)
