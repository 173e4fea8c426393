"""The primitive `warp_specialize`: some warps load while others compute."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import LaunchEdit, Parameter, Primitive
from dtpoly.schedule.tree import Kernel


@dataclass(frozen=True, slots=True)
class WarpSpecialize(LaunchEdit):
    """Let four more warps load the tiles of a product, while those of `num_warps(8)` multiply.

        for k: load(k); use(k)  -->  warps A: for k: load(k)  ||  warps B: for k: use(k)

    Both tiles are loaded and the result is stored through descriptors, and the block has 128 rows
    at least: each of two groups of four warps has half of them. Where a device cannot do it, or
    tensors have no descriptors, the kernel is as it is without.
    """

    name: ClassVar[str] = "warp_specialize"
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let some warps load for those that compute."""
        return replace(launch, is_specialized=True)


def contradiction(other: Primitive, view: View, does: str) -> Iterator[Diagnostic]:
    """Refuse what cannot be said of a kernel whose groups of warps have rows of their own."""
    for one in view.program.directives:
        if (one.func, one.name) == (other.func, WarpSpecialize.name):
            yield Diagnostic(
                "DT187",
                Severity.ERROR,
                f"'{str(other).rstrip(';')}' contradicts '{other.func}.{one.name}()'",
                other.span,
                "contradicts the other one",
                (Note(f"each of two groups of warps {does} there", one.span),),
                "keep one of them",
            )
            return
