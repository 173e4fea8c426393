"""The primitive `descending`: programs take the last block of a label first."""

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
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Descending(LaunchEdit):
    """Let programs take the blocks of a label from the last one to the first.

        program p: block p of x  -->  program p: block (blocks - 1 - p) of x

    Programs are independent of each other, so that any order will do. The device begins with those
    that have the lowest numbers: if they take longest, the others fill the end.
    """

    name: ClassVar[str] = "descending"
    ignores_sizes: ClassVar[bool] = True
    written: ClassVar[Written] = Written.PROGRAMS
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("labels", LabelKind(), Count.EACH),)
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.descending(x);",),
                (
                    "programs take the blocks of x from the last one to the first: with a range "
                    "such as `[0, x + 1)`, those that take longest begin first"
                ),
            ),
        ),
    )

    labels: tuple[Name, ...]

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Turn the order of the blocks of these labels; that of panels stays as it is."""
        panel = None if launch.panel is None else launch.panel[0]
        labels = tuple(one.text for one in self.labels if one.text != panel)
        return replace(launch, descending=(*launch.descending, *labels))

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the directive that turns the order of blocks as a layout has it."""
        if not layout.descending:
            return None
        return cls(layout.func, tuple(Name(label) for label in layout.descending))

    def why(self, decided: Decided) -> str:
        """Say which programs take longest."""
        return "those that take longest begin first"

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report labels along which programs are not numbered."""
        why = "programs are not numbered along blocks of {}"
        yield from made.each(made.descending, why, "block it, or remove it")
