"""The primitive `alternate`: every second loop over a label goes backwards."""

from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.labels import Label
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options
from dtpoly.schedule.values import Name


@dataclass(frozen=True, slots=True)
class Alternate(Primitive):
    """Let loops over a label that come one after the other take turns in direction.

        for y in 0..Y: R(y); for y in 0..Y: S(y)  -->  for y in 0..Y: R(y); for y in Y..0: S(y)

    What the first one loaded last is then still in the cache. Only loops of which the rounds may
    come in any order are turned.
    """

    name: ClassVar[str] = "alternate"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loops", Label(), Count.EACH),)
    order: ClassVar[str] = "loops whose rounds may come in any order are turned, and no others"

    loops: tuple[Name, ...]

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        names = tuple(loop.text for loop in self.loops)
        return state.with_kernels(
            self.func,
            lambda k: with_options(k, turned=(*k.options.turned, *names)),
        )
