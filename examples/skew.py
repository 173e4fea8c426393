"""Two directives of one's own: `dtpoly check --plugin examples/skew.py FILE`.

How they come about is told in new_primitive.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dtpoly.primitives import (
    Diagnostic,
    Label,
    Loop,
    Name,
    Node,
    Parameter,
    Primitive,
    State,
    View,
    loop_value,
    rewrite,
)


@dataclass(frozen=True, slots=True)
class Interchange(Primitive):
    """Swap two loops; what stands beside the inner one comes inside of it.

    for x: (A; for y: B; C)  -->  for y: for x: (A; B; C)
    """

    name = "interchange"
    parameters = (Parameter("outer", Label()), Parameter("inner", Label()))

    outer: Name
    inner: Name

    def apply(self, state: State) -> State:
        """Every loop over the one label that holds one over the other."""

        def swap(outer: Loop) -> Node:
            inner = outer.inner(self.inner.text)
            if inner is None:
                return outer
            body = rewrite(outer.child, lambda node: inner.child if node == inner else node)
            return replace(inner, child=replace(outer, child=body))

        swapped = state.with_loops(self.func, self.outer.text, swap)
        if swapped == state:
            raise self.refusal(f"no loop over '{self.inner}' is inside of one over '{self.outer}'")
        return swapped


@dataclass(frozen=True, slots=True)
class Skew(Primitive):
    """Go through a loop in the order of its sum with another one: along diagonals.

    for x: for y: S(x, y)  -->  for t in 0..X + Y: for y: S(t - y, y)
    """

    name = "skew"
    parameters = (Parameter("loop", Label()), Parameter("by", Label()))

    loop: Name
    by: Name

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Two loops."""
        if self.loop == self.by:
            yield self.mistake(f"'{self.by}' is the same loop", self.by.span)

    def apply(self, state: State) -> State:
        """Every loop of the Func over the label."""
        by = loop_value(self.func, self.by.text)

        def skew(loop: Loop) -> Loop:
            return loop.counting(loop.axis.value + by)

        return state.with_loops(self.func, self.loop.text, skew)
