"""Primitives as a user writes them: some right, some wrong."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from dtpoly.algorithm.expressions import Affine
from dtpoly.schedule.labels import Label
from dtpoly.schedule.primitive import Count, Parameter, Primitive
from dtpoly.schedule.primitives import PRIMITIVES
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Loop, Node, Sequence, rewrite
from dtpoly.schedule.values import Name


def on_body(state: State, func: str, change: Callable[[Node], Node]) -> State:
    return state.with_kernels(func, lambda k: replace(k, body=rewrite(k.body, change)))


@dataclass(frozen=True, slots=True)
class Interchange(Primitive):
    """Swap a loop with the one loop inside of it.

    for x: for y: S  -->  for y: for x: S
    """

    name: ClassVar[str] = "interchange"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loop", Label()),)

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
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loops", Label(), Count.LIST),)

    loops: tuple[Name, ...]

    def apply(self, state: State) -> State:
        outer, inner = (loop.text for loop in self.loops)

        def skew(node: Node) -> Node:
            if not isinstance(node, Loop) or node.axis.label != inner:
                return node
            both = (f"{self.func}.{outer}", 1), (f"{self.func}.{inner}", 1)
            return replace(node, axis=replace(node.axis, time=Affine(both)))

        return on_body(state, self.func, skew)


@dataclass(frozen=True, slots=True)
class Backwards(Primitive):
    """Go through a loop from its end. Nothing looks at what depends on what.

    for x: S(x)  -->  for x from the end: S(x)
    """

    name: ClassVar[str] = "backwards"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loop", Label()),)

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
    """Skew an outer loop by the inner one, backwards: wrong where a Func is fused between them.

    for x: for y: S(x, y)  -->  S(x, y) at time x - y, y
    """

    name: ClassVar[str] = "lean"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("loops", Label(), Count.LIST),)

    loops: tuple[Name, ...]

    def apply(self, state: State) -> State:
        outer, inner = (f"{self.func}.{loop.text}" for loop in self.loops)

        def lean(node: Node) -> Node:
            if not isinstance(node, Loop) or node.axis.name != outer:
                return node
            time = Affine(((outer, 1), (inner, -1)))
            return replace(node, axis=replace(node.axis, time=time))

        return on_body(state, self.func, lean)


USER = (*PRIMITIVES, Interchange, Skew, Backwards, Lean, UpsideDown, Forget, Flatten)
