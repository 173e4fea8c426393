"""The primitive `stream`: what a kernel loads of a tensor is the first to leave the cache."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_kinds import TensorName
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter
from dtpoly.schedule.reads import check_reads
from dtpoly.schedule.reference import Reference, ReferenceRow

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.ir.body import Body
    from dtpoly.ir.kernel import Step
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Stream(LaunchEdit):
    """Say that what a kernel loads of a tensor is not needed again soon.

        load(A + x)  -->  load(A + x, eviction_policy="evict_first")

    It then leaves the cache before what is, such as what the kernel stores for the next one. All
    loads by addresses say so; those through descriptors cannot (see `descriptor`).
    """

    name: ClassVar[str] = "stream"
    ignores_sizes: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("inputs", TensorName(), Count.EACH),)
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.stream(A);", "f.stream(A, g);"), "let loads of `A` leave the cache first"
            ),
        ),
        heading="Loads and stores",
        paragraph=(
            "**`f.stream(A, g)`** says that the kernel of `f` does not need again what it loads "
            "of an input, or of a Func that another kernel computes. This leaves the cache "
            "first, before the values that the kernel stores for the next one. It is not for "
            "values that a kernel loads twice. It is a hint that changes no value: all loads by "
            'addresses have it (`eviction_policy="evict_first"`), and loads by descriptors '
            "cannot have it. Triton drops it for AMD, and for some loads that run ahead "
            "(`num_stages`)."
        ),
    )

    inputs: tuple[Name, ...]

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel reads the input, or what another kernel left in memory."""
        yield from check_reads(self.inputs, self.func, view)

    def rewrite(self, body: "Body") -> "tuple[Step, ...]":
        """Let what is loaded of these tensors leave the cache first."""
        names = {item.text for item in self.inputs}
        read = {variable for name, variable in body.variables.items() if name in names}
        return body.with_loads(
            lambda load: replace(load, is_streamed=True) if load.tensor in read else load
        )

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report tensors of which each load may be outside."""
        why = "all that is read of {} is outside of it, and padded"
        yield from made.each(made.streamed, why, "remove it")
