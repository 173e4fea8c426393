"""The kernel IR: a small tile program that knows nothing of Triton's spelling.

A value varies along axes, which are named by their lane variables, in order; it meets another
value by axis. Indices and conditions are affine over variables of the kernel.
"""

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import assert_never

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.poly.loops import Bound, Chosen, Combined, Condition

from .kinds import Element, Kind

Axes = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A named tile or scalar."""

    name: str
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; its type is that of what it meets."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Place:
    """An index as a value."""

    index: Affine
    axes: Axes


@dataclass(frozen=True, slots=True)
class Call:
    """An elementwise operation of the language; operands have been brought to one type."""

    operation: str
    operands: "tuple[Value, ...]"
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class Converted:
    """A value in another type."""

    value: "Value"
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class Masked:
    """The value where every condition holds, else a number."""

    value: "Value"
    conditions: "tuple[Test, ...]"
    other: int | float
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class Holds:
    """Whether a test holds, as a value."""

    test: "Test"
    axes: Axes
    dtype: Element = DType.BOOL


@dataclass(frozen=True, slots=True)
class Merged:
    """Two values combined as a reduction does."""

    reduction: str
    left: "Value"
    right: "Value"
    axes: Axes
    dtype: Element


Value = Variable | Number | Place | Call | Converted | Masked | Holds | Merged


def axes_of(value: Value) -> Axes:
    """The axes a value varies along."""
    return () if isinstance(value, Number) else value.axes


# An operation on bounds: the same in 64 bits.
LARGE = "large"

# The same in the type of offsets.
WIDE = "wide"

# A number up to this, added to a size of 32 bits, leaves room for the end of a tile: wrappers
# refuse sizes that are within twice as much of 2**31.
NEAR = 1 << 19


def is_large(value: Affine, units: Mapping[str, int] | None = None) -> bool:
    """Whether a part of a sum of sizes and indices may be far more than any of them is.

    A number that is not near 0 counts as one of them. A size has 32 bits
    up to 2**31, and each loop counts in the bits of its bounds. Variables may count in units, of
    which so many are one index.
    """
    times = [(1 if c > 0 else -1, -(-abs(c) // (units or {}).get(n, 1))) for n, c in value.terms]
    if is_far(value):
        times.append((1 if value.constant > 0 else -1, 1))
    return any(sum(many for sign, many in times if sign == side) > 1 for side in (1, -1))


def is_far(value: Affine) -> bool:
    """Whether the number in a sum is too large to be added to what 32 bits just hold."""
    return abs(value.constant) > NEAR


def is_wide(index: Affine, narrow: Collection[str]) -> bool:
    """Whether an index, times a stride, is computed in the type of offsets.

    What loops count, sizes, and numbers made of them, may have 32 bits: alone they would make a
    product of 32 bits, and several of them a sum.
    """
    counted = Affine(tuple((name, factor) for name, factor in index.terms if name in narrow))
    return not counted.terms or (counted.terms != index.terms and not is_large(counted))


def has_large(value: Bound) -> bool:
    """Whether a part of a bound has 64 bits."""
    match value:
        case Affine():
            return False
        case Combined(operation=operation, operands=operands):
            return operation == LARGE or any(map(has_large, operands))
        case Chosen(left=left, right=right):
            return has_large(left) or has_large(right)
        case _:
            assert_never(value)


def names_of(value: Bound) -> set[str]:
    """The variables in a bound, but for those of conditions."""
    match value:
        case Affine():
            return set(value.labels)
        case Combined(operands=operands):
            return set[str]().union(*map(names_of, operands))
        case Chosen(left=left, right=right):
            return names_of(left) | names_of(right)
        case _:
            assert_never(value)


@dataclass(frozen=True, slots=True)
class Test:
    """`value >= 0`; `unless` is a compile-time flag under which it always holds.

    What is large is computed in 64 bits, whatever indices have.
    """

    value: Affine
    axes: Axes
    unless: str | None = None
    name: str | None = None  # of the variable that holds it, if there is one
    own: Axes = ()  # the axes of that variable
    is_large: bool = False


@dataclass(frozen=True, slots=True)
class Shifted:
    """Lanes that are counted from an aligned place on, as `name`; an index is that less `by`.

    `is_index` says whether something asks for the index.
    """

    name: str
    by: str
    is_index: bool = True


@dataclass(frozen=True, slots=True)
class Lanes:
    """`name = start + step * (0 .. count - 1)`; the count may be a compile-time name."""

    name: str
    start: Affine
    count: int | str
    step: int = 1
    shifted: Shifted | None = None


@dataclass(frozen=True, slots=True)
class Mask:
    """`name = test`: which lanes of one axis have something to do."""

    name: str
    test: Test


@dataclass(frozen=True, slots=True)
class Let:
    """`name = value`."""

    name: str
    value: Value
    axes: Axes


@dataclass(frozen=True, slots=True)
class Scalar:
    """`name = bound`: a number of the loops."""

    name: str
    value: Bound


@dataclass(frozen=True, slots=True)
class Given:
    """A scalar parameter in the type that it is computed with."""

    name: str
    dtype: Element


@dataclass(frozen=True, slots=True)
class Fill:
    """A tile of one value: an accumulator before its loop."""

    name: str
    shape: tuple[int | str, ...]
    value: int | float
    dtype: Element


@dataclass(frozen=True, slots=True)
class Base:
    """The address of some of a tensor's indices, given by their positions, that has a name."""

    name: str
    axes: Axes
    included: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`name = ` where the elements of the `included` ones of the indices are, from a base on."""

    name: str
    tensor: str
    indices: tuple[Affine, ...]
    included: tuple[int, ...]
    axes: Axes
    base: Base | None


@dataclass(frozen=True, slots=True)
class LineStart:
    """Where a line of a tensor is: along the last of the indices.

    `shift` is by how many elements it begins behind an aligned place, `name` the address there. A
    line that is not contiguous is shifted by 0.
    """

    name: str
    shift: str
    tensor: str
    indices: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class OnLine:
    """The address of a store where two lines begin alike: from an aligned place on."""

    base: Base
    indices: tuple[Affine, ...]
    shifts: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Block:
    """What a descriptor loads in the place of addresses, where there is one.

    It starts at an index for each axis of the descriptor. Those of one lane are left out of its
    shape; of the others, `order` says which is each axis of the tile.
    """

    descriptor: str
    starts: tuple[Affine, ...]
    shape: tuple[int, ...]
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """A tile of a tensor; `other` where a condition fails."""

    name: str
    tensor: str
    indices: tuple[Affine, ...]
    conditions: tuple[Test, ...]
    axes: Axes
    other: int | float | None
    dtype: Element
    base: Base | None = None
    converted: Element | None = None  # the type that it is given at once
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """A tile written where the conditions hold; `atomic` names a reduction to add it by.

    How that is done depends on the type in memory.
    """

    tensor: str
    indices: tuple[Affine, ...]
    conditions: tuple[Test, ...]
    value: Value
    axes: Axes
    dtype: Element
    atomic: str | None = None
    base: Base | None = None
    line: OnLine | None = None


@dataclass(frozen=True, slots=True)
class Accumulate:
    """`name = name (+) value`, lane by lane."""

    name: str
    reduction: str
    value: Value
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class Select:
    """The better of `name` and a value, with its index: an accumulator of two tiles."""

    name: str
    index: str
    reduction: str
    value: Value
    at: Value
    axes: Axes


@dataclass(frozen=True, slots=True)
class Product:
    """`name += left @ right`: two-dimensional tiles, or three with a batch axis in front."""

    name: str
    left: Value
    left_axes: Axes
    right: Value
    right_axes: Axes
    dtype: Element  # of the accumulator
    precision: str | None


@dataclass(frozen=True, slots=True)
class Reshaped:
    """`name = value` laid out along axes, whose elements then have another shape.

    `counts` are how many lanes the axes have, in groups: one for each axis of the result, or, the
    other way, of the value.
    """

    name: str
    value: Value
    axes: Axes
    counts: tuple[tuple[int | str, ...], ...]
    is_joined: bool = True  # else the axes of a matrix become several again


@dataclass(frozen=True, slots=True)
class Collapse:
    """`name = source` with the axes that are not kept reduced."""

    name: str
    source: str
    reduction: str
    axes: Axes
    kept: Axes
    index: str | None = None  # the second tile of a `Select`, which becomes the result
    keeps_value: bool = False  # both tiles are reduced, each under its own name


@dataclass(frozen=True, slots=True)
class Barrier:
    """What lanes wrote to memory before is seen by all lanes after."""


@dataclass(frozen=True, slots=True)
class ForLoop:
    """A sequential loop; not pipelined where values pass from iteration to iteration in memory.

    One that goes `over` several labels counts the rounds of all of them: so many are the product
    of `factors`, which are sizes, each divided by a number and rounded up.
    """

    name: str
    start: Bound
    stop: Bound
    step: int
    body: "tuple[Step, ...]"
    unroll: int = 1
    is_pipelined: bool = True
    over: tuple[str, ...] = ()
    factors: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """The body if every condition holds; they never do under the compile-time flag `unless`."""

    conditions: tuple[Condition, ...]
    body: "tuple[Step, ...]"
    unless: str | None = None


@dataclass(frozen=True, slots=True)
class WhereDescribed:
    """The body, which loads through descriptors, if all these are there; else the other one."""

    descriptors: tuple[str, ...]
    body: "tuple[Step, ...]"
    otherwise: "tuple[Step, ...]"


Instruction = (
    Lanes
    | Mask
    | Let
    | Scalar
    | Given
    | Fill
    | Address
    | LineStart
    | Load
    | Store
    | Accumulate
    | Select
    | Product
    | Reshaped
    | Collapse
    | Barrier
    | ForLoop
    | If
    | WhereDescribed
)


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction, and the statement or axis that it comes from."""

    instruction: Instruction
    origin: str


