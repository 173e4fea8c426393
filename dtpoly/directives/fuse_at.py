"""The primitive `fuse_at`: a Func is computed inside a loop of its reader."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Statement
from dtpoly.schedule.arguments import FuncName, Word
from dtpoly.schedule.facts import Fact, Fused, Inlined
from dtpoly.schedule.fusing import fuse
from dtpoly.schedule.kernels import View, reached
from dtpoly.schedule.labels import Label, may_be_introduced, unknown_label
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn
from dtpoly.schedule.reference import Reference, Row
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import statements
from dtpoly.schedule.values import Name


@dataclass(frozen=True, slots=True)
class FuseAt(Primitive):
    """Compute, in each iteration of a reader's loop, what this iteration needs.

        for x: for y: g[x, y]      -->   for x: { for y: g[x, y]
        for x: for y: f[x, y]                     for y: f[x, y] }       g.fuse_at(f, x)

    What several programs need is computed by each of them; what several iterations of one
    program need is only computed again with `recompute`. A reader elsewhere keeps the Func's own
    kernel alive. For a value that is computed for every read, use `inline`.
    """

    name: ClassVar[str] = "fuse_at"
    ignores_sizes: ClassVar[bool] = True
    elsewhere: ClassVar[tuple[str, ...]] = ("compute_at", "fuse")
    stage: ClassVar[Stage] = Stage.FUSIONS
    turn: ClassVar[Turn | None] = Turn.FUSIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("consumer", FuncName(), is_key=True),
        Parameter("label", Label(anywhere=True)),
        Parameter("recompute", Word(("recompute",)), Count.IF_GIVEN),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            Row(
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
            "written."
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
        """The directive that fuses a Func at such a place."""
        if not isinstance(fact, Fused):
            return None
        return cls(fact.func, Name(fact.consumer), Name(fact.label), span=fact.span)

    def instead(self) -> Iterator[Fact]:
        """A Func may be inlined instead of fused."""
        yield Inlined(self.func, self.span)

    def moved(self, label: str) -> Self:
        """The same at another loop of the consumer."""
        return replace(self, label=Name(label, self.label.span))

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the consumer reads the Func in one kernel with it, and has the loop."""
        consumer = self.consumer.text
        if self.func in view.inlined:
            return  # told by inline
        if consumer in view.inlined:
            yield self._into_inlined(view)
        elif not view.placement.is_read_by(self.func, consumer):
            refused = self._not_read(view)
            if refused is not None:
                yield refused
        else:
            label, known = self.label.text, view.loops(consumer)
            if label not in known and not may_be_introduced(label, consumer, view):
                yield unknown_label(label, self.label.span, f"'{consumer}'", known, view)

    def _into_inlined(self, view: View) -> Diagnostic:
        consumer = self.consumer.text
        readers = view.placement.readers[consumer]
        return Diagnostic(
            "DT195",
            Severity.ERROR,
            f"'{consumer}' is inlined and has no loops",
            self.consumer.span,
            "has no loops",
            (Note("inlined here", view.inlined[consumer].span),),
            f"fuse into {' or '.join(readers)} instead",
        )

    def _not_read(self, view: View) -> Diagnostic | None:
        func, consumer = self.func, self.consumer.text
        readers = view.placement.readers[func]
        read_by = f"'{func}' is read by {', '.join(readers)}" if readers else "no Func reads it"
        title = f"'{func}' cannot be fused into '{consumer}', which does not read it"
        if func == consumer:
            title = f"'{func}' cannot be fused into itself"
            return self._refused(title, "is the same Func", read_by)
        if func in reached(consumer, view.below):
            return self._read_from_afar(title, view)
        if consumer in reached(func, view.below):
            hint = f"the other way round: {consumer}.fuse_at({func}, {self.label.text})"
            return self._refused(title, f"is read by '{func}'", hint)
        return self._refused(title, f"does not read '{func}'", read_by)

    def _read_from_afar(self, title: str, view: View) -> Diagnostic | None:
        func, consumer = self.func, self.consumer.text
        readers = view.placement.readers
        hosts = set(view.placement.hosts[consumer])
        between = reached(consumer, view.below) & reached(func, readers)
        apart = [name for name in view.funcs if name in between]
        apart = [name for name in apart if hosts.isdisjoint(view.placement.hosts[name])]
        if any((name, self.name) in view.wrong for name in apart):
            return None  # they would be fused if their own directives were right
        names = " and ".join(f"'{name}'" for name in apart)
        note = Note(f"it is read by way of {names}") if names else None
        hint = f"fuse it into {' or '.join(readers[func])}"
        if names:
            hint += f", or fuse {names} into '{consumer}' as well"
        return self._refused(title, "only reads it through another kernel", hint, note)

    def _refused(self, title: str, label: str, hint: str, note: Note | None = None) -> Diagnostic:
        notes = (note,) if note else ()
        return Diagnostic("DT195", Severity.ERROR, title, self.consumer.span, label, notes, hint)

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
