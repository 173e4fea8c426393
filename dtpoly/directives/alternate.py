"""The primitive `alternate`: every second loop over a label goes backwards."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.labels import LabelKind
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter, Written
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel, loops

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Alternate(LaunchEdit):
    """Let loops over a label that come one after the other take turns in direction.

        for y in 0..Y: R(y); for y in 0..Y: S(y)  -->  for y in 0..Y: R(y); for y in Y..0: S(y)

    What the first one loaded last is then still in the cache. Only loops of which the rounds may
    come in any order are turned.
    """

    name: ClassVar[str] = "alternate"
    ignores_sizes: ClassVar[bool] = True
    written: ClassVar[Written] = Written.CODE
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loops", LabelKind(), Count.EACH),)
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.alternate(y);",), ("run every second loop over y from its end to its beginning")
            ),
        ),
        heading="Loads and stores",
        paragraph=(
            "**`f.alternate(y)`** concerns loops over y that follow each other. Every second one "
            "goes from the end to the beginning, so that it finds in the cache what was loaded "
            "last. It has an effect on loops whose iterations may run in any order."
        ),
    )
    order: ClassVar[str] = "loops whose rounds may come in any order are turned, and no others"

    loops: tuple[Name, ...]

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the labels whose loops take turns."""
        names = tuple(map(Name, layout.turned))
        return cls(layout.func, names) if names else None

    def why(self, decided: Decided) -> str:
        """Say that a walk finds in the cache what the walk before it read last."""
        return "every second walk goes backwards: it finds in the cache what was read last"

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let every second loop over one of these labels go backwards."""
        labels = {loop.text for loop in self.loops}
        axes = [around[-1].axis for around in loops(kernel.body)]
        turned = {axis.name: axis.label for axis in axes if axis.label in labels}
        return replace(launch, turned={**launch.turned, **turned})

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report labels that have no second loop which could go backwards."""
        why = "no second loop over tiles of {} has one row at a time, and rounds in any order"
        yield from made.each(made.turned, why, made.way_to_rows)
