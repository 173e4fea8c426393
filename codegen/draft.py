"""A kernel on its way through the passes: its body so far, and what passes found out about it."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Described, GridAxis, OwnDescriptor, Step
from dtpoly.ir.parts import assigned
from dtpoly.plan.launch import Launch

from .building import Building
from .descriptors import Wish


class Property(Enum):
    """A fact about a kernel or its launch that a pass may need, or that excludes a pass."""

    GRID = "it has several programs"
    PASSES_MEMORY = "values pass through memory inside of it"
    WALKS = "lanes are aligned or loops turn round"
    CUT = "tiles are stored in parts"
    SWAPPED = "sides of products are swapped"
    MAY_SPECIALIZE = "some warps may load for the others"


@dataclass(frozen=True, slots=True)
class KernelDraft:
    """A kernel between two passes: what it was lowered with, its body, and what passes found out.

    `names` are those of its outermost block and its parameters, `sizes` the variables of its sizes,
    `labels` what the source calls each loop.
    """

    building: Building
    launch: Launch
    grid: tuple[GridAxis, ...]
    names: frozenset[str]
    sizes: tuple[str, ...]
    labels: Mapping[str, str]
    body: tuple[Step, ...]
    # Each of these is left by one pass for those behind it.
    shared: frozenset[str] = frozenset()  # memory through which values pass inside of the kernel
    wishes: Mapping[str, Wish] = field(default_factory=dict[str, Wish])
    blocks: tuple[Described, ...] = ()
    each: int = 0  # programs for each multiprocessor, which take blocks in turn
    own: tuple[OwnDescriptor, ...] = ()
    lined: frozenset[str] = frozenset()
    turned: tuple[str, ...] = ()

    @property
    def taken(self) -> frozenset[str]:
        """All names that it has."""
        return self.names | {*assigned(self.body)}

    @property
    def properties(self) -> frozenset[Property]:
        """The facts that hold of this kernel and of its launch."""
        launch = self.launch
        holds = {
            Property.GRID: bool(self.grid),
            Property.PASSES_MEMORY: bool(self.shared),
            Property.WALKS: bool(launch.aligned or launch.turned),
            Property.CUT: bool(launch.boxes),
            Property.SWAPPED: launch.is_swapped,
            Property.MAY_SPECIALIZE: launch.may_specialize,
        }
        return frozenset(one for one, is_so in holds.items() if is_so)
