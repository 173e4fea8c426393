"""The primitive `num_stages`: how far the loads of a loop run ahead."""

from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.arguments import Integer
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options


@dataclass(frozen=True, slots=True)
class NumStages(Primitive):
    """Let the loads of later iterations overlap with the work of earlier ones.

        for k: load(k); use(k)  -->  load(0); for k: load(k + 1) while use(k)

    1 means no overlap. It is refused where a loop reads from memory what it wrote there.
    """

    name: ClassVar[str] = "num_stages"
    elsewhere: ClassVar[tuple[str, ...]] = ("pipeline",)
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("stages", Integer()),)

    stages: int

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, num_stages=self.stages))
