"""The primitive `atomic`: partial results are added in place instead of by a second kernel."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from dtpoly.algorithm.dtypes import ADDED_IN_MEMORY, DType, is_float
from dtpoly.algorithm.expressions import Dot, Reduce
from dtpoly.algorithm.inference import types_of
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.facts import NewName
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import LabelKind
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options

# The types in which a device can do a step of a reduction atomically.
EXTREME = (DType.I32, DType.I64, DType.F32, DType.F64)
ATOMIC: Mapping[str, tuple[DType, ...]] = {
    "rsum": ADDED_IN_MEMORY,
    "rmax": EXTREME,
    "rmin": EXTREME,
}


@dataclass(frozen=True, slots=True)
class Atomic(Primitive):
    """Let the programs that share a result combine their parts in memory, in any order.

        part[x, p] = sum over block p of A[x, k]; f[x] = sum over p of part[x, p]
        -->  f[x] = 0; program p: atomically f[x] += sum over block p of A[x, k]

    Takes a label that `block` cuts and that the Func reduces over in its last operation, and a
    Func of a type that memory can combine so. The rounding of a sum then differs from run to run.
    """

    name: ClassVar[str] = "atomic"
    ignores_sizes: ClassVar[bool] = True
    stage: ClassVar[Stage] = Stage.OPTIONS
    turn: ClassVar[Turn | None] = Turn.MEETINGS
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("labels", LabelKind(), Count.EACH),)
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.atomic(k);",),
                ("add the partial results of a blocked reduction atomically, in one kernel"),
            ),
        ),
    )

    labels: tuple[Name, ...]

    @property
    def may_be_refused(self) -> bool:
        """Return True, since partial results meet in memory in any order."""
        return True

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the last operation reduces over each label.

        Each label must also be blocked, and its parts must have no name.
        """
        stored = [result for result, host in view.stores.items() if host == self.func]
        for label in self.labels[: 1 if stored else 0]:
            yield _refusal(
                label,
                f"the kernel of '{self.func}' stores '{stored[0]}', too",
                "its programs only add to one result",
                "remove it, and two kernels combine the partial results",
                Note("fused here", view.fused[stored[0]][0].span),
            )
        for label in () if stored else self.labels:
            refused = self._refused(label, view)
            if refused is not None:
                yield refused

    def _refused(self, label: Name, view: View) -> Diagnostic | None:
        func, name = view.funcs[self.func], label.text
        if func.into is not None:
            return _refusal(
                label,
                f"'{self.func}' goes into '{func.into.tensor}'",
                "its sum would begin in what is still read",
                "remove it, and two kernels combine the partial results",
                Note("in place", func.into.span),
            )
        if name not in view.partial_labels(self.func):
            return _refusal(
                label,
                f"'{self.func}' does not reduce over '{name}'",
                "has no partial results",
                "name a label that the Func reduces over and that is not on its left side",
            )
        body = func.body
        is_last = isinstance(body, Dot | Reduce) and name in body.labels and not func.when
        last = body if is_last and isinstance(body, Dot | Reduce) else None
        if last is None:
            return _refusal(
                label,
                f"the reduction over '{name}' is not the last operation of '{self.func}'",
                "its result is used further",
                "give the reduction a Func of its own",
                Note("this is computed last", body.span),
            )
        return self._no_form(label, last, view) or self._not_cut(label, view)

    def _no_form(self, label: Name, last: Dot | Reduce, view: View) -> Diagnostic | None:
        """Return why the reduction cannot be added to in memory."""
        operation = last.operation if isinstance(last, Reduce) else "rsum"
        if operation not in ATOMIC:
            return _refusal(
                label,
                f"'{operation}' has no atomic form",
                "cannot be combined atomically",
                "remove it; two kernels can do it",
                Note("reduced here", last.span),
            )
        dtype = types_of(view.program)[self.func].dtype
        if dtype is not None and dtype not in ATOMIC[operation]:
            wide = DType.F32 if is_float(dtype) else DType.I32
            return _refusal(
                label,
                f"'{operation}' has no atomic form in {dtype}",
                f"'{self.func}' is {dtype}",
                f"declare it wider, as in Func {self.func}: {wide}; or remove this, and two "
                "kernels do it",
                Note("reduced here", last.span),
            )
        return None

    def _not_cut(self, label: Name, view: View) -> Diagnostic | None:
        """Return why the parts of a label are not those that programs add up."""
        name = label.text
        blocked = view.blocked.get(self.func, {}).get(name)
        if blocked is None and (self.func, "block") not in view.wrong:
            return _refusal(
                label,
                f"'{name}' is not blocked",
                "one program computes the whole reduction",
                f"block it, as in {self.func}.block({name}:1024), or remove this",
            )
        along = next((one for one in view.along if one.consumer == self.func), None)
        if along is not None and along.label == name:
            return _refusal(
                label,
                f"'{along.func}' goes along with '{self.func}' over '{name}'",
                "each part has a frame of its own, so parts are not just added",
                "remove it, and a second kernel merges the parts",
                Note("goes along here", along.span),
            )
        named = next((n for n in view.names.get(self.func, {}).values() if _names(n, name)), None)
        if named is None:
            return None
        plain = f"{name}:{blocked.size}" if blocked else ""
        edits = (Edit(named.span, plain),) if named.span and plain else ()
        return _refusal(
            label,
            f"with atomic results '{named.name}' names nothing",
            "leaves no second kernel",
            f"write {plain} there, or remove this",
            Note("named here", named.span),
            edits,
        )

    def apply(self, state: State) -> State:
        """Record the directive on the kernel; `block`, which comes after it, cuts the reduction."""
        names = tuple(label.text for label in self.labels)
        return state.with_kernels(
            self.func, lambda k: with_options(k, atomic=(*k.options.atomic, *names))
        )


def _names(new: NewName, label: str) -> bool:
    return new.of == label and new.by == "block"


def _refusal(
    label: Name,
    title: str,
    seen: str,
    hint: str,
    note: Note | None = None,
    edits: tuple[Edit, ...] = (),
) -> Diagnostic:
    notes = (note,) if note else ()
    return Diagnostic("DT194", Severity.ERROR, title, label.span, seen, notes, hint, edits)
