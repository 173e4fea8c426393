"""The primitive `swap`: the tile of a product is computed the other way round."""

from collections.abc import Iterator
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.directives.warp_specialize import contradiction
from dtpoly.frozen import dataclass
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options


@dataclass(frozen=True, slots=True)
class Swap(Primitive):
    """Swap the sides of the products of a kernel: rows of a tile are columns while it is summed.

        acc[m, n] += A[m, k] @ B[k, n]  -->  acc[n, m] += B[n, k] @ A[k, m], then turned

    What tensor cores multiply at once may have 256 columns and has 64 rows: so of a block with more
    rows than columns it is more. The result is turned where it is stored. The same numbers are
    multiplied and added as before.
    """

    name: ClassVar[str] = "swap"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Refuse it where groups of warps have rows of their own."""
        yield from contradiction(self, view, "has half of the rows")

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, is_swapped=True))
