"""The primitive `swap`: the tile of a product is computed the other way round."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.directives.warp_specialize import contradiction
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.tree import Kernel


@dataclass(frozen=True, slots=True)
class Swap(LaunchEdit):
    """Swap the sides of the products of a kernel: rows of a tile are columns while it is summed.

        acc[m, n] += A[m, k] @ B[k, n]  -->  acc[n, m] += B[n, k] @ A[k, m], then turned

    What tensor cores multiply at once may have 256 columns and has 64 rows: so of a block with more
    rows than columns it is more. The result is turned where it is stored. The same numbers are
    multiplied and added as before.
    """

    name: ClassVar[str] = "swap"
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Refuse it where groups of warps have rows of their own."""
        yield from contradiction(self, view, "has half of the rows")

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let rows of products be columns while they are summed."""
        return replace(launch, is_swapped=True)
