"""Makes choices: turns what hypothesis or a seeded generator draws into picks from lists."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

# choose(n) is one of 0..n-1; hypothesis shrinks towards 0, so the simplest option stands first.
Choose = Callable[[int], int]


def seeded(seed: int) -> Choose:
    """Return choices that depend on a seed alone."""
    return Random(seed).randrange


def pick(choose: Choose, options: Sequence[T]) -> T:
    """Return one of the options."""
    return options[choose(len(options))]


def one_in(choose: Choose, n: int) -> bool:
    """True once in n times."""
    return choose(n) == n - 1


def some(choose: Choose, items: Sequence[T], least: int = 0) -> tuple[T, ...]:
    """Return some of the items, at least so many, in their order."""
    bits = choose(2 ** len(items))
    chosen = [at for at in range(len(items)) if bits >> at & 1]
    missing = [at for at in range(len(items)) if at not in chosen]
    chosen.extend(missing[: max(least - len(chosen), 0)])
    return tuple(items[at] for at in sorted(chosen))


def shuffled(choose: Choose, items: Sequence[T]) -> tuple[T, ...]:
    """Return the items, mostly in their order."""
    if len(items) < 2 or not one_in(choose, 4):
        return tuple(items)
    left, result = list(items), list[T]()
    while left:
        result.append(left.pop(choose(len(left))))
    return tuple(result)
