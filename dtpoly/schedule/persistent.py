"""The primitive `persistent`: as many program instances as run at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options
from dtpoly.schedule.unused import has_no_effect


@dataclass(frozen=True, slots=True)
class Persistent(Primitive):
    """Launch as many programs as the device runs at once; each computes several blocks.

        program p: block p  -->  program p: for b in p..blocks by programs: block b

    Blocks stay independent of each other, as they were.
    """

    name: ClassVar[str] = "persistent"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Nothing can be wrong with it; but no code is made of it yet."""
        yield has_no_effect(self)

    def apply(self, state: State) -> State:
        """Recorded on the kernel."""
        return state.with_kernels(self.func, lambda k: with_options(k, is_persistent=True))
