"""Candidates in; a few of them that are worth a measurement, the best first, out."""

from collections.abc import Iterable

from dtpoly.autoschedule.choose import Candidate
from dtpoly.autoschedule.layout import Sizes

# What a candidate must be slower by to come after another block, after another plan: the cost model
# may be wrong about all that share one.
SAME_BLOCK, SAME_PLAN = 0.03, 0.004
POOL = 400

Shape = tuple[tuple[Sizes, Sizes], ...]


def selected(candidates: Iterable[Candidate], count: int) -> list[Candidate]:
    """So many, of which no two are the same: fast by prediction, and not all alike."""
    pool = sorted(candidates, key=lambda one: one.score)[:POOL]
    shapes: dict[Shape, int] = {}
    plans: dict[object, int] = {}
    found: list[Candidate] = []
    while pool and len(found) < count:

        def late(one: Candidate) -> float:
            before = shapes.get(_shape(one), 0)
            return one.score * (1 + SAME_BLOCK * before + SAME_PLAN * plans.get(one.plan, 0))

        best = min(pool, key=late)
        pool.remove(best)
        found.append(best)
        shapes[_shape(best)] = shapes.get(_shape(best), 0) + 1
        plans[best.plan] = plans.get(best.plan, 0) + 1
    return found


def _shape(one: Candidate) -> Shape:
    return tuple((layout.blocks, layout.tiles) for layout in one.layouts)
