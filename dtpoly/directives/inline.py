"""The primitive `inline`: a Func's expression stands in for its reads."""

from collections.abc import Iterator
from typing import ClassVar, Self

from dtpoly.algorithm.program import scanned_labels
from dtpoly.algorithm.substitute import inlined
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.facts import Fact, Inlined
from dtpoly.schedule.initial import initial
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Parameter, Primitive, Stage, Turn
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Inline(Primitive):
    """Compute a Func anew wherever it is read.

        g[x] = E(x); f[x] = g[x] + g[x + 1]  -->  f[x] = E(x) + E(x + 1)

    The Func then has no loops, no kernel and no storage, so nothing else can be said of it. One
    that contains a reduction is refused, although the expression would have a meaning: each
    element of each reader would do the whole reduction again. `fuse_at` computes it once for
    many reads.
    """

    name: ClassVar[str] = "inline"
    ignores_sizes: ClassVar[bool] = True
    elsewhere: ClassVar[tuple[str, ...]] = ("compute_inline",)
    stage: ClassVar[Stage] = Stage.FUSIONS
    turn: ClassVar[Turn | None] = Turn.INLINED
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.inline();",), "put the definition in the place of each read of the Func"
            ),
        ),
    )
    needs_kernel: ClassVar[bool] = False

    def facts(self) -> Iterator[Fact]:
        """State that the Func is inlined."""
        yield Inlined(self.func, self.span)

    @classmethod
    def saying(cls, fact: Fact) -> Self | None:
        """Return the directive that inlines a Func."""
        return cls(fact.func, span=fact.span) if isinstance(fact, Inlined) else None

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the Func is not compiled, not fused, and contains no reduction or scan."""
        func = self.func
        reader = next(iter(view.placement.readers[func]), "g")
        if func in view.compiled or func in view.returned:
            why, hint = "compiled too", "remove one of the two directives"
            yield self._refused(why, "its result must be stored", hint)
        elif view.reduced[func]:
            labels = ", ".join(view.reduced[func])
            yield self._refused(
                "a reduction",
                "each read would do it again",
                f"compute it inside of a loop of its reader: {func}.fuse_at({reader}, label)",
                Note(f"'{func}' reduces over {labels}", view.funcs[func].span),
            )
        elif scanned := scanned_labels(view.funcs[func]):
            yield self._refused(
                "a scan",
                "each read would do it again",
                f"compute it inside of a loop of its reader: {func}.fuse_at({reader}, label)",
                Note(f"'{func}' is a scan along {', '.join(scanned)}", view.funcs[func].span),
            )
        elif func in view.fused:
            span: Span | None = view.fused[func][0].span
            what = "fused too"
            hint = "remove one of the two directives"
            yield self._refused(what, "has no loops to fuse", hint, Note("fused here", span))

    def _refused(self, what: str, label: str, hint: str, note: Note | None = None) -> Diagnostic:
        title = f"'{self.func}' cannot be inlined: it is {what}"
        notes = (note,) if note else ()
        return Diagnostic("DT196", Severity.ERROR, title, self.span, label, notes, hint)

    def apply(self, state: State) -> State:
        """Begin again with the default schedule of the Program without the Func.

        Nothing is lost: no other directive is carried out before this one.
        """
        program = inlined(state.program, self.func)
        if program is state.program:
            return state
        kept = tuple(k.func for k in state.kernels if k.func != self.func)
        return initial(program, kept, state.sized)
