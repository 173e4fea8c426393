"""The primitive `num_warps`: how many warps run a program instance."""

from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.arguments import Integer
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options


@dataclass(frozen=True, slots=True)
class NumWarps(Primitive):
    """Give each program instance of a kernel a number of warps.

        kernel[grid](...)  -->  kernel[grid](..., num_warps=8)

    It changes no order: the lanes of a tile are spread over the warps.
    """

    name: ClassVar[str] = "num_warps"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("warps", Integer(1, 32, power_of_two=True)),
    )

    warps: int

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, num_warps=self.warps))
