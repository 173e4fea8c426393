"""The primitive `precision`: how exactly a product of f32 matrices is computed."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_kinds import Word
from dtpoly.schedule.depends import Depends
from dtpoly.schedule.facts import Fact, Rounded
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import LaunchEdit, Parameter, Written
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel


@dataclass(frozen=True, slots=True)
class Precision(LaunchEdit):
    """Compute every `rdot` of a kernel on f32 operands in a chosen way.

        dot(a, b)  -->  dot(a, b, input_precision="tf32")

    `ieee`, the default, rounds as f32 does and uses no tensor cores; `tf32` uses them on operands
    cut to 10 bits; `tf32x3` takes three such products, for nearly the bits of f32.
    """

    name: ClassVar[str] = "precision"
    written: ClassVar[Written] = Written.RESULT
    is_of_result: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("mode", Word(("tf32", "tf32x3", "ieee"))),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.precision(tf32);",),
                ("how `rdot` multiplies f32: `tf32`, `tf32x3` or `ieee`, which is the default"),
            ),
        ),
    )

    mode: str

    def facts(self) -> Iterator[Fact]:
        """State how exact the result is."""
        yield Rounded(self.func, self.mode)

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel has a product."""
        if not view.kernels[self.func].has_dot:
            yield Diagnostic(
                "DT197",
                Severity.ERROR,
                f"the kernel of '{self.func}' has no rdot",
                self.span,
                "sets the precision of an rdot",
                hint="remove it, or put it on the Func whose kernel computes the product",
            )

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the precision that is asked for, if one is."""
        return cls(layout.func, layout.precision) if layout.precision else None

    def why(self, decided: Decided) -> str:
        """Say that it was asked for."""
        return f"products in {self.mode}, as asked for"

    def depends(self) -> Depends:
        """Return that a verdict does not depend on rounding."""
        return Depends(((self.func, self.name),), is_once=True)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let products be computed so."""
        return replace(launch, precision=self.mode)
