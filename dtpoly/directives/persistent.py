"""The primitive `persistent`: as many program instances as run at once."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.arguments import Integer
from dtpoly.schedule.depends import Depends
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made import Made


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

    def depends(self) -> Depends:
        """A verdict depends on no number of programs."""
        return Depends(((self.func, self.name),), is_once=True)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let each program take several blocks, one after another."""
        return replace(launch, each=self.each or 1)

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Nothing, where there are no blocks to take in turn."""
        if made.has_turns:
            return
        if made.has_grid:
            why = "values pass through memory in each program, so that blocks take no turns"
            yield made.whole(why, "tensorize so that they stay in registers, or remove it")
        else:
            why = "there is one program, so that no other could take blocks in turn"
            yield made.whole(why, "block a label, or remove it")
