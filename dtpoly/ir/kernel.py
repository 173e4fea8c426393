"""The kernel IR: a small tile program that knows nothing of Triton's spelling.

A value varies along axes, which are named by their lane variables, in order; it meets another
value by axis. Indices and conditions are affine over variables of the kernel.
"""

from dataclasses import field

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.copy_steps import CopyStep
from dtpoly.ir.kinds import Element, ValueKind
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.launch_steps import LaunchStep, LetNextBegin, MakeDescriptor, WaitForLaunch
from dtpoly.ir.tile_values import Axes, Test, Value, Variable
from dtpoly.poly.loops import Bound, Condition


@dataclass(frozen=True, slots=True)
class Shifted:
    """Lanes that are counted from an aligned place on, under `name`.

    An index is that count less `by`. `is_index` says whether something asks for the index.
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
class LoopScalar:
    """`name = bound`: a number of the loops."""

    name: str
    value: Bound


@dataclass(frozen=True, slots=True)
class GivenScalar:
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
    """A named address: that of some of a tensor's indices, which are given by their positions."""

    name: str
    axes: Axes
    included: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`name = ` the address of the `included` indices, computed from a base if there is one."""

    name: str
    tensor: str
    indices: tuple[Affine, ...]
    included: tuple[int, ...]
    axes: Axes
    base: Base | None


@dataclass(frozen=True, slots=True)
class LineStart:
    """The place where a line of a tensor begins; the line runs along the last of the indices.

    The line begins `shift` elements behind an aligned place, whose address is `name`. A line that
    is not contiguous is shifted by 0.
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
class Halved:
    """`first, second = name`, cut in the middle of one of its axes.

    Without a name, it is the whole tile that is cut.
    """

    name: str
    shape: tuple[int, ...]
    axis: int
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Box:
    """A part of a tile that a descriptor stores, and how far from the tile's start it is."""

    name: str
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DescribedBlock:
    """A load or store through a descriptor, which replaces addresses where there is a descriptor.

    It starts at an index for each axis of the descriptor. Axes of one lane are left out of its
    shape; for the others, `order` says which of them each axis of the tile is. A tile that is
    larger than the block is `halved` until its parts are `boxes` of this shape, which are stored
    one after another.
    """

    descriptor: str
    starts: tuple[Affine, ...]
    shape: tuple[int, ...]
    order: tuple[int, ...]
    halved: tuple[Halved, ...] = ()
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """A tile of a tensor; `other` where a condition fails.

    `taken` are the variables in the indices that are no lanes, and have lanes: whole numbers that
    were loaded or computed, each at its own place. So `T[token, n]` is a gather.
    """

    name: str
    tensor: str
    indices: tuple[Affine, ...]
    conditions: tuple[Test, ...]
    axes: Axes
    other: int | float | None
    dtype: Element
    base: Base | None = None
    converted: Element | None = None  # the type that it is given at once
    block: DescribedBlock | None = None
    is_streamed: bool = False  # it leaves the cache first; through a descriptor as always
    taken: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Store:
    """A tile that is written where the conditions hold; `atomic` names a reduction to add it by.

    How an atomic store is done depends on the type in memory. `taken` is what it is of a load: with
    it, the store is a scatter.
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
    block: DescribedBlock | None = None
    taken: tuple[Variable, ...] = ()


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
    """Keep the better of `name` and a value, with its index: an accumulator of two tiles.

    For lists, these have one more axis instead of the last one, with `count` lanes. A list that
    `skips` is compared with the value first, and stays as it is if nothing of it enters.
    """

    name: str
    index: str
    reduction: str
    value: Value
    at: Value
    axes: Axes
    count: int = 0
    skips: bool = False


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
    """`name = value`, laid out along axes and then given another shape.

    `counts` are the lanes of the axes, in groups. A group is one axis of the result; or, if axes
    are not joined but taken apart, one axis of the value.
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
    """A barrier: after it, all lanes see what any lane wrote to memory before it."""


@dataclass(frozen=True, slots=True)
class ForLoop:
    """A sequential loop; not pipelined where values pass from iteration to iteration in memory.

    A loop `over` several labels counts the rounds of all of them together. Their number is the
    product of `factors`: each is a size or a number, divided by a number and rounded up.
    """

    name: str
    start: Bound
    stop: Bound
    step: int
    body: "tuple[Step, ...]"
    unroll: int = 1
    is_pipelined: bool = True
    over: tuple[str, ...] = ()
    factors: tuple[tuple[str | int, int], ...] = ()
    is_specialized: bool = False  # warps of their own load, where the kernel is launched so


