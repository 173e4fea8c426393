"""The state that primitives rewrite: the Model, its schedule tree, and the fusions so far."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace

from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.poly.lift import without_statements
from dtpoly.poly.model import Model
from dtpoly.schedule.facts import Fact, Fused
from dtpoly.schedule.tree import AxisKind, Kernel, Loop, Node, rewrite, statements


@dataclass(frozen=True, slots=True)
class Fusion:
    """A private copy: what is copied into which kernel, by which directive.

    `copies` and `outside` name statements: the copies, and those of the kernel that read the
    original from outside.
    """

    func: str
    kernel: str
    consumer: str
    label: str
    copies: tuple[str, ...]
    outside: tuple[str, ...] = ()
    recompute: bool = False

    def is_stated_by(self, facts: Iterable[Fact]) -> bool:
        """Return whether it was made because one of these facts is stated."""
        here = (self.func, self.consumer, self.label)
        fused = (fact for fact in facts if isinstance(fact, Fused))
        return any((one.func, one.consumer, one.label) == here for one in fused)


@dataclass(frozen=True, slots=True)
class State:
    """A Program on its way to being scheduled.

    `lifted` is its Model as the algorithm defines it. `makers` are the names of the directives that
    make axes, those that are carried out first first.
    """

    program: Program
    sized: Program  # what is known of sizes
    lifted: Model
    model: Model
    kernels: tuple[Kernel, ...]
    fusions: tuple[Fusion, ...] = ()
    makers: Mapping[AxisKind, tuple[str, ...]] = field(
        default_factory=dict[AxisKind, tuple[str, ...]], compare=False
    )
    stores: Mapping[str, str] = field(default_factory=dict[str, str])  # a result: in whose kernel

    def kernels_of(self, func: str) -> tuple[Kernel, ...]:
        """Return the kernels of a Func: of its partial results, and its own."""
        return tuple(kernel for kernel in self.kernels if kernel.func == func)

    def with_kernels(self, func: str, change: Callable[[Kernel], Kernel]) -> "State":
        """Return the state with each kernel of a Func changed."""
        kernels = tuple(change(k) if k.func == func else k for k in self.kernels)
        return replace(self, kernels=kernels)

    def with_loops(self, func: str, label: str, change: Callable[[Loop], Node]) -> "State":
        """Return the state with each own loop of a Func over a label changed, inner ones first."""

        def one(node: Node) -> Node:
            if isinstance(node, Loop) and (node.func, node.axis.label) == (func, label):
                return change(node)
            return node

        return self.with_kernels(func, lambda k: replace(k, body=rewrite(k.body, one)))


def without_kernels(state: State, func: str) -> State:
    """Return the state without the kernels of a Func."""
    gone = [name for k in state.kernels_of(func) for name in statements(k.body)]
    kernels = tuple(k for k in state.kernels if k.func != func)
    return replace(state, model=without_statements(state.model, gone), kernels=kernels)
