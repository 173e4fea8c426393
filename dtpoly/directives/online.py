"""The primitive `online`: a reduction is computed in the loop of one that depends on its result."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.algorithm.parted import NotInPartsError, in_parts
from dtpoly.algorithm.program import reduced_labels
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.argument_kinds import FuncName
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.facts import Fact, Fused, ReducedAlong
from dtpoly.schedule.fused_into import check_fused
from dtpoly.schedule.fusing import fuse_around
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import LabelKind
from dtpoly.schedule.parted_facts import asked_chains
from dtpoly.schedule.primitive import Parameter, Primitive, Stage, Turn
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, statements


@dataclass(frozen=True, slots=True)
class Online(Primitive):
    """Reduce a Func in the loop of a reader's reduction, which goes on with the result so far.

        for y: top = max(top, A)              for y: { before = top; top = max(top, A)
        for y: total += exp(A - top)    -->            total *= exp(before - top)
                                                       total += exp(A - top) }

    What was summed with an older result is brought up to date by a factor, which the compiler
    derives; a reader whose operand depends on the result in another way is refused.
    """

    name: ClassVar[str] = "online"
    ignores_sizes: ClassVar[bool] = True
    elsewhere: ClassVar[tuple[str, ...]] = ("rolling_update", "running")
    stage: ClassVar[Stage] = Stage.FUSIONS
    turn: ClassVar[Turn | None] = Turn.FUSIONS
    needs_kernel: ClassVar[bool] = False
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("consumer", FuncName(), is_key=True),
        Parameter("label", LabelKind(anywhere=True)),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("g.online(f, y);",),
                "compute the reduction `g` in the loop of the reduction `f` over y, in one pass",
            ),
        ),
        heading="Fusion",
        paragraph=(
            "After `g.online(f, y)`, the loop of `f` over y computes `g`, too: in it, `g` is the "
            "result for the indices so far. What `f` has summed with an older result is "
            "multiplied by a factor when `g` changes, such as `exp(before - now)` for a sum of "
            "`exp(A - g)`. So safe softmax, log-sum-exp and attention read their rows once less, "
            "or need no memory for the scores. `g` is a maximum or a minimum along the lanes of "
            "the loop; or a mean from which `f` sums squared deviations, as a variance does. Where "
            "`f`, or something else that is stored, depends on it in a way that nothing brings up "
            "to date, the directive is refused."
        ),
    )

    consumer: Name
    label: Name

    def facts(self) -> Iterator[Fact]:
        """State that the Func is fused, and with which loop."""
        yield Fused(self.func, self.consumer.text, self.label.text, self.span)
        yield ReducedAlong(self.func, self.consumer.text, self.label.text, self.span)

    @classmethod
    def saying(cls, fact: Fact) -> Self | None:
        """Return the directive that joins a Func's loop with that of a reader."""
        if not isinstance(fact, ReducedAlong):
            return None
        return cls(fact.func, Name(fact.consumer), Name(fact.label), span=fact.span)

    def moved(self, label: str) -> Self:
        """Return the same at another loop of the consumer."""
        return replace(self, label=Name(label, self.label.span))

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that both reduce over the label, and that the consumer depends on the Func."""
        found = tuple(check_fused(self.func, self.consumer, self.label, self.name, view))
        yield from found
        if found or self.func in view.inlined:
            return
        for name in (self.func, self.consumer.text):
            if self.label.text not in reduced_labels(view.funcs[name]):
                title = f"'{name}' has no reduction over '{self.label.text}'"
                way = f"name a label over which '{self.func}' and '{self.consumer}' both reduce"
                yield self.mistake(title, self.label.span, "is not reduced", way)
                return
        yield from self._check_parts(view)

    def _check_parts(self, view: View) -> Iterator[Diagnostic]:
        """Check that a chain has parts if its label is cut; its first Func reports it."""
        for chain in asked_chains(view.program, view.facts):
            ends = (*chain.others[:1], chain.last, chain.label)
            if ends != (self.func, self.consumer.text, self.label.text):
                continue
            if not {chain.last, *chain.others} <= view.funcs.keys():
                continue
            try:
                in_parts(view.program, chain)
            except NotInPartsError as error:
                label = chain.label
                yield Diagnostic(
                    "DT239",
                    Severity.ERROR,
                    f"'{chain.last}' and '{self.func}' cannot be computed in parts of '{label}'",
                    self.span,
                    f"'{error.func}' would have parts, too",
                    (Note(str(error)), Note("cut into parts here", chain.span)),
                    f"leave '{label}' in one program: tensorize cuts its loop into tiles",
                )

    def apply(self, state: State) -> State:
        """Put a copy around the reader's loop in each kernel that has it; code joins the loops."""
        consumer, label = self.consumer.text, self.label.text
        readers = {
            one.name
            for one in state.model.statements
            if any(read.array == self.func for read in one.reads)
        }
        for kernel in state.kernels:
            if not readers.isdisjoint(statements(kernel.body)):
                # Nothing changes if it reads what the consumer's kernel has stored.
                state = fuse_around(state, kernel.name, self.func, consumer, label)
        return state

    def edits(self, kernel: Kernel, state: State) -> bool:
        """Edit the launches of the kernels in which the Func is fused."""
        facts = tuple(self.facts())
        return any(
            fusion.kernel == kernel.name and fusion.is_stated_by(facts) for fusion in state.fusions
        )

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Ask for the loops of the two to be one."""
        return replace(launch, running=(*launch.running, (self.func, self.consumer.text)))
