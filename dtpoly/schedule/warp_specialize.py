"""The primitive `warp_specialize`: some warps load while others compute."""

from collections.abc import Iterator
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options
from dtpoly.schedule.unused import has_no_effect


@dataclass(frozen=True, slots=True)
class WarpSpecialize(Primitive):
    """Let different warps of a program do the loads and the work of its innermost loops.

        for k: load(k); use(k)  -->  warps A: for k: load(k)  ||  warps B: for k: use(k)

    A device that cannot do it ignores it. To let loads run ahead in the same warps, use
    `num_stages`.
    """

    name: ClassVar[str] = "warp_specialize"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Nothing can be wrong with it; but no code is made of it yet."""
        yield has_no_effect(self)

    def apply(self, state: State) -> State:
        """Recorded on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, is_specialized=True))
