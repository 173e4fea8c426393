"""The primitive `flatten`: loops that are directly inside of each other as one loop."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import Label
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage
from dtpoly.schedule.reorder import twice
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options
from dtpoly.schedule.values import Name


@dataclass(frozen=True, slots=True)
class Flatten(Primitive):
    """Make one loop of loops that are directly inside of each other, listed outermost first.

        for r: for c: S(r, c)  -->  for i in 0..R * C: S(i // C, i % C)

    The order of what is computed stays. With `num_stages`, loads then run ahead from the last
    iterations of an inner loop to the first ones of its next round.
    """

    name: ClassVar[str] = "flatten"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("loops", Label(), Count.LIST, least=2),
    )

    loops: tuple[Name, ...]

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Each loop stands once."""
        yield from twice(self.loops)

    def apply(self, state: State) -> State:
        """Recorded on the kernels: how loops are written there changes nothing of the tree."""
        names = tuple(loop.text for loop in self.loops)
        return state.with_kernels(
            self.func, lambda k: with_options(k, flat=(*k.options.flat, names))
        )
