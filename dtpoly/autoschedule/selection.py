"""Selects a few candidates that are worth a measurement, the best first."""

from collections.abc import Callable, Iterable, Iterator

from dtpoly.autoschedule.choose import RankedSchedule

# Of each so many that are measured, one is there only because its blocks are of another kind, and
# one to see what the cost model cannot tell. The model may be wrong about all that are alike.
ROUND = 5
KINDS, VARIANTS = (1, 3), (4,)
# What a candidate must be slower by to come after another one of its kind.
SAME_KIND = 0.02
POOL = 600
WORST = 2.0  # times what the best one takes

Kind = tuple[object, ...]


def in_turn(
    candidates: Iterable[RankedSchedule],
    variants: Callable[[RankedSchedule], Iterable[RankedSchedule]] = lambda _: (),
) -> Iterator[RankedSchedule]:
    """Yield candidates in the order of a search: mostly by prediction, but not all alike."""
    pool = sorted(candidates, key=lambda one: one.score)[:POOL]
    kinds: dict[Kind, int] = {}
    others: list[RankedSchedule] = []
    least = pool[0].score if pool else 0.0
    number = 0
    while pool:
        at = number % ROUND
        fresh = [one for one in pool if kind(one) not in kinds and one.score <= WORST * least]
        if at in VARIANTS and others:
            best = others.pop(0)
        elif at in KINDS and fresh:
            best = fresh[0]
            pool.remove(best)
        else:
            best = min(pool, key=lambda one: one.score * (1 + SAME_KIND * kinds.get(kind(one), 0)))
            pool.remove(best)
            # Of the first ones the model is surest.
            others += variants(best) if number < ROUND else ()
        kinds[kind(best)] = kinds.get(kind(best), 0) + 1
        number += 1
        yield best


def kind(one: RankedSchedule) -> Kind:
    """Return what makes candidates alike: places of Funcs, blocks and tiles.

    Warps, stages and the like are left out.
    """
    layouts = (kernel.layout for kernel in one.kernels)
    return (one.plan, *((x.func, x.blocks, x.partial, x.tiles) for x in layouts))
