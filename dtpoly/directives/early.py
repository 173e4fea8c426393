"""The primitive `early`: a launch that begins while the one before it ends."""

from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options


@dataclass(frozen=True, slots=True)
class Early(Primitive):
    """Place the programs of a launch on the device while the launch before it still runs.

        launch 1; launch 2  -->  launch 1 || place the programs of 2; then they compute

    They wait before they read or write anything until all before is done, so that nothing else
    changes. It takes about a microsecond from kernels that follow each other. On a device that
    cannot do it, a launch is as usual.
    """

    name: ClassVar[str] = "early"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, is_early=True))
