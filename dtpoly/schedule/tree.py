"""The schedule tree: frozen nodes that primitives rewrite, and the paths that `poly` reads.

The grid stands on the kernel and lanes on the leaves, so that programs are outermost and lanes
innermost by construction.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.poly.axes import Axis, Path
from dtpoly.schedule.argument_values import Divided, Sized

if TYPE_CHECKING:  # not loaded where schedules are only checked
    from dtpoly.ir.body import Body
    from dtpoly.ir.kernel import Step
    from dtpoly.plan.price import Price


class AxisKind(Enum):
    """The axes that a directive may make, or order."""

    GRID = "the blocks of a label"
    GROUPS = "groups of blocks"
    LOOPS = "the steps of a loop"
    ORDER = "the order of loops"
    LANES = "the lanes of a statement"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One statement, all its lanes at once."""

    statement: str
    lanes: tuple[Axis, ...] = ()


@dataclass(frozen=True, slots=True)
class Sequence:
    """Children one after another."""

    children: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Loop:
    """A sequential loop of a Func; `unroll` iterations of it are written out."""

    func: str
    axis: Axis
    child: "Node"
    is_reduction: bool = False  # over a label that a reduction binds
    unroll: int = 1

    def with_child(self, child: "Node") -> "Loop":
        """Return the same loop around something else; faster than `replace`, for deep trees."""
        return Loop(self.func, self.axis, child, self.is_reduction, self.unroll)

    def inner(self, label: str) -> "Loop | None":
        """Return the first loop of the same Func over a label below this one."""
        below = (around[-1] for around in loops(self.child))
        return next((o for o in below if (o.func, o.axis.label) == (self.func, label)), None)

    def counting(self, time: Affine) -> "Loop":
        """Return the loop in the order of an expression over loops; it walks the same indices."""
        return replace(self, axis=replace(self.axis, time=time))


Node = Leaf | Sequence | Loop


class LaunchDirective(Protocol):
    """A directive that edits the launch of a kernel, or its code, and leaves its tree as it is."""

    name: ClassVar[str]

    def words(self) -> tuple[str, ...]:
        """Say each thing that it asks for, for `explain`."""
        ...

    def edit(self, launch: Launch, kernel: "Kernel") -> Launch:
        """Return the launch with what it asks of it."""
        ...

    def rewrite(self, body: "Body") -> "tuple[Step, ...]":
        """Return the steps of the kernel as it wants them."""
        ...

    def priced(self, price: "Price", kernel: "Kernel") -> "Price":
        """Return the predicted time of the launch with what it changes of that."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a kernel: they do not change the tree."""

    atomic: tuple[str, ...] = ()  # labels
    asked: tuple[LaunchDirective, ...] = ()  # directives that edit its launch, in their order


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch of a Func's kernel. The grid is outermost first; the last axis runs fastest.

    `tiles`, `splits` and `order` are what directives said of loops. That also counts for the loops
    of Funcs that are fused in later.
    """

    name: str
    func: str
    body: Node
    grid: tuple[Axis, ...] = ()
    tiles: tuple[Sized, ...] = ()
    splits: tuple[Divided, ...] = ()
    order: tuple[str, ...] = ()
    options: Options = Options()


def loop_value(func: str, label: str) -> Affine:
    """Give the index of a Func's own loop over a label, for use in the time of another loop."""
    return Affine(((f"{func}.{label}", 1),))


def with_options(kernel: Kernel, **changed: Any) -> Kernel:
    """Return the kernel with other options."""
    return replace(kernel, options=replace(kernel.options, **changed))


def asking(kernel: Kernel, directive: LaunchDirective) -> Kernel:
    """Return the kernel with one more directive that edits its launch."""
    asked = kernel.options.asked
    return kernel if directive in asked else with_options(kernel, asked=(*asked, directive))


def launch_of(kernel: Kernel) -> Launch:
    """Return the launch of a kernel, as the directives that edit it have it."""
    launch = Launch(name=kernel.name, func=kernel.func)
    for one in kernel.options.asked:
        launch = replace(one.edit(launch, kernel), name=kernel.name, func=kernel.func)
    return launch


