"""The primitive `same_bits`: a row gets the same bits in each batch."""

from collections.abc import Iterator
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_kinds import listed
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.facts import Fact, InvariantRow
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import LabelKind
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter, Written
from dtpoly.schedule.reference import Reference, ReferenceRow


@dataclass(frozen=True, slots=True)
class SameBits(LaunchEdit):
    """Ask that the bits of a row do not depend on how many rows there are.

        f[x, y]  -->  the same bits of f[x, y] in a call with any other number of x

    It changes no code. `dtpoly verify` proves it of the kernels, or shows two calls in which a row
    is rounded in two ways; then another schedule is needed.
    """

    name: ClassVar[str] = "same_bits"
    needs_kernel: ClassVar[bool] = False
    ignores_sizes: ClassVar[bool] = True
    is_of_result: ClassVar[bool] = True
    written: ClassVar[Written] = Written.RESULT
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("labels", LabelKind(), Count.EACH),)
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.same_bits(x);",),
                (
                    "ask that the bits of a row `f[x, ...]` do not depend on the number of rows; "
                    "`dtpoly verify` [proves it](same-bits.md), and no code is changed"
                ),
            ),
        ),
    )

    labels: tuple[Name, ...]

    def facts(self) -> Iterator[Fact]:
        """State what is asked of the result."""
        for one in self.labels:
            yield InvariantRow(self.func, one.text)

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the result has rows along each label."""
        labels = view.funcs[self.func].labels
        for one in self.labels:
            if one.text not in labels:
                known = f"it has {', '.join(labels)}" if labels else "it is one number"
                yield Diagnostic(
                    "DT185",
                    Severity.ERROR,
                    f"'{one.text}' is not a label of the result of '{self.func}'",
                    one.span,
                    "the rows of the result are along another label",
                    (Note(known),),
                    f"write {listed(labels)}" if labels else "remove it",
                )
