"""The primitive `num_warps`: how many warps run a program instance."""

from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.amounts import many
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_kinds import IntegerKind
from dtpoly.schedule.depends import Depends
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

WARP = 32  # threads


@dataclass(frozen=True, slots=True)
class NumWarps(LaunchEdit):
    """Give each program instance of a kernel a number of warps.

        kernel[grid](...)  -->  kernel[grid](..., num_warps=8)

    It changes no order: the lanes of a tile are spread over the warps.
    """

    name: ClassVar[str] = "num_warps"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("warps", IntegerKind(1, 32, power_of_two=True)),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.num_warps(8);",), "how many warps run a program: a power of two up to 32"
            ),
        ),
        is_extension=False,
    )

    warps: int

    @classmethod
    def of_layout(cls, layout: Layout) -> Self:
        """Return this directive for every layout, since each has a number of warps."""
        return cls(layout.func, layout.warps)

    def why(self, decided: Decided) -> str:
        """Say how many numbers each thread has."""
        threads = self.warps * WARP
        each = max(decided.elements // threads, 1)
        return f"{many(each, 'number')} for each of {threads} threads"

    def depends(self) -> Depends:
        """Return that a verdict does not depend on the number of warps."""
        return Depends(((self.func, self.name),), is_once=True)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Run a program by so many warps."""
        return replace(launch, num_warps=self.warps)
