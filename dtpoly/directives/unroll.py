"""The primitive `unroll`: several iterations of a loop as straight-line code."""

from dataclasses import replace
from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Sized
from dtpoly.schedule.depends import Depends
from dtpoly.schedule.labels import SizedLabel
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Loop, Node, rewrite


@dataclass(frozen=True, slots=True)
class Unroll(Primitive):
    """Write a number of iterations of a loop one after another.

        for x in 0..X: S(x)  -->  for x in 0..X by 4: S(x); S(x + 1); S(x + 2); S(x + 3)

    Nothing changes its order; iterations past the end are left out. For iterations that run
    together use `tensorize`.
    """

    name: ClassVar[str] = "unroll"
    stage: ClassVar[Stage] = Stage.REWRITES
    makes: ClassVar[frozenset[AxisKind]] = frozenset({AxisKind.LOOPS})
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("factors", SizedLabel(noun="factor"), Count.EACH),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(ReferenceRow(("f.unroll(x:4);",), "unroll a loop"),),
    )

    factors: tuple[Sized, ...]

    def depends(self) -> Depends:
        """Return that a verdict does not depend on how often iterations are written."""
        labels = tuple(item.label for item in self.factors)
        return Depends(((self.func, self.name, labels),), is_once=True)

    def apply(self, state: State) -> State:
        """Record the factor on each loop of that name in the Func's kernels."""
        factor = {item.label: item.size for item in self.factors}

        def mark(node: Node) -> Node:
            if isinstance(node, Loop) and node.axis.label in factor:
                return replace(node, unroll=factor[node.axis.label])
            return node

        return state.with_kernels(self.func, lambda k: replace(k, body=rewrite(k.body, mark)))
