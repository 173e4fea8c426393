"""The primitive `flatten`: loops that are directly inside of each other as one loop."""

from collections.abc import Iterator
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.directives.reorder import twice
from dtpoly.frozen import dataclass
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import Label
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, Loop, Node, loops, with_options
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
        """Check that each loop stands once."""
        yield from twice(self.loops)

    def apply(self, state: State) -> State:
        """Record it on kernels with such loops.

        The tree stays: only how loops are written changes.
        """
        names = tuple(loop.text for loop in self.loops)

        def change(kernel: Kernel) -> Kernel:
            if not any(_is_nest(around[-1], names) for around in loops(kernel.body)):
                return kernel
            return with_options(kernel, flat=(*kernel.options.flat, names))

        return state.with_kernels(self.func, change)


def _is_nest(node: Node, names: tuple[str, ...]) -> bool:
    """Whether a node is a loop over the first label, directly around one over the next, ..."""
    for name in names:
        if not isinstance(node, Loop) or node.axis.label != name:
            return False
        node = node.child
    return True
