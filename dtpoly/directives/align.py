"""The primitive `align`: lanes along the lines of a tensor begin where its memory is aligned."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from dtpoly.amounts import listed
from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_kinds import TensorName
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter, Written
from dtpoly.schedule.reads import check_reads
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Align(LaunchEdit):
    """Start the tiles of loops along the lines of an input where its memory is aligned.

        for y in 0..Y by 512: load(A[x, y ..])  -->  what is before the first whole tile, masked
                                                     for y in ..Y by 512: load(A[x, y ..])

    Rows of 50257 numbers begin anywhere, and what is not aligned is loaded number by number. Each
    tensor begins elsewhere: lanes are aligned to the first load of one that is named. A store whose
    line begins alike is aligned, too.
    """

    name: ClassVar[str] = "align"
    ignores_sizes: ClassVar[bool] = True
    written: ClassVar[Written] = Written.CODE
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("inputs", TensorName(), Count.EACH),)
    reference: ClassVar[Reference] = Reference(
        rows=(ReferenceRow(("f.align(A);",), "start tiles where the memory of `A` is aligned"),),
        heading="Loads and stores",
        paragraph=(
            "**`f.align(A)`** is for tensors whose rows may begin anywhere in memory. Loops "
            "along the row start their tiles at aligned addresses. The first unit of 64 "
            "elements, and the elements after the last unit, have masks; whole tiles have none. "
            "It has an effect where each program has one row and the tiles are multiples of 64."
        ),
    )

    order: ClassVar[str] = "each index is in another tile or lane, where that makes no difference"

    inputs: tuple[Name, ...]

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the tensors whose lines begin anywhere."""
        names = tuple(map(Name, layout.aligned))
        return cls(layout.func, names) if names else None

    def why(self, decided: Decided) -> str:
        """Tiles begin where memory does."""
        return f"lines of {listed(self._names)} begin anywhere: tiles begin where memory does"

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(item.text for item in self.inputs)

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel reads the input, or what another kernel left in memory."""
        yield from check_reads(self.inputs, self.func, view)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let lanes begin where the lines of these tensors are aligned."""
        return replace(launch, aligned=(*launch.aligned, *self._names))

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report tensors that have no loop along their lines."""
        why, way = "no loop over tiles of a line of {} may begin anywhere", made.way_to_rows
        if made.has_turns:
            why = "programs that take blocks in turn have one line of {} after the other"
            way = "remove it, or persistent"
        yield from made.each(made.lined, why, way)
