"""The primitive `warp_specialize`: some warps load while others compute."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import COMPUTING_WARPS, LEAST_ROWS, Launch
from dtpoly.schedule.facts import Fact, RowsApart
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class WarpSpecialize(LaunchEdit):
    """Let four more warps load the tiles of a product, while those of `num_warps(8)` multiply.

        for k: load(k); use(k)  -->  warps A: for k: load(k)  ||  warps B: for k: use(k)

    Both tiles are loaded and the result is stored through descriptors, and the block has 128 rows
    at least: each of two groups of four warps has half of them. Where a device cannot do it, or
    tensors have no descriptors, the kernel is as it is without.
    """

    name: ClassVar[str] = "warp_specialize"
    ignores_sizes: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(("f.warp_specialize();",), "let some warps load while others multiply"),
        ),
        heading="Products",
        paragraph=(
            "**`f.warp_specialize()`** lets four more warps load the tiles of a product while "
            "those of `num_warps(8)` multiply, in two groups that each have half of the rows of "
            "the block. The kernel must be one loop that multiplies two matrices, `A[m, k]` and "
            "any other, into a block of at least 128 rows, in at least two stages. Both matrices "
            "are loaded and the result is stored by descriptors (`f.descriptor(A, B, f)`), and "
            "nothing else depends on the row. For other kernels the directive changes nothing, "
            "and a warning says so. The kernel is launched in this way on GPUs of sm_90, if both "
            "matrices have one type that tensor cores multiply and have descriptors; otherwise "
            "it is launched as without the directive."
        ),
    )

    def facts(self) -> Iterator[Fact]:
        """State that each of two groups of warps has half of the rows."""
        yield RowsApart(self.func, str(self), self.span)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let some warps load for those that compute."""
        return replace(launch, is_specialized=True)

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report that no warps load for others."""
        if not made.has_loaders:
            yield made.whole(*self._why_alike(made))

    def _why_alike(self, made: "Made") -> tuple[str, str]:
        """Say why no warps load for others, and what to do; the nearest reason comes first."""
        func, launch = self.func, made.launch
        if not made.multiplies:
            return "no kernel of it multiplies two matrices", "remove it"
        if launch.num_warps != COMPUTING_WARPS:
            way = "add" if launch.num_warps is None else f"instead of {launch.num_warps} warps take"
            return (
                f"its kernel has no num_warps({COMPUTING_WARPS})",
                f"{way} num_warps({COMPUTING_WARPS}), or remove it",
            )
        if launch.num_stages == 1:
            return (
                "of one stage nothing is loaded before it is needed",
                "take two stages, or remove it",
            )
        if launch.aligned or launch.turned:
            return "not where loops are aligned or alternate", "remove one of them"
        named = set(launch.descriptors)
        if func not in named or len(named & made.read) < min(2, len(made.read)):
            why = "both sides of a product are loaded and its result is stored through descriptors"
            return why, f"name both inputs and {func} in {func}.descriptor(...), or remove it"
        rows = made.rows
        if rows is not None and rows < LEAST_ROWS:
            why = f"a block of it has {rows} row{'s' * (rows > 1)}, and each of two groups takes 64"
            return why, f"take blocks of {LEAST_ROWS} rows, or remove it"
        why = (
            "no kernel of it is one loop that multiplies two matrices, loads both and stores the "
            "result through descriptors, and reads nothing else row by row"
        )
        return why, "remove it"
