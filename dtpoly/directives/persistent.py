"""The primitive `persistent`: as many program instances as run at once."""

from dataclasses import replace
from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.arguments import Integer
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter
from dtpoly.schedule.tree import Kernel


@dataclass(frozen=True, slots=True)
class Persistent(LaunchEdit):
    """Launch as many programs as the device runs at once; each computes several blocks.

        program p: block p  -->  program p: for b in p..blocks by programs: block b

    Blocks stay independent of each other, as they were. The number says how many programs each
    multiprocessor runs at once: 1 if none is given.
    """

    name: ClassVar[str] = "persistent"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("each", Integer(1, 32), Count.MAYBE),)

    each: int | None = None

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let each program take several blocks, one after another."""
        return replace(launch, each=self.each or 1)
