"""The primitive `pitch`: rows that begin where memory is aligned."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Pitch(LaunchEdit):
    """Let the rows of a Func begin at multiples of 16 bytes, long ones at those of 128.

        new memory of [m, n]  -->  the first n of each row of new, wider memory

    Descriptors want that. A result is then a view, whose rows are further apart than they are long;
    one that a caller gives stays as it is.
    """

    name: ClassVar[str] = "pitch"
    ignores_sizes: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    reference: ClassVar[Reference] = Reference(
        rows=(ReferenceRow(("f.pitch();",), "let the rows of `f` begin at aligned addresses"),),
        heading="Loads and stores",
        paragraph=(
            "**`f.pitch()`** lets the rows of `f` begin at multiples of 16 bytes in memory, and "
            "long rows at multiples of 128, as descriptors need it. A result is then a view of "
            "wider memory. An `out` tensor that the caller passes is used as it is."
        ),
    )

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the memory is new: rows of a result in place are where the caller put them."""
        into = view.funcs[self.func].into
        if into is not None:
            yield Diagnostic(
                "DT197",
                Severity.ERROR,
                f"'{self.func}' has the memory of '{into.tensor}'",
                self.span,
                "no memory is made",
                (Note(f"it goes into '{into.tensor}'", into.span),),
                "remove it",
            )

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let the rows of what it writes begin where memory is aligned."""
        return replace(launch, is_pitched=True)

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report that the result is one number, which has no rows."""
        if not made.labels:
            yield made.whole(f"'{self.func}' is one number, and has no rows", "remove it")
