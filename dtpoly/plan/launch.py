"""Describes the launch of one kernel: its statements, and what directives ask of it.

The compiler makes one for each kernel of the schedule tree. Directives edit it, and code generation
makes the kernel and its launch from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Path

# Warps that compute, where others load for them: two groups of four.
COMPUTING_WARPS = 8
# Rows of a block then, at least: a group takes 64 at once.
LEAST_ROWS = 128


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel of the tree, as code generation needs it: name, paths to its statements, options."""

    name: str
    paths: tuple[Path, ...] = ()
    unrolled: Mapping[str, int] = field(default_factory=dict[str, int])
    precision: str | None = None
    num_warps: int | None = None
    num_stages: int | None = None
    comment: tuple[str, ...] = ()
    func: str = ""  # whose directives they are
    descriptors: tuple[str, ...] = ()
    each: int = 0  # programs for each multiprocessor; 0 if there is one for each block
    flat: tuple[tuple[str, ...], ...] = ()  # labels of loops that are one, outermost first
    aligned: tuple[str, ...] = ()  # tensors along whose lines lanes are aligned
    turned: Mapping[str, str] = field(default_factory=dict[str, str])  # axis -> label
    is_early: bool = False  # while the kernel before it ends
    is_pitched: bool = False  # rows of the Func begin where memory is aligned
    is_specialized: bool = False  # some warps load for those that compute
    beside: str = ""  # the kernel before it, if one launch computes both
    # Label -> the most elements along it that are stored at once.
    boxes: Mapping[str, int] = field(default_factory=dict[str, int])
    panel: tuple[str, int] | None = None  # label, and how many are computed at a time
    is_first_of_panel: bool = False  # beside the last kernel of the panel before
    is_swapped: bool = False  # rows of products are columns while they are summed
    # What directives make of the lowered body, before anything else is done with it. Each takes a
    # `Body` and gives steps; their module is not loaded where schedules are only checked.
    passes: tuple[Callable[[Any], Any], ...] = ()
    # Reductions that are computed in the loop of a Func that depends on them; each with that Func.
    running: tuple[tuple[str, str], ...] = ()
    # Labels of which programs take the blocks from the last one to the first.
    descending: tuple[str, ...] = ()

    def flaw(self) -> str | None:
        """Say which number no launch can have; None if all are possible."""
        numbers = (("warps", self.num_warps), ("stages", self.num_stages))
        wrong = (f"it has {one} {what}" for what, one in numbers if one is not None and one < 1)
        return next(wrong, None)

    @property
    def runs_ahead(self) -> bool:
        """Return whether loads of later iterations overlap with the work of earlier ones."""
        return (self.num_stages or 1) > 1

    @property
    def may_wait(self) -> bool:
        """Return whether it may be placed while others run, so that it has to wait for them."""
        return self.is_early or self.is_first_of_panel or self.panel is not None

    @property
    def may_specialize(self) -> bool:
        """Return whether some of its warps may load for the others.

        With one stage, nothing could be loaded before it is needed. Two groups of warps have halves
        of the rows, so that they cannot store tiles in parts or compute them the other way round.
        """
        enough = self.num_warps == COMPUTING_WARPS and self.num_stages != 1
        return self.is_specialized and enough and not (self.boxes or self.is_swapped)
