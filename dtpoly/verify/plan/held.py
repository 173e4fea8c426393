"""The values that names of a plan can hold, and all that was read of a function so far.

`plan_reader` fills a `FunctionReading` as it goes through a plan; `binding` makes one from the
lines of a hand-written file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import NoneValue, TextValue
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.terms import Given, Literal
from dtpoly.verify.algebra.whole import Truth, Whole
from dtpoly.verify.triton.access import KernelLaunch, KernelTensor
from dtpoly.verify.triton.unit.unit import Unit


@dataclass(frozen=True)
class TensorOf:
    """A tensor of the caller, or one that the function makes."""

    array: KernelTensor


@dataclass(frozen=True)
class FactorProduct:
    """A product whose factors are kept apart, such as the number of programs of a launch."""

    factors: tuple[Whole, ...]


@dataclass(frozen=True)
class LowerBound:
    """A number of which only this is known: it is not less than any of the parts."""

    parts: tuple[Held, ...]


@dataclass(frozen=True)
class PlanType:
    """An element type (see kinds)."""

    name: str


@dataclass(frozen=True)
class BlockDescriptor:
    """A descriptor of a tensor for blocks of a shape, or None.

    It is there if the condition `there` holds, which says that a name for this descriptor is 1.
    """

    array: KernelTensor
    block: tuple[int, ...]
    there: Truth


@dataclass(frozen=True)
class PanelLaunches:
    """Launches that are done for one part of a size after the other.

    `parts` are the axes of tensors that are cut, and `start` is where a part begins.
    """

    lines: tuple[int, int]  # its first and its last one
    size: Whole
    parts: Mapping[str, int]
    start: Whole
    alike: frozenset[str]  # what the size is called: extents of tensors


Plain = Whole | TensorOf | FactorProduct | LowerBound | PlanType | BlockDescriptor
Held = Plain | tuple["Held", ...] | Given | Truth | Literal | NoneValue | TextValue


@dataclass
class FunctionReading:
    """One function, as far as it has been read: its names, launches and facts."""

    run: ProofRun
    file: Unit
    wanted: str
    names: dict[str, Held]
    arrays: dict[str, KernelTensor]
    # The caller's tensors without a declared type.
    callers: frozenset[str]
    # The types of scalars; empty for floats, which take the type of the values that they meet.
    scalars: Mapping[str, str]
    launches: list[KernelLaunch] = field(default_factory=list[KernelLaunch])
    # Facts that hold for every call that the function does not refuse.
    facts: list[Truth] = field(default_factory=list[Truth])
    # The lines of refusals that were not understood. Because of them the function may accept fewer
    # calls than the proof looks at.
    skipped: list[int] = field(default_factory=list[int])
    result: str | None = None
    # Lines and reasons why nothing is proved, although the function can be read on.
    doubts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    # Tensors whose last element is known to have an offset below 2^31; products of sizes, each with
    # the number that it is below; and whether values are promised to be finite.
    near: frozenset[str] = frozenset()
    below: tuple[tuple[Whole, int], ...] = ()
    is_finite: bool = False
    # Sizes that callers promise to be powers of two.
    powers: frozenset[str] = frozenset()
    # Sizes that are refused if they are just below 2^31, before this launch or earlier ones.
    apart: frozenset[Whole] = frozenset()
    # The panels, if all launches are for one part of a size after the other.
    panels: PanelLaunches | None = None
    # The factors of products with constants.
    factors: dict[Whole, tuple[Whole, ...]] = field(default_factory=dict[Whole, tuple[Whole, ...]])
    # For a result in place, the input whose memory it has.
    into: dict[str, str] = field(default_factory=dict[str, str])
    # The inputs that the caller gives.
    inputs: frozenset[str] = frozenset()
    # By label: the size that it has if a call could pass one and does not.
    left_out: Mapping[str, Whole] = field(default_factory=dict[str, Whole])
