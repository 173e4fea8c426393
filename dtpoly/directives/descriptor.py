"""The primitive `descriptor`: tiles are loaded or stored through a tensor descriptor."""

from collections.abc import Iterator
from typing import ClassVar

from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.schedule.arguments import TensorName
from dtpoly.schedule.kernels import View
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage
from dtpoly.schedule.reads import check_reads
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import with_options
from dtpoly.schedule.values import Name


@dataclass(frozen=True, slots=True)
class Descriptor(Primitive):
    """Load or store the tiles of a tensor through a descriptor instead of through pointers.

        load(A + x * stride_x + y * stride_y)  -->  A_descriptor.load([x, y])

    On devices with a tensor memory accelerator whole tiles are then copied at once. A Func that
    another kernel computes can be loaded like that, too; the Func itself is stored like that.
    """

    name: ClassVar[str] = "descriptor"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("inputs", TensorName(), Count.EACH),)

    inputs: tuple[Name, ...]

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel reads each tensor, or that it is the Func's own.

        It may read an input, or what another kernel left in memory.
        """
        others = [item for item in self.inputs if item.text != self.func]
        yield from check_reads(others, self.func, view)

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        names = tuple(item.text for item in self.inputs)
        return state.with_kernels(
            self.func,
            lambda k: with_options(k, descriptors=(*k.options.descriptors, *names)),
        )
