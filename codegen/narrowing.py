"""Lets an accumulator reduce its lanes in its loop instead of behind it.

acc = 0, 64 lanes                         sum = 0
for k: acc += A[k]                  -->   for k: part = sum of A[k]; sum += part
sum = sum of acc
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Accumulate, Collapse, Fill, ForLoop, If, Let, Step
from dtpoly.ir.parts import assigned, steps_inside
from dtpoly.ir.rewriting import rewritten
from dtpoly.ir.tile_values import Axes, Variable

from .python_names import fresh


@dataclass(frozen=True, slots=True)
class Narrowing:
    """An accumulator that can be narrowed: how it begins, and how its lanes are reduced."""

    fill: Fill
    collapse: Collapse

    def kept(self, axes: Axes) -> Axes:
        """Return which axes of a tile are left when its lanes are reduced."""
        pairs = zip(axes, self.collapse.axes, strict=True)
        return tuple(axis for axis, old in pairs if old in self.collapse.kept)


def narrowings(body: tuple[Step, ...]) -> Iterator[Narrowing]:
    """Yield the accumulators of a block that can be narrowed.

    Each is filled once, collapsed once, and takes in whole tiles in between.
    """
    fills = {s.instruction.name: s.instruction for s in body if isinstance(s.instruction, Fill)}
    for step in body:
        one = step.instruction
        if not isinstance(one, Collapse) or one.index is not None or one.source not in fills:
            continue
        steps = [made for made in steps_inside(body) if one.source in assigned((made,))]
        sums = [made.instruction for made in steps]
        found = Narrowing(fills[one.source], one)
        tiles = [made for made in sums if isinstance(made, Accumulate)]
        rows = {found.kept(made.axes) for made in tiles}
        reductions = {made.reduction for made in tiles}
        others = [s for s in sums if not isinstance(s, Accumulate | ForLoop | If)]
        if len(rows) == 1 and reductions == {one.reduction} and others == [found.fill, one]:
            yield found


def narrowed(body: tuple[Step, ...], asked: Narrowing, names: set[str]) -> tuple[Step, ...]:
    """Return the block in which an accumulator is narrowed: it has the name of the result."""
    fill, collapse = asked.fill, asked.collapse
    counts = zip(collapse.axes, fill.shape, strict=True)
    shape = tuple(count for axis, count in counts if axis in collapse.kept)

    def change(step: Step) -> tuple[Step, ...]:
        one = step.instruction
        if one is collapse:
            return ()
        if one is fill:
            return (replace(step, instruction=replace(fill, name=collapse.name, shape=shape)),)
        if not isinstance(one, Accumulate) or one.name != fill.name:
            return (step,)
        tile, part = (fresh(f"{collapse.name}_{word}", names) for word in ("tile", "part"))
        names.update((tile, part))
        kept = asked.kept(one.axes)
        reduced = replace(collapse, name=part, source=tile, axes=one.axes, kept=kept)
        total = replace(one, name=collapse.name, value=Variable(part, kept, one.dtype), axes=kept)
        made = (Let(tile, one.value, one.axes), reduced, total)
        return tuple(replace(step, instruction=one) for one in made)

    return rewritten(body, change)
