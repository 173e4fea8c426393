"""A user's primitive that puts loops into any order, backwards and skewed ones among them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from dtpoly.algorithm.expressions import Affine
from dtpoly.schedule.argument_kinds import IntegerKind
from dtpoly.schedule.primitive import Parameter, Primitive
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Loop, Node, Sequence


@dataclass(frozen=True, slots=True)
class Shuffle(Primitive):
    """Put loops that stand directly inside of each other into any order, by a seed.

        for x: for y: S  -->  for y from the end: for x counting x + y: S

    Nothing looks at what depends on what.
    """

    name: ClassVar[str] = "shuffle"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("seed", IntegerKind(0, 10**6)),)

    seed: int

    def apply(self, state: State) -> State:
        random = Random(self.seed)
        return state.with_kernels(
            self.func, lambda kernel: replace(kernel, body=_shuffled(random, kernel.body))
        )


def _shuffled(random: Random, node: Node) -> Node:
    match node:
        case Loop():
            band = list(_band(node))
            inner = _shuffled(random, band[-1].child)
            order = random.sample(band, len(band))
            for at, loop in reversed(list(enumerate(order))):
                inner = replace(_counting(random, loop, order[:at]), child=inner)
            return inner
        case Sequence(children=children):
            return Sequence(tuple(_shuffled(random, child) for child in children))
        case _:
            return node


def _band(node: Loop) -> Iterator[Loop]:
    """Yield the loop, and those that stand directly inside of each other below it."""
    yield node
    if isinstance(node.child, Loop):
        yield from _band(node.child)


def _counting(random: Random, loop: Loop, around: list[Loop]) -> Loop:
    """Return the loop as it is, backwards, or counting from where one around it is."""
    own = Affine(((loop.axis.name, 1),))
    match random.randrange(4):
        case 0:
            return loop.counting(Affine() - own)
        case 1 if around:
            return loop.counting(own + Affine(((random.choice(around).axis.name, 1),)))
        case _:
            return loop
