"""The primitive `reorder`: the order of loops inside a program instance."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from dtpoly.algorithm.program import nested_labels
from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import LabelKind, twice
from dtpoly.schedule.nesting import reordered
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Kernel


@dataclass(frozen=True, slots=True)
class Reorder(Primitive):
    """Put loops into another order, listed outermost first.

        for x: for y: for k  --> reorder(k, x) -->  for k: for y: for x

    The loops that are named change places among themselves; all others stay where they are.
    The order of program instances is that of `map`.
    """

    name: ClassVar[str] = "reorder"
    ignores_sizes: ClassVar[bool] = True
    elsewhere: ClassVar[tuple[str, ...]] = ("interchange",)
    stage: ClassVar[Stage] = Stage.LOOPS
    turn: ClassVar[Turn | None] = Turn.ORDER
    makes: ClassVar[frozenset[AxisKind]] = frozenset({AxisKind.ORDER})
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("loops", LabelKind(), Count.LIST, least=2),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(ReferenceRow(("f.reorder(y, x);",), "the order of loops, outermost first"),),
    )

    loops: tuple[Name, ...]

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that each loop stands once."""
        yield from twice(self.loops)

    def apply(self, state: State) -> State:
        """Put the loops of the Func's kernels into the new order; the kernel remembers it."""
        order = tuple(loop.text for loop in self.loops)
        labels = nested_labels(state.program.func(self.func))

        def change(kernel: Kernel) -> Kernel:
            return replace(kernel, body=reordered(kernel.body, order, labels), order=order)

        return state.with_kernels(self.func, change)
