"""The primitive `flatten`: loops that are directly inside of each other as one loop."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from dtpoly.amounts import listed
from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_values import Name
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import LabelKind, twice
from dtpoly.schedule.primitive import Count, LaunchEdit, Parameter, Written
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, Loop, Node, loops

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.schedule.made_kernels import Made


@dataclass(frozen=True, slots=True)
class Flatten(LaunchEdit):
    """Make one loop of loops that are directly inside of each other, listed outermost first.

        for r: for c: S(r, c)  -->  for i in 0..R * C: S(i // C, i % C)

    The order of what is computed stays. With `num_stages`, loads then run ahead from the last
    iterations of an inner loop to the first ones of its next round.
    """

    name: ClassVar[str] = "flatten"
    ignores_sizes: ClassVar[bool] = True
    elsewhere: ClassVar[tuple[str, ...]] = ("collapse",)
    written: ClassVar[Written] = Written.CODE
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("loops", LabelKind(), Count.LIST, least=2),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.flatten(r, s);",),
                (
                    "turn loops that stand directly inside each other into one, outermost first, "
                    "so that loads run ahead from one round of the inner loop into the next"
                ),
            ),
        ),
    )

    loops: tuple[Name, ...]

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the labels whose loops are one."""
        names = tuple(map(Name, layout.flat))
        return cls(layout.func, names) if names else None

    def why(self, decided: Decided) -> str:
        """Loads run ahead across rounds."""
        return f"one loop over {listed(self._names)}: loads run ahead from round to round"

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that each loop stands once."""
        yield from twice(self.loops)

    def edits(self, kernel: Kernel, state: State) -> bool:
        """Edit the launches of the Func's kernels that have such loops."""
        nests = (around[-1] for around in loops(kernel.body))
        return kernel.func == self.func and any(_is_nest(one, self._names) for one in nests)

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Write loops over these labels as one."""
        return replace(launch, flat=(*launch.flat, self._names))

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(loop.text for loop in self.loops)

    def changes_nothing(self, made: "Made") -> Iterator[Diagnostic]:
        """Report that no single loop was made of these loops."""
        if tuple(str(argument.target) for argument in made.directive.arguments) not in made.joined:
            why = "the loops are not directly inside of each other, or not as long as a size"
            yield made.whole(why, "reorder them, or remove it")


def _is_nest(node: Node, names: tuple[str, ...]) -> bool:
    """Return whether a node is a loop over the first label, directly around one over the next."""
    for name in names:
        if not isinstance(node, Loop) or node.axis.label != name:
            return False
        node = node.child
    return True
