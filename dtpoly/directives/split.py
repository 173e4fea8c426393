"""The primitive `split`: one loop becomes two."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Divided, word_span
from dtpoly.schedule.dividing import split_loops
from dtpoly.schedule.facts import Fact, NewName
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import DividedLabel
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Kernel


@dataclass(frozen=True, slots=True)
class SplitLoop(Primitive):
    """Divide a loop into one over groups and one inside of a group.

        for x in 0..X  -->  for x in 0..ceil(X / n): for xi in 0..n if x*n + xi < X

    `x:xi/4` keeps the name x for the outer loop; other directives may name both, and xi may be
    split again. Of a blocked label it divides the loop that is left in a block; the program
    instances stay what they are. It reorders nothing: for that there is `reorder`.
    """

    name: ClassVar[str] = "split"
    stage: ClassVar[Stage] = Stage.LOOPS
    turn: ClassVar[Turn | None] = Turn.DIVISIONS
    is_joined: ClassVar[bool] = True
    makes: ClassVar[frozenset[AxisKind]] = frozenset({AxisKind.LOOPS})
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("splits", DividedLabel(), Count.EACH),)
    reference: ClassVar[Reference] = Reference(
        rows=(ReferenceRow(("f.split(x:xi/4);",), "split a loop in two"),),
    )

    splits: tuple[Divided, ...]

    def facts(self) -> Iterator[Fact]:
        """State the names of the inner loops."""
        for item in self.splits:
            yield NewName(self.func, item.new, item.label, self.name, True, item.size, item.span)

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that each loop that is split comes, directly or by other splits, from a label."""
        names = view.names[self.func]
        for item in self.splits:
            label, passed = item.label, set[str]()
            while label in names and label not in passed:
                passed.add(label)
                label = names[label].of
            if label in passed:
                yield Diagnostic(
                    "DT185",
                    Severity.ERROR,
                    f"'{item.label}' only comes of splitting itself",
                    word_span(item.span, item.label),
                    "no loop of a label",
                    hint=f"split a label of '{self.func}', or what another split makes of one",
                )

    def apply(self, state: State) -> State:
        """Split each loop of that name in the Func's kernels; the kernel remembers it."""

        def change(kernel: Kernel) -> Kernel:
            splits = (*kernel.splits, *self.splits)
            return replace(kernel, body=split_loops(kernel.body, self.splits), splits=splits)

        return state.with_kernels(self.func, change)
