"""The primitive `swap`: the tile of a product is computed the other way round."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dtpoly.diagnostics import Diagnostic, Note
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Swap(LaunchEdit):
    """Swap the sides of the products of a kernel: rows of a tile are columns while it is summed.

        acc[m, n] += A[m, k] @ B[k, n]  -->  acc[n, m] += B[n, k] @ A[k, m], then turned

    What tensor cores multiply at once may have 256 columns and has 64 rows: so of a block with more
    rows than columns it is more. The result is turned where it is stored. The same numbers are
    multiplied and added as before.
    """

    name: ClassVar[str] = "swap"
    ignores_sizes: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    reference: ClassVar[Reference] = Reference(
        rows=(ReferenceRow(("f.swap();",), "swap the sides of the products"),),
        heading="Products",
        paragraph=(
            "**`f.swap()`** swaps the sides of the products in the kernel of `f`: while a tile "
            "is summed, its columns are rows for the tensor cores, and it is turned back where "
            "it is stored. The tensor cores of sm_90 multiply 64 rows and up to 256 columns at "
            "once. So for a block with more rows than columns (`m:256, n:128`) they multiply "
            "more at once, and operands are read from shared memory less often. The same numbers "
            "are multiplied and added. If the tile is cut along its rows (`f.store(m:128)`), it "
            "is turned on the way; if it is cut along n, warps exchange it once more. It cannot "
            "stand with `warp_specialize`."
        ),
    )

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Refuse it where groups of warps have rows of their own."""
        if (other := view.rows_apart.get(self.func)) is not None:
            why = Note("each of two groups of warps has half of the rows there", other.span)
            yield self.contradiction(other.by, why)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let rows of products be columns while they are summed."""
        return replace(launch, is_swapped=True)

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report that no matrices are multiplied."""
        if not made.multiplies:
            yield made.whole("no kernel of it multiplies two matrices", "remove it")
