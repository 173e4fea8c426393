"""Knobs and what a choice costs in; the choices on the way to a good one, with it, out."""

from collections.abc import Callable, Iterable, Sequence

Choice = tuple[int, ...]
SWEEPS = 4


def descended(
    counts: Sequence[int],
    price: Callable[[Choice], float | None],
    limit: float = float("inf"),
    starts: Iterable[Choice] = (),
) -> dict[Choice, float]:
    """What each choice costs that was looked at: knob after knob, from the best place to start.

    That is in the middle, at the first options, or one of those that are given.

    `counts` says how many options each knob has. Where after a sweep nothing is below the limit it
    ends. A choice that cannot be costs nothing and is left out.
    """
    known: dict[Choice, float | None] = {}

    def look(choice: Choice) -> float:
        if choice not in known:
            known[choice] = price(choice)
        found = known[choice]
        return float("inf") if found is None else found

    middle, first = tuple((n - 1) // 2 for n in counts), tuple(0 for _ in counts)
    best = min((middle, first, *starts), key=look)
    for _ in range(SWEEPS):
        before = best
        for at, count in enumerate(counts):
            options = [(*best[:at], option, *best[at + 1 :]) for option in range(count)]
            best = min((best, *options), key=look)
        if best == before or look(best) > limit:
            break
    return {choice: cost for choice, cost in known.items() if cost is not None}
