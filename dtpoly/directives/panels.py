"""The primitive `panels`: a result is computed in panels, each with all that it needs."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from itertools import product
from typing import ClassVar

from dtpoly.algorithm.expressions import Affine, data_of
from dtpoly.algorithm.panel_axes import Crossing, Reading, cut_along
from dtpoly.algorithm.program import reduced_labels
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.argument_kinds import IntegerKind, listed
from dtpoly.schedule.argument_values import Sized, word_span
from dtpoly.schedule.kernels import View, reached
from dtpoly.schedule.labels import SizedLabel
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

# The largest panel: its numbers stay far below what 32 bits hold.
MOST = 2**20


@dataclass(frozen=True, slots=True)
class Panels(LaunchEdit):
    """Compute a Func in panels of so many elements of a label, with all that it needs.

        launch g; launch f  -->  for each panel: launch g for it || launch f for it

    The first kernel of a panel runs beside the last one of the panel before, on multiprocessors
    that are left to it: what it computes takes no time of its own but for the first panel.
    """

    name: ClassVar[str] = "panels"
    ignores_sizes: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("panel", SizedLabel(IntegerKind(1, MOST))),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.panels(n:2048);",), "compute `f`, and all that it needs, panel by panel"
            ),
        ),
        heading="Launches",
        paragraph=(
            "**`f.panels(n:2048)`** computes `f`, with all that it needs, for this many indices "
            "of its label n at a time, one panel after another. The first kernel of a panel runs "
            "beside the last one of the previous panel (programmatic dependent launch, from "
            "sm_90 on; on other devices after it). If both are `persistent`, one multiprocessor "
            "in 32 is left to the first kernel. So only the first kernel of the first panel "
            "takes time of its own. No panel may need what another one computes: each Func has n "
            "on its left and does not reduce over it, has no other label whose size is always "
            "that of n, and whatever is read at n is read at n itself. `f` must be compiled, in "
            "one kernel. It needs another kernel, which no other function needs. No kernel may "
            "have memory of its programs."
        ),
    )
    order: ClassVar[str] = "no panel needs what another one computes"

    panel: Sized

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that it is compiled, needs another kernel, and no panel needs another one."""
        label, title = self.panel.label, f"'{self.func}' cannot be computed in panels"
        labels = view.funcs[self.func].labels
        if label not in labels:
            span = word_span(self.panel.span, label)
            known = f"it has {', '.join(labels)}" if labels else "it is one number"
            title = f"'{label}' is not a label of the result of '{self.func}'"
            way = f"write {listed(labels)}" if labels else "remove it"
            note = Note(known)
            yield Diagnostic(
                "DT185",
                Severity.ERROR,
                title,
                span,
                "a panel is a part of the result",
                (note,),
                way,
            )
            return
        before = reached(self.func, view.below) & view.kernels.keys()
        found = cut_along(view.program, self.func, label)
        if isinstance(found, Crossing):
            notes = (Note(found.why, found.span), *self._example(found.read))
            yield self._refused(title, "would need more than its panel", *notes)
        elif several := [one for one in (self.func, *before) if _is_in_parts(view, one)]:
            note = Note(f"'{several[0]}' has, since a label that it reduces over is blocked")
            yield self._refused(title, "what it needs has two kernels", note)
        elif not before:
            note = Note("one kernel computes it, so that nothing could run beside it")
            yield self._refused(title, "needs no other kernel", note)
        elif others := [
            one for one in sorted(view.compiled - {self.func}) if _needs(view, one, before)
        ]:
            why = "is compiled itself" if others[0] in before else "needs it, too"
            note = Note(f"'{others[0]}' {why}")
            yield self._refused(title, "not alone in needing what it needs", note)
        elif taken := [one for one in (self.func, *before) if view.funcs[one].into is not None]:
            note = Note(f"'{taken[0]}' is written in place", view.funcs[taken[0]].span)
            yield self._refused(title, "panels have memory of their own", note)
        elif any(one.function == self.func for one in view.returned.values()):
            note = Note("only a function that returns one result can be computed so")
            yield self._refused(title, "its function has several results", note)
        elif self.func not in view.compiled:
            way = f"add {self.func}.compile()"
            yield self._refused(title, "has no function of its own", way=way)

    def _example(self, one: Reading | None) -> Iterator[Note]:
        """Show an element that reads something in another panel, near the first panels' ends."""
        if one is None or data_of(one.read):
            return  # which element is read, is only known in a call
        label, size = self.panel.label, self.panel.size
        for at, other in product(sorted({0, size // 2, size - 1, size, 2 * size}), (0, size)):
            labels = (*one.func.labels, *reduced_labels(one.func))
            put = {**{x: Affine((), other) for x in labels}, label: Affine((), at)}
            read = [index.substitute(put).constant for index in one.read.indices]
            mine, theirs = at // size, read[one.axis] // size
            if min(read) >= 0 and mine != theirs:
                element = _element(one.func.name, [put[x].constant for x in one.func.labels])
                what = _element(one.read.tensor, read)
                yield Note(f"example: {element}, in panel {mine}, reads {what}, in panel {theirs}")
                return

    def _refused(self, title: str, label: str, *notes: Note, way: str = "remove it") -> Diagnostic:
        return Diagnostic("DT197", Severity.ERROR, title, self.span, label, notes, way)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let it be computed in panels, with all that it needs."""
        return replace(launch, panel=(self.panel.label, self.panel.size))


def _element(tensor: str, indices: Iterable[int]) -> str:
    return f"{tensor}[{', '.join(map(str, indices))}]"


def _needs(view: View, func: str, kernels: Set[str]) -> bool:
    """Return whether a Func needs one of the kernels."""
    return not kernels.isdisjoint({func} | reached(func, view.below))


def _is_in_parts(view: View, func: str) -> bool:
    """Return whether a Func has a kernel before its own, for partial results or for the start."""
    return any(label in view.blocked.get(func, {}) for label in view.partial_labels(func))
