"""Computes how large each tile of a kernel is at a call, and how it lies in memory."""

from collections.abc import Iterator, Mapping
from math import prod

from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.python_names import strides
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Accumulate,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Let,
    Load,
    Product,
    Select,
    Step,
    Store,
    TileKernel,
)
from dtpoly.ir.tile_values import Axes
from dtpoly.ir.tiled import flat
from dtpoly.targets.argument import CONSTANT, ParameterType
from dtpoly.targets.parameter_types import SizedCall, contiguous, shape_of


@dataclass(frozen=True, slots=True)
class LaneAxis:
    """Lanes of a kernel: how many, how many indices apart, and the axis of the schedule."""

    name: str
    count: int
    step: int
    origin: str


@dataclass(frozen=True, slots=True)
class SizedTile:
    """Elements that all lanes have at once, outermost axis first, and the statement they are of."""

    axes: tuple[LaneAxis, ...]
    origin: str

    @property
    def elements(self) -> int:
        """Return how many."""
        return prod(axis.count for axis in self.axes)


@dataclass(frozen=True, slots=True)
class TileAccess:
    """A tile in memory, and how many elements apart neighbours along each of its axes are."""

    tensor: str
    is_store: bool
    tile: SizedTile
    steps: tuple[int, ...]

    @property
    def run(self) -> int:
        """Neighbours in memory that are neighbours in the tile; 1 if there are none."""
        pairs = zip(self.tile.axes, self.steps, strict=True)
        return max((axis.count for axis, step in pairs if abs(step) == 1), default=1)


def tiles(kernel: TileKernel, arguments: Mapping[str, ParameterType]) -> Iterator[SizedTile]:
    """Yield every tile that an instruction names."""
    for step, lanes in instructions(kernel, arguments):
        for axes in _axes(step.instruction):
            # Partial results have axes of their own, which stand for lanes that had a name before.
            if all(name in lanes for name in axes):
                yield SizedTile(tuple(lanes[name] for name in axes), step.origin)


def accesses(
    call: SizedCall, kernel: TileKernel, arguments: Mapping[str, ParameterType]
) -> Iterator[TileAccess]:
    """Yield every load and store, with tensors as they lie in memory."""
    pointers = {one.variable: one for one in kernel.tensors}
    for step, lanes in instructions(kernel, arguments):
        match step.instruction:
            case Load(tensor=tensor, indices=indices, axes=axes):
                is_store = False
            case Store(tensor=tensor, indices=indices, axes=axes):
                is_store = True
            case _:
                continue
        pointer = pointers[tensor]
        apart = contiguous(shape_of(call, kernel, pointer.name))
        assert len(strides(pointer)) == len(apart)
        tile = SizedTile(tuple(lanes[name] for name in axes), step.origin)
        steps = tuple(_distance(axis, indices, apart, lanes) for axis in tile.axes)
        yield TileAccess(pointer.name, is_store, tile, steps)


Known = Mapping[str, LaneAxis]


def _distance(
    axis: LaneAxis, indices: tuple[Affine, ...], apart: tuple[int, ...], lanes: Known
) -> int:
    """Elements from one lane to the next."""
    each = (
        factor * step
        for index, step in zip(indices, apart, strict=True)
        for name, factor in index.terms
        if isinstance(name, str) and lanes.get(name) == axis
    )
    return axis.step * sum(each)


def instructions(
    kernel: TileKernel, arguments: Mapping[str, ParameterType]
) -> Iterator[tuple[Step, Known]]:
    """Yield every instruction, with the lanes that are known there."""
    yield from _below(kernel.body, {}, arguments)


def _below(
    body: tuple[Step, ...], outer: Known, arguments: Mapping[str, ParameterType]
) -> Iterator[tuple[Step, Known]]:
    lanes = dict(outer)
    for step in flat(body):
        match step.instruction:
            case Lanes(name=name, count=count, step=apart, shifted=shifted):
                size = count if isinstance(count, int) else _constant(arguments[count])
                lanes[name] = LaneAxis(name, size, apart, step.origin)
                if shifted is not None:
                    lanes[shifted.name] = lanes[name]
            case ForLoop(body=inner) | If(body=inner):
                yield from _below(inner, lanes, arguments)
            case _:
                yield step, lanes


def _constant(argument: ParameterType) -> int:
    assert argument.type == CONSTANT
    assert isinstance(argument.value, int)
    return argument.value


def _axes(one: Instruction) -> Iterator[Axes]:
    if isinstance(one, Product):
        left, right = one.left_axes, one.right_axes
        yield from (left, right)
        yield tuple(a for a in (*left, *right) if (a in left) != (a in right))
        return
    # What is collapsed was a tile before, with axes of the same lengths.
    if isinstance(one, Let | Load | Store | Accumulate | Select) and one.axes:
        yield one.axes
