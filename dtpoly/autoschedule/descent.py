"""Searches for a good choice of several knobs, one knob after another."""

from collections.abc import Callable, Iterable, Sequence

Choice = tuple[int, ...]
SWEEPS = 4
WORTH = 0.98  # times what a sweep began with: one that gains less is the last
# Times the limit, and seconds beyond: what begins there does not come below the limit. Of short
# kernels the beginning says little.
HOPELESS, MARGIN = 2, 100e-6


def descended(
    counts: Sequence[int],
    price: Callable[[Choice], float | None],
    limit: float = float("inf"),
    starts: Iterable[Choice] = (),
    near: float = float("inf"),
    most: int = 1 << 30,
    otherwise: Choice | None = None,
) -> dict[Choice, float]:
    """Return the cost of each choice that was looked at on the way to a good one.

    The search starts at the best of these places: the middle, the first options, and those that are
    given. `counts` says how many options each knob has. It ends when a sweep gains little, or
    when even the best choice costs much more than the limit, or more than that after a sweep. It
    does not begin where the best of these places costs more than `near`, and looks at `most`
    choices. Where all of these places are impossible, it begins at `otherwise`. A choice that is
    impossible has no price and is left out.
    """
    known: dict[Choice, float | None] = {}

    def look(choice: Choice) -> float:
        if choice not in known and len(known) >= most:
            return float("inf")
        if choice not in known:
            known[choice] = price(choice)
        found = known[choice]
        return float("inf") if found is None else found

    middle, first = tuple((n - 1) // 2 for n in counts), tuple(0 for _ in counts)
    best = min((middle, first, *starts), key=look)
    if otherwise is not None and look(best) == float("inf"):
        best = otherwise
    for _ in range(SWEEPS if look(best) <= min(HOPELESS * limit + MARGIN, near) else 0):
        before = best
        for at, count in enumerate(counts):
            options = [(*best[:at], option, *best[at + 1 :]) for option in range(count)]
            best = min((best, *options), key=look)
        if look(best) > min(WORTH * look(before), limit):
            break
    return {choice: cost for choice, cost in known.items() if cost is not None}
