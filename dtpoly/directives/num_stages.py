"""The primitive `num_stages`: how far the loads of a loop run ahead."""

from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.amounts import amount
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_kinds import IntegerKind
from dtpoly.schedule.depends import Depends
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel


@dataclass(frozen=True, slots=True)
class NumStages(LaunchEdit):
    """Let the loads of later iterations overlap with the work of earlier ones.

        for k: load(k); use(k)  -->  load(0); for k: load(k + 1) while use(k)

    1 means no overlap. It is refused where a loop reads from memory what it wrote there.
    """

    name: ClassVar[str] = "num_stages"
    elsewhere: ClassVar[tuple[str, ...]] = ("pipeline",)
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("stages", IntegerKind()),)
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.num_stages(4);",),
                (
                    "how many iterations of a loop are under way at once, so that loads run ahead; "
                    "above 1 it is refused where a loop reads from memory what it stores there"
                ),
            ),
        ),
        is_extension=False,
    )

    stages: int

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the number of stages, if the layout has one."""
        return cls(layout.func, layout.stages) if layout.stages else None

    def why(self, decided: Decided) -> str:
        """Say how much memory the stages take."""
        return f"{self.stages} steps under way: {amount(decided.shared)} of shared memory"

    def depends(self) -> Depends:
        """Return that a verdict depends on the number of stages only in whether loads run ahead."""
        return Depends(((self.func, self.name),), is_once=True)

    def ahead(self) -> Self:
        """Return the same with two stages at least."""
        return replace(self, stages=max(self.stages, 2))

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let so many iterations be under way."""
        return replace(launch, num_stages=self.stages)