def asking_for(kernel: Kernel, does: Callable[[Launch], object]) -> Iterator[LaunchDirective]:
    """Yield the directives that make something true of the launch of a kernel."""
    empty = Launch(kernel.name)
    yield from (one for one in kernel.options.asked if does(one.edit(empty, kernel)))


def paths(kernels: tuple[Kernel, ...]) -> tuple[Path, ...]:
    """Return the way to every leaf, in order."""
    return tuple(path for own in paths_of_each(kernels) for path in own)


def paths_of_each(kernels: tuple[Kernel, ...]) -> tuple[tuple[Path, ...], ...]:
    """Return for each kernel the way to every leaf, in order."""
    return tuple(
        tuple(_below(kernel.body, _start(number, kernel))) for number, kernel in enumerate(kernels)
    )


def _start(number: int, kernel: Kernel) -> Path:
    owners = (kernel.func,) * len(kernel.grid)
    return Path(
        number, kernel.grid, (), "", owners=owners, is_beside=bool(launch_of(kernel).beside)
    )


def _below(node: Node, way: Path) -> list[Path]:
    """Find the paths to all leaves.

    Fusions nest deeply, so this uses a stack and no nested generators.
    """
    found: list[Path] = []
    left: list[tuple[Node, tuple[Axis | int, ...], tuple[str, ...]]] = [(node, (), way.owners)]
    while left:
        node, steps, owners = left.pop()
        match node:
            case Leaf(statement=statement, lanes=lanes):
                own = (statement, lanes, owners, way.is_beside)
                found.append(Path(way.kernel, way.grid, steps, *own))
            case Sequence(children=children):
                inside = [(child, (*steps, at), owners) for at, child in enumerate(children)]
                left.extend(reversed(inside))
            case Loop(func=func, axis=axis, child=child):
                left.append((child, (*steps, axis), (*owners, func)))
            case _:
                assert_never(node)
    return found


def statements(node: Node) -> tuple[str, ...]:
    """Return the names of the statements below, in order."""
    found: list[str] = []
    left = [node]
    while left:
        match left.pop():
            case Leaf(statement=statement):
                found.append(statement)
            case Sequence(children=children):
                left.extend(reversed(children))
            case Loop(child=child):
                left.append(child)
    return tuple(found)


def leaves(node: Node, outer: tuple[Loop, ...] = ()) -> Iterator[tuple[Leaf, tuple[Loop, ...]]]:
    """Yield each leaf and the loops around it, outermost first."""
    left: list[tuple[Node, tuple[Loop, ...]]] = [(node, outer)]
    while left:
        node, around = left.pop()
        match node:
            case Leaf():
                yield node, around
            case Sequence(children=children):
                left.extend((child, around) for child in reversed(children))
            case Loop(child=child):
                left.append((child, (*around, node)))
            case _:
                assert_never(node)


def loops(node: Node, outer: tuple[Loop, ...] = ()) -> Iterator[tuple[Loop, ...]]:
    """Yield each loop as the last one of the loops down to it; outer loops come first."""
    left: list[tuple[Node, tuple[Loop, ...]]] = [(node, outer)]
    while left:
        node, around = left.pop()
        match node:
            case Leaf():
                pass
            case Sequence(children=children):
                left.extend((child, around) for child in reversed(children))
            case Loop(child=child):
                yield (*around, node)
                left.append((child, (*around, node)))
            case _:
                assert_never(node)


def rewrite(node: Node, f: Callable[[Node], Node]) -> Node:
    """Return the tree with f applied to every node, children first."""
    match node:
        case Leaf():
            return f(node)
        case Sequence(children=children):
            return f(Sequence(tuple(rewrite(child, f) for child in children)))
        case Loop(child=child):
            return f(node.with_child(rewrite(child, f)))
        case _:
            assert_never(node)


def in_sequence(nodes: Iterable[Node]) -> Node:
    """Return one after another, without sequences in sequences."""
    flat: list[Node] = []
    for node in nodes:
        flat.extend(node.children if isinstance(node, Sequence) else (node,))
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))
