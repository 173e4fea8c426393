"""Read a loop that counts down: `for i in range(start, stop, -2)`.

Triton compiles such a loop as one that counts up from `stop` to `start`, and computes the counter
of the kernel from that: `start - up + stop`. It does so only where the step is a constant that is
known when the kernel is compiled. A step that is passed when the kernel is launched is taken as it
is, and a loop with a negative one is undefined. So the step must be written as a negative number.

Here the loop counts its iterations from 0 up, and the counter is `start - step * iteration`. The
iterations stay in the order of time, so what is carried from one to the next is read as in a loop
that counts up.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import TileValue, Unread
from dtpoly.verify.algebra.whole import Whole, both, compare, name
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.reader import Reader

# Types of bounds of which Triton makes a signed counter. With bounds that have no sign, the
# counter that goes up would begin at a number that is less than 0.
SIGNED = (kinds.WEAK, kinds.SIZE, kinds.OFFSET, "tl.int32", "tl.int64")


@dataclass(frozen=True, slots=True)
class Falling:
    """A loop that counts down: where it starts, where it stops, and by how much it goes down."""

    start: Whole
    stop: Whole
    down: int

    @property
    def times(self) -> Whole:
        """Return how often it runs; a number that is not positive for a loop that does not run."""
        return (self.start - self.stop + self.down - 1).floor(self.down)

    def seen(self, counted: TileValue, loop: str) -> TileValue:
        """Return the counter of the kernel, where `loop` is the name of the iterations."""
        return replace(counted, item=self.start - name(loop) * self.down)

    def note_beyond(self, state: KernelState, counter: TileValue, line: int) -> None:
        """Note what Triton computes beside the counter: its type must hold these numbers, too.

        These are the number that counts up, after the last iteration, and the distance from it to
        the start, which is the largest in the first iteration.
        """
        outside = state.where
        state.where = both(outside, compare("<", self.stop, self.start))
        for one in (self.stop + self.times * self.down, self.start - self.stop):
            state.looked_at(one, counter.kind, line, is_cut=counter.is_cut)
        state.where = outside


def falling(read: Reader, over: ast.expr, low: Whole, high: Whole, step: int) -> Falling:
    """Return a loop that counts down. Raises Unread if Triton could make another one of it."""
    args = over.args if isinstance(over, ast.Call) else []
    match args:
        case [start, stop, ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int()))]:
            if {read.tile(one).kind for one in (start, stop)} <= set(SIGNED):
                return Falling(low, high, -step)
        case _:
            pass
    what = "a loop that counts down: its step must be written, as -1, and its bounds have a sign"
    raise Unread(over.lineno, what)
