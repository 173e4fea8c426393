"""Finds the directives that are to blame, where several are refused together.

`legality.judge` calls it with a function that says whether a set of directives is refused.
"""

from collections.abc import Callable
from itertools import combinations, islice

from dtpoly.schedule.primitive import Primitive

# How many sets are tried in search of a smaller one; after that, the one found so far is taken.
MOST = 60

Chosen = tuple[Primitive, ...]


def to_blame(
    primitives: Chosen, source: str, target: str, is_refused: Callable[[Chosen], bool]
) -> Chosen:
    """Find a smallest set of directives that is refused by itself, the culprit first.

    Of several culprits, it is the one that acts last; of those, one on the Func that is needed,
    then the first in source order. Most options, and `compile`, change no order: they are always
    kept. Directives on the Funcs that are involved are tried first.
    """
    always = tuple(p for p in primitives if not p.may_be_refused)
    suspects = tuple(p for p in primitives if p.may_be_refused)

    def wrong(some: Chosen) -> bool:
        return is_refused((*always, *some))

    likely = (p for p in suspects if p.func in (source, target))
    alone = next((p for p in likely if wrong((p,))), None)
    if alone is not None:
        return (alone,)
    smallest = _minimal(suspects, wrong)
    smaller = (some for size in range(1, len(smallest)) for some in combinations(suspects, size))
    found = next((some for some in islice(smaller, MOST) if wrong(some)), smallest)
    return tuple(sorted(found, key=lambda p: (-p.stage, p.func != source)))


def _minimal(suspects: Chosen, wrong: Callable[[Chosen], bool]) -> Chosen:
    """Find a set from which nothing can be left out: try halves first, then smaller parts.

    What stands first in the source is kept longest.
    """
    kept, size = suspects, max(len(suspects) // 2, 1)
    while True:
        at = len(kept)
        while at > 0:
            fewer = kept[: max(at - size, 0)] + kept[at:]
            if wrong(fewer):
                kept = fewer
            at -= size
        if size == 1:
            return kept
        size //= 2
