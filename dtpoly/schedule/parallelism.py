"""Says what runs in parallel in each kernel, and which loops are left to run one step at a time."""

from collections.abc import Iterable
from enum import StrEnum

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis
from dtpoly.poly.dependences import DependenceKind
from dtpoly.poly.model import Model, by_name
from dtpoly.poly.separation import Separation
from dtpoly.schedule.counts import (
    PowerOfTwo,
    SizeProduct,
    TileCount,
    blocks_of,
    program_blocks,
    tiles_of,
)
from dtpoly.schedule.panelled import Panelled, panelled
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, Loop, launch_of, leaves, loops


class Why(StrEnum):
    """The reason why the iterations of a loop run one after another."""

    REDUCTION = "a reduction"
    CARRIES = "carries a dependence"
    CHOICE = "independent"  # by choice: its iterations could be lanes


@dataclass(frozen=True, slots=True)
class LoopLeft:
    """A loop of several steps that run one after another."""

    func: str
    label: str
    steps: TileCount
    why: Why

    def __str__(self) -> str:
        return f"{self.label} of '{self.func}': {self.steps} steps, {self.why}"


@dataclass(frozen=True, slots=True)
class LaneCount:
    """The number of lanes that a statement has along a label."""

    label: str
    count: TileCount | PowerOfTwo

    def __str__(self) -> str:
        return f"{self.count} of {self.label}"


@dataclass(frozen=True, slots=True)
class KernelSummary:
    """A summary of a kernel. The lanes are those of its widest statement.

    If the kernel is computed in panels, all numbers are those of one panel. `beside` is the kernel
    that shares its launch.
    """

    name: str
    funcs: tuple[str, ...]
    programs: SizeProduct
    lanes: tuple[LaneCount, ...]
    loops: tuple[LoopLeft, ...]
    statements: int
    beside: str = ""
    panels: Panelled | None = None

    @property
    def lane_count(self) -> SizeProduct:
        """Return how many lanes there are at most."""
        return SizeProduct(tuple(one.count for one in self.lanes))


def summaries(state: State, found: Iterable[Separation]) -> tuple[KernelSummary, ...]:
    """Summarize each kernel, in the order in which they run."""
    carrying = {
        name
        for one in found
        if one.dependence.kind is not DependenceKind.REDUCTION
        for name in one.carriers
    }
    parts = {name: one for one in panelled(state) for name in one.kernels}
    return tuple(
        _summary(kernel, state.model, carrying, parts.get(kernel.name)) for kernel in state.kernels
    )


def _summary(
    kernel: Kernel, model: Model, carrying: set[str], panels: Panelled | None
) -> KernelSummary:
    known = by_name(model)
    below = [leaf for leaf, _ in leaves(kernel.body)]
    left = (_left(loop, model, carrying) for *_, loop in loops(kernel.body))
    return KernelSummary(
        kernel.name,
        tuple(dict.fromkeys(known[leaf.statement].func for leaf in below)),
        SizeProduct(tuple(blocks_of(axis, model) for axis in program_blocks(kernel.grid))),
        max((_lanes(leaf.lanes, model) for leaf in below), key=_width, default=()),
        tuple(dict.fromkeys(loop for loop in left if loop is not None)),
        len(below),
        launch_of(kernel).beside,
        panels,
    )


def _left(loop: Loop, model: Model, carrying: set[str]) -> LoopLeft | None:
    steps = tiles_of(loop.axis, model)
    if steps.constant == 1:
        return None
    why = Why.CHOICE
    if loop.axis.name in carrying:
        why = Why.CARRIES
    elif loop.is_reduction:
        why = Why.REDUCTION
    return LoopLeft(loop.func, loop.axis.label, steps, why)


def _lanes(lanes: Iterable[Axis], model: Model) -> tuple[LaneCount, ...]:
    """Count the lanes along each label, but leave out labels with only one."""
    found = ((lane.label, _lane_count(lane, model)) for lane in lanes)
    return tuple(LaneCount(label, count) for label, count in found if count.constant != 1)


def _lane_count(lane: Axis, model: Model) -> TileCount | PowerOfTwo:
    if lane.extent is None:
        return PowerOfTwo(blocks_of(lane, model))
    return TileCount(lane.extent, lane.step or lane.extent)


# The size that a label has when lanes are compared. It is larger than most tiles.
TYPICAL = 1 << 12


def _width(lanes: tuple[LaneCount, ...]) -> float:
    counts = (one.count for one in lanes)
    total = 1.0
    for count in counts:
        total *= count.constant or TYPICAL
    return total