@dataclass(frozen=True, slots=True)
class If:
    """The body if every condition holds; they never do under the compile-time flag `unless`."""

    conditions: tuple[Condition, ...]
    body: "tuple[Step, ...]"
    unless: str | None = None


@dataclass(frozen=True, slots=True)
class TiledLoop:
    """A loop over a size from 0 on, in tiles of `step` indices.

    The main part is done for each whole tile, and the tail once if something is left behind them.
    Under the compile-time flag `unless`, nothing is left. With all of the descriptors that it is
    `covered` by, rounds of the main part go to the end of the size, and there is no tail.
    """

    name: str
    size: Affine
    step: int
    main: "tuple[Step, ...]"
    tail: "tuple[Step, ...]"
    tail_origin: str = ""
    unless: str | None = None
    unroll: int = 1
    is_pipelined: bool = True
    covered: tuple[str, ...] = ()
    is_specialized: bool = False  # where it is covered, warps of their own load


Instruction = (
    Lanes
    | Mask
    | Let
    | LoopScalar
    | GivenScalar
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
    | ScanLanes
    | Barrier
    | ForLoop
    | If
    | TiledLoop
    | CopyStep
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
    is_descending: bool = False  # programs take its blocks from the last one to the first


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
    """A descriptor of a tensor, for blocks of so many elements. At run time it may be missing.

    It has the tensor's axes in some order.
    """

    tensor: str
    name: str
    block: tuple[int, ...]
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """A compile-time truth about a size: it is a multiple of a number, or fills its lanes (0).

    Several flags may share one name: it then says all of that.
    """

    name: str
    size: str
    multiple: int


# Names of compile-time parameters. The first two say whether a launch is early, and whether it is
# specialized; only kernels that may be launched in that way have them.
EARLY = "early"
SPECIALIZED = "specialized"
# Whether rows begin at multiples of four numbers; only kernels that are told so have it.
FOURS = "fours"
# The type of offsets; all kernels have it.
OFFSET = "offset"
# If one launch computes two kernels: how many of its programs belong to the first kernel.
BEFORE = "before"
# Where the panel of a launch begins.
PANEL = "panel"


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter of a kernel: a stride of a tensor, or how long rows are."""

    variable: str
    tensor: str = ""
    axis: int = 0


@dataclass(frozen=True, slots=True)
class TileKernel:
    """A launch: its parameters, and what a program does once, for each of its blocks, and last."""

    name: str
    tensors: tuple[Pointer, ...]
    scalars: tuple[tuple[str, str, Element], ...]  # input, variable, type
    sizes: tuple[tuple[str, str], ...]  # size parameter, variable
    shapes: tuple[tuple[str, int, str], ...]  # tensor, axis, variable
    counts: tuple[tuple[str, str], ...]  # compile-time lane count, and the size it rounds up
    flags: tuple[Flag, ...]
    elements: tuple[tuple[str, ValueKind | None], ...]  # dtypes that the runtime passes
    grid: tuple[GridAxis, ...]
    body: tuple[Step, ...]
    comment: tuple[str, ...] = field(default=())
    described: tuple[Described, ...] = ()
    each: int = 0  # programs for each multiprocessor, which take blocks in turn; 0 if one a block
    lined: tuple[str, ...] = ()  # tensors along whose lines lanes are aligned
    turned: tuple[str, ...] = ()  # labels that have loops which go backwards
    fours: tuple[Row, ...] = ()  # what a launch may say to be multiples of four
    is_beside: bool = False  # the first programs of its launch are those of another kernel
    head: tuple[LaunchStep, ...] = ()  # before all blocks of a program
    foot: tuple[LaunchStep, ...] = ()  # behind all of them

    @property
    def is_early(self) -> bool:
        """Return whether it may be placed while the kernel before it ends."""
        return any(isinstance(one, WaitForLaunch) for one in self.head)

    @property
    def own(self) -> tuple[MakeDescriptor, ...]:
        """The descriptors that it makes itself where some of its warps load for the others."""
        return tuple(one for one in self.head if isinstance(one, MakeDescriptor))

    @property
    def is_first_of_panel(self) -> bool:
        """Return whether it begins before the last kernel of the panel before has ended."""
        return WaitForLaunch(in_first_panel=True) in self.head

    @property
    def is_last_of_panel(self) -> bool:
        """Return whether it says itself when the first kernel of the next panel may begin."""
        return LetNextBegin() in self.head
