"""The primitive `early`: a launch that begins while the one before it ends."""

from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.amounts import many
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

# Seconds of a kernel, beside which those between two launches are many.
AS_A_LAUNCH = 20e-6


@dataclass(frozen=True, slots=True)
class Early(LaunchEdit):
    """Place the programs of a launch on the device while the launch before it still runs.

        launch 1; launch 2  -->  launch 1 || place the programs of 2; then they compute

    They wait before they read or write anything until all before is done, so that nothing else
    changes. It takes about a microsecond from kernels that follow each other. On a device that
    cannot do it, a launch is as usual.
    """

    name: ClassVar[str] = "early"
    ignores_sizes: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.early();",), "place programs on the device before the previous launch ends"
            ),
        ),
        heading="Launches",
        paragraph=(
            "**`f.early()`** places the programs of the launch on the device while the previous "
            "launch still runs (programmatic dependent launch, from sm_90 on; on other devices "
            "the launch is an ordinary one). The programs wait until everything before them is "
            "finished before they read or write anything. So no result changes, and kernels that "
            "follow each other take about a microsecond less."
        ),
    )

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return this directive for kernels that are as short as a launch."""
        return cls(layout.func) if layout.busy < AS_A_LAUNCH else None

    def why(self, decided: Decided) -> str:
        """Say what is done while the kernel before ends."""
        return f"{many(decided.programs, 'program')} placed while the kernel before them ends"

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let it begin while the launch before it ends."""
        return replace(launch, is_early=True)
