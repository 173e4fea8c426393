"""The primitive `fuse_at`: a Func is computed inside a loop of its reader."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Statement
from dtpoly.schedule.argument_kinds import FuncName, Word
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.facts import Fact, Fused, Inlined
from dtpoly.schedule.fused_into import check_fused
from dtpoly.schedule.fusing import fuse
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import LabelKind
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import statements


@dataclass(frozen=True, slots=True)
class FuseAt(Primitive):
    """Compute, in each iteration of a reader's loop, what this iteration needs.

        for x: for y: g[x, y]      -->   for x: { for y: g[x, y]
        for x: for y: f[x, y]                     for y: f[x, y] }       g.fuse_at(f, x)

    What several programs need is computed by each of them; what several iterations of one
    program need is only computed again with `recompute`. A reader elsewhere keeps the Func's own
    kernel alive. A scan goes on from one iteration to the next, where each reads steps of its own.
    For a value that is computed for every read, use `inline`.
    """

    name: ClassVar[str] = "fuse_at"
    ignores_sizes: ClassVar[bool] = True
    elsewhere: ClassVar[tuple[str, ...]] = ("compute_at", "fuse")
    stage: ClassVar[Stage] = Stage.FUSIONS
    turn: ClassVar[Turn | None] = Turn.FUSIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("consumer", FuncName(), is_key=True),
        Parameter("label", LabelKind(anywhere=True)),
        Parameter("recompute", Word(("recompute",)), Count.IF_GIVEN),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("g.fuse_at(f, x);",),
                ("compute `g` inside the loop of `f` over x; **+** `g.fuse_at(f, x, recompute)`"),
            ),
        ),
        heading="Fusion",
        paragraph=(
            "After `g.fuse_at(f, x)`, each iteration of the loop over x computes the elements of "
            "`g` that it reads. If `g` is read at a sum such as `3 * x + 5 * y`, in which no "
            "label has the smallest possible step, the iteration also computes all elements "
            "between those that it reads. Then `inline` computes less. If several iterations of "
            "one program compute the same element, the fusion is refused unless `recompute` is "
            "written. A scan may [follow the loop](#a-scan-that-follows-a-loop)."
        ),
        is_extension=False,
    )
    needs_kernel: ClassVar[bool] = False

    consumer: Name
    label: Name
    recompute: bool = False

    def facts(self) -> Iterator[Fact]:
        """State that the Func is fused, and where."""
        yield Fused(self.func, self.consumer.text, self.label.text, self.span)

    @classmethod
    def saying(cls, fact: Fact) -> Self | None:
        """Return the directive that fuses a Func at such a place."""
        if not isinstance(fact, Fused):
            return None
        return cls(fact.func, Name(fact.consumer), Name(fact.label), span=fact.span)

    def instead(self) -> Iterator[Fact]:
        """Offer to inline the Func instead of fusing it."""
        yield Inlined(self.func, self.span)

    def moved(self, label: str) -> Self:
        """Return the same at another loop of the consumer."""
        return replace(self, label=Name(label, self.label.span))

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the consumer reads the Func in one kernel with it, and has the loop."""
        yield from check_fused(self.func, self.consumer, self.label, self.name, view)

    def apply(self, state: State) -> State:
        """Make a private copy in each kernel in which the consumer reads the Func."""
        readers = {s.name for s in state.model.statements if _reads(s, self.func)}
        for kernel in state.kernels:
            if readers.isdisjoint(statements(kernel.body)):
                continue
            state = fuse(
                state, kernel.name, self.func, self.consumer.text, self.label.text, self.recompute
            )
        return state


def _reads(statement: Statement, func: str) -> bool:
    return any(read.array == func for read in statement.reads)
