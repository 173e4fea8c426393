"""The primitive `persistent`: as many program instances as run at once."""

from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.arguments import Integer
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options


@dataclass(frozen=True, slots=True)
class Persistent(Primitive):
    """Launch as many programs as the device runs at once; each computes several blocks.

        program p: block p  -->  program p: for b in p..blocks by programs: block b

    Blocks stay independent of each other, as they were. The number says how many programs each
    multiprocessor runs at once: 1 if none is given.
    """

    name: ClassVar[str] = "persistent"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("each", Integer(1, 32), Count.MAYBE),)

    each: int | None = None

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, each=self.each or 1))
