"""A kernel on its way through the passes: its body so far, and what passes found out about it."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Described, Flag, GridAxis, Row, Step, TileKernel
from dtpoly.ir.launch_steps import LaunchStep, MakeDescriptor
from dtpoly.ir.parts import assigned, nested
from dtpoly.ir.step_dependences import exposed
from dtpoly.plan.launch import Launch

from .building import Building
from .descriptors import Wish


class Property(Enum):
    """A fact about a kernel or its launch that a pass may need, or that excludes a pass."""

    GRID = "it has several programs"
    PASSES_MEMORY = "values pass through memory inside of it"
    IN_PLACE = "it stores a result in place of an input that it loads"
    WALKS = "lanes are aligned or loops turn round"
    MAY_SPECIALIZE = "some warps may load for the others"
    MAY_WAIT = "it may be placed on the device before the launch before it has ended"
    DESCRIBED = "tiles are loaded or stored through descriptors"


@dataclass(frozen=True, slots=True)
class JoinedBody:
    """A body in which loops were joined, and the body that it was made of.

    A pass that asks whether loops can be joined has joined them. The pass that joins them takes the
    result, if it has the same body still.
    """

    of: tuple[Step, ...]
    body: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class KernelDraft:
    """A kernel between two passes: what it was lowered with, its body, and what passes found out.

    `names` are those of its outermost block and its parameters, `sizes` the variables of its sizes,
    `labels` what the source calls each loop.
    """

    name: str
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
    head: tuple[LaunchStep, ...] = ()  # what a program does before all of its blocks
    foot: tuple[LaunchStep, ...] = ()  # and behind them
    fours: tuple[Row, ...] = ()
    lined: frozenset[str] = frozenset()
    turned: tuple[str, ...] = ()
    joined: "JoinedBody | None" = field(default=None, compare=False, repr=False)

    @property
    def replaced(self) -> dict[str, str]:
        """Return the input whose memory each result in place has, by the variables of both."""
        pointers = self.building.pointers
        return {
            pointers[result].variable: pointers[tensor].variable
            for tensor, result in self.building.model.into.items()
            if result in pointers and tensor in pointers
        }

    @property
    def taken(self) -> frozenset[str]:
        """Return all names that the draft uses."""
        return self.names | {*assigned(self.body)}

    @property
    def properties(self) -> frozenset[Property]:
        """Return the facts that hold of this kernel and of its launch."""
        launch = self.launch
        holds = {
            Property.GRID: bool(self.grid),
            Property.PASSES_MEMORY: bool(self.shared),
            Property.IN_PLACE: bool(self.replaced),
            Property.WALKS: bool(launch.aligned or launch.turned),
            Property.MAY_SPECIALIZE: launch.may_specialize,
            Property.MAY_WAIT: launch.may_wait,
            Property.DESCRIBED: bool(self.blocks),
        }
        return frozenset(one for one, is_so in holds.items() if is_so)


def kernel_of(draft: KernelDraft) -> TileKernel:
    """The kernel that a draft is, with all of its parameters."""
    building, launch, body = draft.building, draft.launch, draft.body
    flags = tuple(building.flags.values())
    return TileKernel(
        name=draft.name,
        tensors=tuple(building.pointers.values()),
        scalars=tuple((n, variable, e) for n, (variable, e) in building.scalars.items()),
        sizes=_sizes(draft),
        shapes=tuple((tensor, axis, n) for (tensor, axis), n in building.shapes.items()),
        counts=tuple(building.counts.items()),
        flags=_told(flags, body) if draft.lined or draft.turned else flags,
        elements=tuple(building.passed.items()),
        grid=draft.grid,
        body=body,
        comment=launch.comment,
        described=draft.blocks,
        each=draft.each,
        lined=tuple(name for name, one in building.pointers.items() if one.variable in draft.lined),
        turned=draft.turned,
        fours=draft.fours,
        is_beside=bool(launch.beside),
        head=draft.head,
        foot=draft.foot,
    )


def _told(flags: tuple[Flag, ...], body: tuple[Step, ...]) -> tuple[Flag, ...]:
    """The flags that something asks for."""
    asked = {getattr(one, "unless", None) for one in nested(body)}
    return tuple(flag for flag in flags if flag.name in asked)


def _sizes(draft: KernelDraft) -> tuple[tuple[str, str], ...]:
    """Collect the parameters for sizes.

    A size that the file fixes has one only if something needs its variable; else it is a number.
    """
    building = draft.building
    made = (one for one in draft.head if isinstance(one, MakeDescriptor))
    used = {
        *exposed(draft.body),
        *(axis.size for axis in draft.grid),
        *building.counts.values(),
        *(flag.size for flag in building.flags.values()),
        *(size for one in made for size in one.sizes),
    }
    return tuple(
        (size, variable)
        for size in building.model.params
        if (variable := building.variables[size]) in used or size not in building.model.fixed
    )
