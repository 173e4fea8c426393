"""Says which unit multiplies a tile, and how its warps share it, as Triton decides it.

On a device that has groups, four warps multiply 64 rows and more together and read shared memory as
they do. Fewer rows, and batches of matrices, are multiplied by warps one by one.
"""

from collections.abc import Iterator
from enum import Enum

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Dot, Expr, Read, Reshape, free_labels
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import StatementWalk, lanes_of
from dtpoly.explore.devices.devices import Device
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import several

DEFAULT_WARPS = 4  # Triton's own, where the schedule says nothing
# Warps that multiply together, and the rows that their product has at least.
GROUP, ROWS = 4, 64
# The least rows and columns of a warp that multiplies by itself.
LEAST_ROWS, LEAST_COLUMNS = 16, 8
AT_ONCE = 64  # bytes of a row that a warp has in registers
WARP = 32


Labels = tuple[str, ...]


class ProductUnit(Enum):
    """The unit that multiplies: lanes without tensor cores, a warp, or a group of four warps."""

    LANES = 0
    WARP = 1
    GROUP = 2


@dataclass(frozen=True, slots=True)
class TileProduct:
    """The product of two tiles: their lanes, and the unit."""

    unit: ProductUnit
    dtype: DType
    batch: int
    rows: int
    columns: int
    depth: int
    sides: tuple[Labels, Labels]  # of the rows and of the columns


def product_of(kernel: CostedKernel, walk: StatementWalk, device: Device) -> TileProduct | None:
    """Return the product of tiles that a statement is; None if it is none."""
    body, dtype = walk.statement.body, kernel.operand_dtypes.get(walk.statement.name)
    if dtype is None or not isinstance(body, Dot):
        return None
    batch, rows, columns = _sides(kernel, walk, body)
    warps = kernel.launch.num_warps or DEFAULT_WARPS
    many = lanes_of(walk, batch), lanes_of(walk, rows), lanes_of(walk, columns)
    is_group = device.target.has_groups and warps % GROUP == 0 and not batch and many[1] >= ROWS
    if unit_of(dtype, kernel.launch.precision) is None:
        unit = ProductUnit.LANES
    else:
        unit = ProductUnit.GROUP if is_group else ProductUnit.WARP
    return TileProduct(unit, dtype, *many, lanes_of(walk, body.labels), (rows, columns))


def _sides(kernel: CostedKernel, walk: StatementWalk, body: Dot) -> tuple[Labels, Labels, Labels]:
    """Return the labels of the batch, the rows and the columns, as codegen chooses them."""
    lanes = {axis.index.plain for axis in several(walk.path.lanes)}
    order = [x for x in walk.statement.labels if x in lanes]
    left, right = ({*free_labels(side)} for side in (body.left, body.right))
    batch = tuple(x for x in order if x in left & right and x not in body.labels)
    one, two = (tuple(x for x in order if x in side - (left & right)) for side in (left, right))
    if one and two and order.index(two[0]) < order.index(one[0]):
        one, two = two, one
    is_alone = not batch and len(two) == 1 and sum(x in lanes for x in body.labels) == 1
    is_turned = is_alone and len(one) > 1 and lanes_of(walk, two) >= ROWS
    if is_turned != kernel.launch.is_swapped:
        one, two = two, one
    return batch, one, two


def sides_of_warp(one: TileProduct, warps: int) -> tuple[int, int]:
    """Return the rows and the columns of a warp, which Triton keeps about equally many."""
    rows, columns = one.rows * one.batch, one.columns
    while warps > 1:
        if rows >= columns and rows > LEAST_ROWS:
            rows //= 2
        elif columns > LEAST_COLUMNS:
            columns //= 2
        warps //= 2
    return rows, columns


def held_by_warps(one: TileProduct, size: int, warps: int) -> float:
    """Return the registers in which a thread has what its warp multiplies.

    Groups read shared memory as they do. Other warps copy what they multiply into registers, some
    bytes of each row and column at a time.
    """
    if one.unit is not ProductUnit.WARP:
        return 0.0
    return min(size * one.depth, AT_ONCE) * sum(sides_of_warp(one, warps)) / (4 * WARP)


def is_copied(kernel: CostedKernel, walk: StatementWalk, body: Dot, own: Labels) -> bool:
    """Return whether the operand with these labels is what is in memory, and not computed."""
    return not any({*own} & {*free_labels(side)} for side in computed_sides(kernel, walk, body))


def is_plain(kernel: CostedKernel, walk: StatementWalk, body: Dot, own: Labels) -> bool:
    """Return whether the operand with these labels is multiplied as it was loaded.

    Others are put together in registers: what is computed, and a tile of several labels a side.
    """
    groups = (own, body.labels)
    is_matrix = all(sum(lanes_of(walk, (x,)) > 1 for x in group) <= 1 for group in groups)
    return is_matrix and is_copied(kernel, walk, body, own)


def computed_sides(kernel: CostedKernel, walk: StatementWalk, body: Dot) -> Iterator[Expr]:
    """Yield the operands that are in registers first: no copy of what is in memory."""
    loaded = {s.array for s in loads_of(kernel, walk)}
    for side in (body.left, body.right):
        inner = side.operand if isinstance(side, Reshape) else side
        if not isinstance(inner, Read) or inner.tensor not in loaded:
            yield side


def loads_of(kernel: CostedKernel, walk: StatementWalk) -> Iterator[AccessStream]:
    """Yield what a statement loads."""
    return (s for s in kernel.streams if s.walk is walk and not s.is_store)


def unit_of(dtype: DType, precision: str | None) -> str | None:
    """Return the unit in which tensor cores multiply operands of a dtype; None if they do not."""
    match dtype:
        case DType.F32:
            return "tf32" if precision in ("tf32", "tf32x3") else None
        case DType.F16 | DType.BF16 | DType.F64:
            return str(dtype)
        case DType.I8:
            return "i8"
        case DType.F8E4M3 | DType.F8E5M2:
            return "f16"  # the generated code multiplies them as f16
        case _:
            return None
