"""The primitive `persistent`: as many program instances as run at once."""

from dataclasses import dataclass
from typing import ClassVar

from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options


@dataclass(frozen=True, slots=True)
class Persistent(Primitive):
    """Launch as many programs as the device runs at once; each computes several blocks.

        program p: block p  -->  program p: for b in p..blocks by programs: block b

    Blocks stay independent of each other, as they were.
    """

    name: ClassVar[str] = "persistent"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def apply(self, state: State) -> State:
        """Recorded on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, is_persistent=True))
