"""The primitive `compile`: a wrapper for a Func, and the kernels that it needs."""

from collections.abc import Iterator
from typing import ClassVar

from dtpoly.frozen import dataclass
from dtpoly.schedule.facts import Compiled, Fact
from dtpoly.schedule.primitive import Parameter, Primitive, Stage
from dtpoly.schedule.reference import Reference, Row


@dataclass(frozen=True, slots=True)
class Compile(Primitive):
    """Make a wrapper that computes a Func, and every kernel that it launches.

        f  -->  def f(inputs): launch the kernels that f needs, producers first; return f

    A Func that f needs has a kernel of its own unless all its readers have it fused or inlined.
    A compiled Func always keeps its kernel.
    """

    name: ClassVar[str] = "compile"
    ignores_sizes: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("compile_to_kernel",)
    stage: ClassVar[Stage] = Stage.COMPILE
    is_of_result: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    reference: ClassVar[Reference] = Reference(
        rows=(
            Row(
                ("f.compile();",),
                (
                    "make the function `f` and every kernel that it needs; also spelled "
                    "`compile_to_kernel`"
                ),
            ),
        ),
        is_extension=False,
    )
    needs_kernel: ClassVar[bool] = False

    def facts(self) -> Iterator[Fact]:
        """State that the Func is compiled."""
        yield Compiled(self.func)
