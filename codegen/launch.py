"""Describes the launch of one kernel: its statements, and what the directives say of it.

`lower` makes the kernel from a `Launch`. The compiler builds one for each kernel of the tree.
"""

from collections.abc import Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Path

from .specializing import may_specialize


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel of the tree, as code generation needs it: name, paths to its statements, options."""

    name: str
    paths: tuple[Path, ...]
    unrolled: Mapping[str, int]
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
    streamed: tuple[str, ...] = ()  # tensors of which loads leave the cache first
    # Label -> the most elements along it that are stored at once.
    boxes: Mapping[str, int] = field(default_factory=dict[str, int])
    panel: tuple[str, int] | None = None  # label, and how many are computed at a time
    is_first_of_panel: bool = False  # beside the last kernel of the panel before
    is_swapped: bool = False  # rows of products are columns while they are summed

    @property
    def may_specialize(self) -> bool:
        """Whether some of its warps may load for the others."""
        return self.is_specialized and may_specialize(self.num_warps, self.num_stages)
