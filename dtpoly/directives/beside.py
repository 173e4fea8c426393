"""The primitive `beside`: one launch computes two Funcs at the same time."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.argument_kinds import FuncName
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.kernels import View, reached
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.plan.price import Price


@dataclass(frozen=True, slots=True)
class Beside(LaunchEdit):
    """Launch a kernel together with another one, whose programs come first.

        launch g; launch f  -->  launch: programs of g, then programs of f, in any order

    Nothing says which programs run first, so that neither may need what the other one computes.
    A launch less takes about two microseconds less, on the host and on the device.
    """

    name: ClassVar[str] = "beside"
    ignores_sizes: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("other", FuncName()),)
    reference: ClassVar[Reference] = Reference(
        rows=(ReferenceRow(("f.beside(g);",), "compute `f` and `g` in one launch"),),
        heading="Launches",
        paragraph=(
            "**`f.beside(g)`** computes both Funcs in one launch: programs of `g`, then those of "
            "`f`. They run in any order, so neither may need what the other one computes. Each "
            "must have one kernel, which reduces nothing in parts, with the same `num_warps` and "
            "`num_stages`, without `persistent`, `descriptor` and `early`, and without memory of "
            "its programs. The functions that are made must need both or neither. One launch "
            "less takes about two microseconds less."
        ),
    )
    order: ClassVar[str] = "neither of the two kernels needs what the other one computes"

    other: Name

    @property
    def may_be_refused(self) -> bool:
        """Return True, since one kernel may need what the other computes."""
        return True

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that both have one kernel, which the same functions launch."""
        other = self.other.text
        title = f"'{self.func}' cannot be launched beside '{other}'"
        if other == self.func:
            yield self._refused(title, "is the same Func", self._others(view))
        elif other not in view.kernels:
            yield self._refused(title, "has no kernel of its own", self._others(view))
        elif several := [one for one in (self.func, other) if _is_in_parts(view, one)]:
            why = Note(f"'{several[0]}' has two, since a label that it reduces over is blocked")
            yield self._refused(title, "one of them has two kernels", "remove it", why)
        elif some := _needs_one(view, self.func, other):
            why = Note(f"'{some}' needs one of them, and not the other")
            yield self._refused(title, "not always launched", "remove it", why)

    def _others(self, view: View) -> str:
        """Suggest what to write instead: Funcs that do not need this one, nor it them."""
        found = [one for one in view.kernels if one != self.func and self._may_join(one, view)]
        return f"name {' or '.join(found)}" if found else "remove it"

    def _may_join(self, other: str, view: View) -> bool:
        one = replace(self, other=Name(other))
        apart = other not in reached(self.func, view.below)
        return apart and self.func not in reached(other, view.below) and not [*one.check(view)]

    def _refused(self, title: str, label: str, way: str, *notes: Note) -> Diagnostic:
        return Diagnostic("DT197", Severity.ERROR, title, self.other.span, label, notes, way)

    def apply(self, state: State) -> State:
        """Put the kernel right after the other one, whose launch it shares."""
        other, own = state.kernels_of(self.other.text), state.kernels_of(self.func)
        if not self._has_both(state):
            return state
        left = [one for one in state.kernels if one is not own[0]]
        left.insert(left.index(other[0]) + 1, own[0])
        return replace(state, kernels=tuple(left))

    def edits(self, kernel: Kernel, state: State) -> bool:
        """Edit the launch of the Func's kernel, if both Funcs have one."""
        return kernel.func == self.func and self._has_both(state)

    def _has_both(self, state: State) -> bool:
        """Return whether the two Funcs have a kernel each."""
        other, own = state.kernels_of(self.other.text), state.kernels_of(self.func)
        return len(other) == len(own) == 1 and other != own

    def priced(self, price: "Price", kernel: Kernel) -> "Price":
        """Take nothing for the launch: it is that of the other kernel."""
        return replace(price, launch=0.0)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let one launch compute both kernels."""
        return replace(launch, beside=self.other.text)


def _is_in_parts(view: View, func: str) -> bool:
    """Return whether a Func has a kernel before its own, for partial results or for the start."""
    blocked = view.blocked.get(func, {})
    return any(label in blocked for label in view.partial_labels(func))


def _needs_one(view: View, one: str, other: str) -> str | None:
    """Return the first Func that is compiled and for which only one of two is launched."""
    for func in view.funcs:
        if func not in view.compiled:
            continue
        more = [result for result, one in view.returned.items() if one.function == func]
        needed = {func, *more}.union(*(reached(one, view.below) for one in (func, *more)))
        if (one in needed) != (other in needed):
            return func
    return None
