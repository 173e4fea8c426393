"""The primitive `store`: a tile is stored in boxes, one after another."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.schedule.argument_kinds import IntegerKind, listed
from dtpoly.schedule.argument_values import Sized, word_span
from dtpoly.schedule.facts import DescribedTensors
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import SizedLabel
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.tree import Kernel

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class StoreBoxes(LaunchEdit):
    """Store the tile of a Func through its descriptor in boxes of at most so many elements.

        f_descriptor.store([x, y], tile)  -->  left, right = halves of tile
                                               f_descriptor.store([x, y], left)
                                               f_descriptor.store([x, y + size], right)

    Shared memory then holds one box of the result and not all of it, so that one more stage of
    loads may fit. Stores through addresses stay as they are.
    """

    name: ClassVar[str] = "store"
    ignores_sizes: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        # A side of one element would be none of the box.
        Parameter("boxes", SizedLabel(IntegerKind(least=2, power_of_two=True)), Count.EACH),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(("f.store(n:64);",), "store a tile by its descriptor in several boxes"),
        ),
        heading="Loads and stores",
        paragraph=(
            "**`f.store(n:64)`** stores the tile of `f` in boxes of at most this many elements "
            "along n, one after another. The number is a power of two, and there are at most "
            "eight boxes. `f.descriptor(A, f)` must ask for the descriptor. Shared memory then "
            "holds one box and not the whole tile, so `num_stages` may be one more. Stores by "
            "addresses are not changed. It cannot stand with `warp_specialize`, which cuts the "
            "block in its own way."
        ),
    )

    boxes: tuple[Sized, ...]

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the labels are those of the result, which is stored by descriptor.

        All warps of the kernel must do the same, which they do not under `warp_specialize`.
        """
        labels = view.funcs[self.func].labels
        for box in self.boxes:
            if box.label not in labels:
                yield self._not_stored(box, labels)
        mine = view.described.get(self.func, ())
        is_known = all(func != self.func for func, _ in view.wrong)
        if is_known and not any(self.func in one.tensors for one in mine):
            yield self._no_descriptor(mine[0] if mine else None)
        if (other := view.rows_apart.get(self.func)) is not None:
            why = Note("each of two groups of warps stores its half of the rows there", other.span)
            yield self.contradiction(other.by, why)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let the tile of the result be stored in boxes."""
        boxes = {box.label: box.size for box in self.boxes}
        return replace(launch, boxes={**launch.boxes, **boxes})

    def _not_stored(self, box: Sized, labels: tuple[str, ...]) -> Diagnostic:
        known = f"it has {', '.join(labels)}" if labels else "it is one number"
        return Diagnostic(
            "DT185",
            Severity.ERROR,
            f"'{box.label}' is not a label of the result of '{self.func}'",
            word_span(box.span, box.label),
            "is none of what is stored",
            (Note(known),),
            f"write {listed(labels)}" if labels else "remove it",
        )

    def _no_descriptor(self, before: DescribedTensors | None) -> Diagnostic:
        way = f"name {self.func} in its descriptor, too" if before else ""
        return Diagnostic(
            "DT197",
            Severity.ERROR,
            f"'{self.func}' is not stored through a descriptor",
            self.span,
            "says in which boxes that is done",
            (Note("the descriptors of its kernel", before.span),) if before else (),
            f"{way or f'add {self.func}.descriptor({self.func});'}  or  remove it",
        )

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report labels along which the tile is not cut."""
        if made.is_stored_by_descriptor:
            why = "no tile that is stored has more elements along {}"
            yield from made.each(made.cut, why, "take a smaller number, or remove it")
        else:
            why = f"no tile of '{self.func}' is stored through a descriptor"
            yield from made.each(made.cut, *made.why_not_stored(why))