@dataclass(frozen=True, slots=True)
class GridAxis:
    """One loop of the launch grid, outermost first: so many blocks, or groups of blocks."""

    name: str  # the variable: where the block starts, or its number
    label: str
    size: str  # the variable of the size
    step: int  # indices of the label that a block or a group has
    unit: int  # what the variable counts in: indices, or whole blocks for parts
    group: int | None  # blocks a group; None for the blocks themselves
    block: str  # the variable of the blocks in a group; of blocks themselves their own


@dataclass(frozen=True, slots=True)
class Pointer:
    """A tensor parameter: one stride an axis; a scratch tensor belongs to one program."""

    name: str  # of the tensor
    variable: str
    rank: int
    is_scratch: bool = False
    is_written: bool = False


@dataclass(frozen=True, slots=True)
class Described:
    """A descriptor of a tensor, which loads blocks of so many elements; there may be none.

    It has the tensor's axes in some order.
    """

    tensor: str
    name: str
    block: tuple[int, ...]
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """What a compile-time truth says: a size is a multiple of a number, or fills its lanes (0).

    Where several have one name, it says all of that.
    """

    name: str
    size: str
    multiple: int


@dataclass(frozen=True, slots=True)
class TileKernel:
    """A launch: parameters, grid, body."""

    name: str
    tensors: tuple[Pointer, ...]
    scalars: tuple[tuple[str, str, Element], ...]  # input, variable, type
    sizes: tuple[tuple[str, str], ...]  # size parameter, variable
    shapes: tuple[tuple[str, int, str], ...]  # tensor, axis, variable
    counts: tuple[tuple[str, str], ...]  # compile-time lane count, and the size it rounds up
    flags: tuple[Flag, ...]
    elements: tuple[tuple[str, Kind | None], ...]  # dtypes that the wrapper passes
    grid: tuple[GridAxis, ...]
    body: tuple[Step, ...]
    comment: tuple[str, ...] = field(default=())
    described: tuple[Described, ...] = ()
    each: int = 0  # programs for each multiprocessor, which take blocks in turn; 0 if one a block
    lined: tuple[str, ...] = ()  # tensors along whose lines lanes are aligned
    turned: tuple[str, ...] = ()  # labels that have loops which go backwards
