"""The plan of a function, as the verifier reads it: each part with the line where it stands.

`forms` makes a `CallPlan` of a literal. The names in it are those of the plan; `source` has the
source's name for those that Python needed another one for.
"""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.frozen import dataclass
from dtpoly.verify.plan.formula_parsing import Dtype, Formula, FormulaComparison


@dataclass(frozen=True, slots=True)
class GivenTensor:
    """A tensor of the caller: the word for its dtype, and how many axes it has."""

    dtype: str
    rank: int
    line: int


@dataclass(frozen=True, slots=True)
class GivenNumber:
    """A number of the caller: `float`, `bool` or `int`, and the limits of a whole one."""

    kind: str
    limits: tuple[int, ...]
    line: int


@dataclass(frozen=True, slots=True)
class GivenUnread:
    """A tensor that nothing looks at."""

    line: int


GivenInput = GivenTensor | GivenNumber | GivenUnread


@dataclass(frozen=True, slots=True)
class LabelSize:
    """The size of a label: its formula, if there is one, and whether a call may pass another.

    `instead` are the labels whose sizes must be passed where this one is not.
    """

    formula: Formula | None
    may_be_passed: bool
    instead: tuple[str, ...]
    most: int | None
    line: int


@dataclass(frozen=True, slots=True)
class ShapeDemand:
    """A tensor must have a shape: the sizes of these labels."""

    tensor: str
    labels: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class SizeDemand:
    """The size of a label must be what another formula says, too."""

    label: str
    formula: Formula
    line: int


@dataclass(frozen=True, slots=True)
class InsideDemand:
    """An index must stay inside of an axis, unless one of some labels has the size 0."""

    extent: Formula
    low: Formula | None
    high: Formula | None
    where: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class SomeDemand:
    """The size of a label must not be 0."""

    label: str
    line: int


Demand = ShapeDemand | SizeDemand | InsideDemand | SomeDemand


@dataclass(frozen=True, slots=True)
class KernelType:
    """A type that kernels are compiled with: what it is, and for which dtypes."""

    kind: str
    of: Dtype | None
    line: int


@dataclass(frozen=True, slots=True)
class MadeTensor:
    """A tensor that the call makes: its shape, its dtype, and whether its rows are pitched.

    A result in place has the memory of the input `into`, and nothing is made for it.
    """

    shape: tuple[Formula, ...]
    dtype: Dtype
    is_pitched: bool
    line: int
    into: str = ""


@dataclass(frozen=True, slots=True)
class DescriptorOf:
    """A descriptor: of which tensor, its block, the order of its axes, and its step."""

    tensor: str
    block: tuple[int, ...]
    axes: tuple[int, ...]
    step: int | None
    line: int


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """The launch of a kernel, as docs/plan.md describes it.

    `programs` is None for one program, and `before` is None unless one launch computes two kernels.
    """

    kernel: str
    programs: tuple[Formula, ...] | None
    before: tuple[Formula, ...] | None
    tensors: Mapping[str, tuple[str, ...]]
    scratch: Mapping[str, MadeTensor]
    numbers: Mapping[str, Formula]
    descriptors: Mapping[str, DescriptorOf]
    lanes: Mapping[str, Formula]
    flags: Mapping[str, tuple[FormulaComparison, ...]]
    types: tuple[str, ...]
    fours: tuple[Formula, ...]
    counts: tuple[Formula, ...]
    near: tuple[Formula, ...]
    tiles: tuple[Formula, ...]
    warps: int
    stages: int | None
    turns: int
    panel: str
    is_early: bool
    specialized: tuple[int, tuple[str, ...]] | None
    line: int


@dataclass(frozen=True, slots=True)
class InPanels:
    """Panels of a plan: all launches are done for `size` indices of some labels at a time."""

    labels: tuple[str, ...]
    size: int
    cut: Mapping[str, int]
    line: int


@dataclass(frozen=True, slots=True)
class CallPlan:
    """The plan of a function, with everything that a call of it does."""

    function: str
    source: Mapping[str, str]
    inputs: Mapping[str, GivenInput]
    sizes: Mapping[str, LabelSize]
    demands: tuple[Demand, ...]
    types: Mapping[str, KernelType]
    results: Mapping[str, MadeTensor]
    between: Mapping[str, MadeTensor]
    indices: tuple[Formula, ...]
    launches: tuple[PlannedCall, ...]
    panels: InPanels | None
    first_line: int
    last_line: int

    def named(self, one: str) -> str:
        """Return the source's name for a name of the plan."""
        return self.source.get(one, one)
