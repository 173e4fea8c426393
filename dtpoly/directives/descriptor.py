"""The primitive `descriptor`: tiles are loaded or stored through a tensor descriptor."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from dtpoly.amounts import listed
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_kinds import TensorName
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.facts import DescribedTensors, Fact
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter, Written
from dtpoly.schedule.reads import check_reads
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Descriptor(LaunchEdit):
    """Load or store the tiles of a tensor through a descriptor instead of through pointers.

        load(A + x * stride_x + y * stride_y)  -->  A_descriptor.load([x, y])

    On devices with a tensor memory accelerator whole tiles are then copied at once. A Func that
    another kernel computes can be loaded like that, too; the Func itself is stored like that.
    """

    name: ClassVar[str] = "descriptor"
    ignores_sizes: ClassVar[bool] = True
    written: ClassVar[Written] = Written.CODE
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("inputs", TensorName(), Count.EACH),)
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.descriptor(A);", "f.descriptor(A, f);"),
                ("load tiles, and store those of `f`, by descriptors"),
            ),
        ),
        heading="Loads and stores",
        paragraph=(
            "**`f.descriptor(A, g)`** loads the tiles of an input, or of a Func that another "
            "kernel computes, by a descriptor (TMA). If `f` itself is named, its tiles are "
            "stored in this way, too. The tiles must be boxes whose sides are powers of two that "
            "are numbers in the schedule. A box of less than 128 bytes, where the copy engine "
            "writes nothing, is loaded by addresses. If one of the tensors of a call cannot have a "
            "descriptor, or if the device has no such unit, the same kernel loads and stores "
            "everything by addresses."
        ),
    )

    inputs: tuple[Name, ...]

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the tensors whose rows begin aligned."""
        names = tuple(map(Name, layout.descriptors))
        return cls(layout.func, names) if names else None

    def why(self, decided: Decided) -> str:
        """Return the copy engine brings tiles."""
        return f"rows of {listed(self._names)} begin aligned: the copy engine brings tiles"

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(item.text for item in self.inputs)

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel reads each tensor, or that it is the Func's own.

        It may read an input, or what another kernel left in memory.
        """
        others = [item for item in self.inputs if item.text != self.func]
        yield from check_reads(others, self.func, view)
        stored = {self.func, *(one for one, host in view.stores.items() if host == self.func)}
        inputs = view.kernels[self.func].inputs if self.func in view.kernels else ()
        for func in (view.funcs[one] for one in sorted(stored)):
            into = func.into
            if into is None or into.tensor not in inputs:
                continue
            for item in self.inputs:
                if item.text in (func.name, into.tensor):
                    yield Diagnostic(
                        "DT197",
                        Severity.ERROR,
                        f"the kernel of '{self.func}' reads '{into.tensor}' and replaces it",
                        item.span,
                        "nothing orders a descriptor among other accesses of one program",
                        (Note(f"'{func.name}' goes into '{into.tensor}'", into.span),),
                        f"leave out '{item.text}': it is loaded and stored by addresses",
                    )

    def facts(self) -> Iterator[Fact]:
        """Other directives may be about what is stored so."""
        yield DescribedTensors(self.func, self._names, self.span)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let tiles of these tensors be loaded and stored through descriptors."""
        return replace(launch, descriptors=(*launch.descriptors, *self._names))

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report tensors of which no tile is a box."""
        why = "no tile of {} is a box, of which what is outside is 0"
        of_result = made.why_not_stored("no tile that is stored is a box, as it lies in memory")
        yield from made.each(made.described, why, made.way_to_boxes, of_result)
