"""Two directives that leave the loops as they are: `dtpoly check --plugin examples/turned.py FILE`.

One edits the launch of a kernel, the other one rewrites the code of a kernel after it was made from
the loops. How they come about is told in new_primitive.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dtpoly.primitives import (
    Body,
    Count,
    Diagnostic,
    Kernel,
    Launch,
    LaunchEdit,
    Made,
    Name,
    Parameter,
    Step,
    TensorName,
)


@dataclass(frozen=True, slots=True)
class Turned(LaunchEdit):
    """Compute the tiles of products the other way round, and turn the result.

    acc[m, n] += A[m, k] @ B[k, n]  -->  acc[n, m] += B[n, k] @ A[k, m], then turned
    """

    name = "turned"

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Rows of products are columns while they are summed."""
        return replace(launch, is_swapped=True)

    def changes_nothing(self, made: Made) -> Iterator[Diagnostic]:
        """Without a product nothing is turned."""
        if not made.multiplies:
            yield made.whole("no kernel of it multiplies two matrices", "remove it")


@dataclass(frozen=True, slots=True)
class LastUse(LaunchEdit):
    """Let what is loaded of tensors leave the cache first, for nobody reads it again.

    A_value = load(A)  -->  A_value = load(A, evict first)
    """

    name = "last_use"
    parameters = (Parameter("inputs", TensorName(), Count.EACH),)

    inputs: tuple[Name, ...]

    def rewrite(self, body: Body) -> tuple[Step, ...]:
        """Each load of the tensors is marked."""
        variables = {body.variables.get(one.text) for one in self.inputs}
        return body.with_loads(
            lambda load: replace(load, is_streamed=True) if load.tensor in variables else load
        )
