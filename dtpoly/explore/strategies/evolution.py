"""Breeds new points from the best ones so far.

A child takes each option from one of two parents, or is a copy of one parent with another option on
one axis. The rules of the space are applied to each child, so that only points of the space are
measured.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import islice

from dtpoly.explore.space.search_view import Field, Point, SpaceAxis
from dtpoly.explore.strategies.learning import Batches, Learning
from dtpoly.explore.strategies.random_order import random_points
from dtpoly.explore.strategies.strategy import Strategy, StrategySetting

GENERATION = 16
PARENTS = 24  # so many of the best points of all that were measured
FRESH = 2  # points of a generation are random, so that the search never stands still
CROSSED = 0.5
NEAR = 0.7  # of mutations go to the next option up or down, if these are numbers
TRIES = 50  # for each child, until it is a new one


def evolution(setting: StrategySetting) -> Strategy:
    """Ask for generations of points; the first one is random."""
    return Learning(_generations(setting))


def _generations(setting: StrategySetting) -> Batches:
    space, draw = setting.space, random.Random(setting.seed)
    others = random_points(space, setting.seed)
    seen: set[Point] = set()
    best: list[tuple[float, Point]] = []
    while True:
        parents = [point for _, point in best]
        batch = [*_children(space, parents, seen, draw)]
        seen.update(batch)
        fresh = (point for point in others if point not in seen)
        batch.extend(islice(fresh, GENERATION - len(batch)))
        seen.update(batch)
        if not batch:
            return
        told = yield batch
        timed = [(time, point) for point, time in told if time is not None]
        best = sorted([*best, *timed])[:PARENTS]


def _children(
    space: Field, parents: Sequence[Point], seen: set[Point], draw: random.Random
) -> Iterator[Point]:
    """Yield new points from old ones; there are fewer if few are left around these."""
    made: set[Point] = set()
    for _ in range(TRIES * GENERATION if parents else 0):
        if len(made) == GENERATION - FRESH:
            return
        one = _chosen(parents, draw)
        if draw.random() < CROSSED and len(parents) > 1:
            child = crossed(one, _chosen(parents, draw), draw)
        else:
            child = mutated(space.axes, one, draw)
        settled = space.settled(child)
        if settled is not None and settled not in seen and settled not in made:
            made.add(settled)
            yield settled


def _chosen(parents: Sequence[Point], draw: random.Random) -> Point:
    """Choose the better of two random parents, which are sorted by their times."""
    return parents[min(draw.randrange(len(parents)), draw.randrange(len(parents)))]


def crossed(one: Point, other: Point, draw: random.Random) -> Point:
    """Return a point that takes each option from one of two points."""
    return tuple(draw.choice(pair) for pair in zip(one, other, strict=True))


def mutated(axes: Sequence[SpaceAxis], point: Point, draw: random.Random) -> Point:
    """Return the point with another option on one axis."""
    changeable = [at for at, axis in enumerate(axes) if len(axis.options) > 1]
    if not changeable:
        return point
    at = draw.choice(changeable)
    count = len(axes[at].options)
    if is_ordered(axes[at]) and draw.random() < NEAR:
        near = [n for n in (point[at] - 1, point[at] + 1) if 0 <= n < count]
        chosen = draw.choice(near)
    else:
        chosen = (point[at] + draw.randrange(1, count)) % count
    return (*point[:at], chosen, *point[at + 1 :])


def is_ordered(axis: SpaceAxis) -> bool:
    """True if options that are near in the list are similar, as numbers are."""
    return all(option.isdecimal() for option in axis.options)
