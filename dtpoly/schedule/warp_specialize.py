"""The primitive `warp_specialize`: some warps load while others compute."""

from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options


@dataclass(frozen=True, slots=True)
class WarpSpecialize(Primitive):
    """Let four more warps load the tiles of a product, while those of `num_warps(8)` multiply.

        for k: load(k); use(k)  -->  warps A: for k: load(k)  ||  warps B: for k: use(k)

    Both tiles are loaded and the result is stored through descriptors, and the block has 128 rows
    at least: each of two groups of four warps has half of them. Where a device cannot do it, or
    tensors have no descriptors, the kernel is as it is without.
    """

    name: ClassVar[str] = "warp_specialize"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def apply(self, state: State) -> State:
        """Recorded on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, is_specialized=True))
