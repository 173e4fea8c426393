"""The primitive `stream`: what a kernel loads of a tensor is the first to leave the cache."""

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
class Stream(Primitive):
    """Say that what a kernel loads of a tensor is not needed again soon.

        load(A + x)  -->  load(A + x, eviction_policy="evict_first")

    It then leaves the cache before what is, such as what the kernel stores for the next one. All
    loads by addresses say so; those through descriptors cannot (see `descriptor`).
    """

    name: ClassVar[str] = "stream"
    stage: ClassVar[Stage] = Stage.OPTIONS
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("inputs", TensorName(), Count.EACH),)

    inputs: tuple[Name, ...]

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the kernel reads the input, or what another kernel left in memory."""
        yield from check_reads(self.inputs, self.func, view)

    def apply(self, state: State) -> State:
        """Record the directive on the kernel."""
        names = tuple(item.text for item in self.inputs)
        return state.with_kernels(
            self.func,
            lambda k: with_options(k, streamed=(*k.options.streamed, *names)),
        )
