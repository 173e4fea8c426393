"""The primitive `persistent`: as many program instances as run at once."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from dtpoly.amounts import many
from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_kinds import IntegerKind
from dtpoly.schedule.depends import Depends
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter, Written
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Persistent(LaunchEdit):
    """Launch as many programs as the device runs at once; each computes several blocks.

        program p: block p  -->  program p: for b in p..blocks by programs: block b

    Blocks stay independent of each other, as they were. The number says how many programs each
    multiprocessor runs at once: 1 if none is given.
    """

    name: ClassVar[str] = "persistent"
    written: ClassVar[Written] = Written.PROGRAMS
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("each", IntegerKind(1, 32), Count.MAYBE),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.persistent();", "f.persistent(2);"),
                (
                    "launch only this many program instances for each multiprocessor (1 without a "
                    "number), which compute blocks in turn. It changes nothing, with a warning, "
                    "where values pass through memory in a program"
                ),
            ),
        ),
    )

    each: int | None = None

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the number of programs that each multiprocessor keeps."""
        each = None if layout.each == 1 else layout.each
        return cls(layout.func, each) if layout.each else None

    def why(self, decided: Decided) -> str:
        """Say how many blocks a program takes, and that the next one is loaded early."""
        turns = f"{many(decided.blocks, 'block')} in turn"
        return f"{turns}: the next one is loaded while one is stored"

    def depends(self) -> Depends:
        """Return that a verdict does not depend on the number of programs."""
        return Depends(((self.func, self.name),), is_once=True)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let each program take several blocks, one after another."""
        return replace(launch, each=self.each or 1)

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report that there are no blocks to take in turn."""
        if made.has_turns:
            return
        if made.func.into is not None:
            why = f"each program replaces what it reads of '{made.func.into.tensor}'"
            yield made.whole(f"{why}, so that blocks take no turns", "remove it")
        elif made.has_grid:
            why = "values pass through memory in each program, so that blocks take no turns"
            yield made.whole(why, "tensorize so that they stay in registers, or remove it")
        else:
            why = "there is one program, so that no other could take blocks in turn"
            yield made.whole(why, "block a label, or remove it")
