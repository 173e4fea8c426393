"""Primitives as a user writes them: some right, some wrong."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from dtpoly.algorithm.expressions import Affine
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.axes import Axis
from dtpoly.poly.model import by_name
from dtpoly.schedule.argument_values import Name, Sized
from dtpoly.schedule.labels import LabelKind, SizedLabel
from dtpoly.schedule.primitive import Count, Parameter, Primitive
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, Loop, Node, Sequence, in_sequence, rewrite, statements


def on_body(state: State, func: str, change: Callable[[Node], Node]) -> State:
    return state.with_kernels(func, lambda k: replace(k, body=rewrite(k.body, change)))


@dataclass(frozen=True, slots=True)
class Interchange(Primitive):
    """Swap a loop with the one loop inside of it.

    for x: for y: S  -->  for y: for x: S
    """

    name: ClassVar[str] = "interchange"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loop", LabelKind()),)

    loop: Name

    def apply(self, state: State) -> State:
        def swap(node: Node) -> Node:
            match node:
                case Loop(child=Loop() as inner) if node.axis.label == self.loop.text:
                    return replace(inner, child=replace(node, child=inner.child))
                case _:
                    return node

        return on_body(state, self.func, swap)


@dataclass(frozen=True, slots=True)
class Skew(Primitive):
    """Let an inner loop count from where the outer one is.

    for x: for y: S(x, y)  -->  for x: for t in x..x + Y: S(x, t - x)
    """

    name: ClassVar[str] = "skew"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loops", LabelKind(), Count.LIST),)

    loops: tuple[Name, ...]

    def apply(self, state: State) -> State:
        outer, inner = (loop.text for loop in self.loops)

        def skew(node: Node) -> Node:
            if not isinstance(node, Loop) or node.axis.name != f"{self.func}.{inner}":
                return node
            both = (f"{self.func}.{outer}", 1), (f"{self.func}.{inner}", 1)
            return replace(node, axis=replace(node.axis, time=Affine(both)))

        def inside(loop: Loop) -> Node:
            return replace(loop, child=rewrite(loop.child, skew))

        return state.with_loops(self.func, outer, inside)


@dataclass(frozen=True, slots=True)
class Backwards(Primitive):
    """Go through a loop from its end. Nothing looks at what depends on what.

    for x: S(x)  -->  for x from the end: S(x)
    """

    name: ClassVar[str] = "backwards"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loop", LabelKind()),)

    loop: Name

    def apply(self, state: State) -> State:
        def reverse(node: Node) -> Node:
            if not isinstance(node, Loop) or node.axis.label != self.loop.text:
                return node
            time = Affine(((node.axis.name, -1),))
            return replace(node, axis=replace(node.axis, time=time))

        return on_body(state, self.func, reverse)


@dataclass(frozen=True, slots=True)
class UpsideDown(Primitive):
    """Turn every sequence round: wrong on purpose."""

    name: ClassVar[str] = "upside_down"

    def apply(self, state: State) -> State:
        def turn(node: Node) -> Node:
            return Sequence(node.children[::-1]) if isinstance(node, Sequence) else node

        return on_body(state, self.func, turn)


@dataclass(frozen=True, slots=True)
class Forget(Primitive):
    """Leave out the last statement: wrong on purpose."""

    name: ClassVar[str] = "forget"

    def apply(self, state: State) -> State:
        def forget(node: Node) -> Node:
            return Sequence(node.children[:-1]) if isinstance(node, Sequence) else node

        return on_body(state, self.func, forget)


@dataclass(frozen=True, slots=True)
class Flatten(Primitive):
    """Leave out all loops: wrong on purpose, many instances end up in one place."""

    name: ClassVar[str] = "flatten"

    def apply(self, state: State) -> State:
        def flat(node: Node) -> Node:
            return node.child if isinstance(node, Loop) else node

        return on_body(state, self.func, flat)


@dataclass(frozen=True, slots=True)
class Lean(Primitive):
    """Skew an outer loop by one inside of it, backwards: wrong where both hold several Funcs.

    for x: for y: S(x, y)  -->  S(x, y) at time x - y, y
    """

    name: ClassVar[str] = "lean"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loops", LabelKind(), Count.LIST),)

    loops: tuple[Name, ...]

    def apply(self, state: State) -> State:
        outer, inner = (loop.text for loop in self.loops)

        def lean(loop: Loop) -> Node:
            below = loop.inner(inner)
            if below is None:
                return loop
            return loop.counting(loop.axis.value - below.axis.value)

        return state.with_loops(self.func, outer, lean)


@dataclass(frozen=True, slots=True)
class Distribute(Primitive):
    """Give each child of a loop a loop of its own.

    for x: (S(x); T(x))  -->  for x: S(x); for x: T(x)
    """

    name: ClassVar[str] = "distribute"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loop", LabelKind()),)

    loop: Name

    def apply(self, state: State) -> State:
        def distribute(node: Node) -> Node:
            match node:
                case Loop(child=Sequence(children=children)) if _is_over(node, self.loop):
                    return Sequence(tuple(replace(node, child=child) for child in children))
                case Sequence(children=children):
                    return in_sequence(children)
                case _:
                    return node

        return on_body(state, self.func, distribute)


@dataclass(frozen=True, slots=True)
class Spread(Primitive):
    """Hand blocks of a label to programs, as `block` does, but when all is fused already.

    What lacks the label is in the first of these programs, and lost where there is none.
    """

    name: ClassVar[str] = "spread"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("blocks", SizedLabel(), Count.LIST, least=1),
    )

    blocks: tuple[Sized, ...]

    def apply(self, state: State) -> State:
        known = by_name(state.model)

        def spread(kernel: Kernel) -> Kernel:
            walked = {x for name in statements(kernel.body) for x in known[name].labels}
            axes = (
                Axis(
                    f"{self.func}.{block.label}.spread",
                    block.label,
                    Affine(((block.label, 1),)),
                    block.size,
                )
                for block in self.blocks
                if block.label in walked
            )
            return replace(kernel, grid=(*kernel.grid, *axes))

        return state.with_kernels(self.func, spread)


@dataclass(frozen=True, slots=True)
class Shorten(Primitive):
    """Go through the first few indices of the Func's own loop only: wrong on purpose."""

    name: ClassVar[str] = "shorten"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loops", SizedLabel(), Count.EACH),)

    loops: tuple[Sized, ...]

    def apply(self, state: State) -> State:
        extents = {f"{self.func}.{loop.label}": loop.size for loop in self.loops}

        def shorten(node: Node) -> Node:
            if not isinstance(node, Loop) or node.axis.name not in extents:
                return node
            return replace(node, axis=replace(node.axis, extent=extents[node.axis.name]))

        return on_body(state, self.func, shorten)


def _is_over(loop: Loop, name: Name) -> bool:
    return loop.axis.label == name.text


USER = (
    *DIRECTIVES,
    *(Interchange, Skew, Backwards, Lean, Distribute, Spread),
    *(UpsideDown, Forget, Flatten, Shorten),
)
