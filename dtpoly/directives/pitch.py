"""The primitive `pitch`: rows that begin where memory is aligned."""

from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options


@dataclass(frozen=True, slots=True)
class Pitch(Primitive):
    """Let the rows of a Func begin at multiples of 16 bytes, long ones at those of 128.

        new memory of [m, n]  -->  the first n of each row of new, wider memory

    Descriptors want that. A result is then a view, whose rows are further apart than they are long;
    one that a caller gives stays as it is.
    """

    name: ClassVar[str] = "pitch"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, is_pitched=True))
