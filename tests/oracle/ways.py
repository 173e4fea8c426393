"""Computes the loops around each statement of a layout, and the positions in between."""

from typing import NamedTuple

from tests.oracle.layout import Layout, Path, Times

# Where something stands among its neighbours; compared lexicographically. What is fused in has
# two numbers: its place before what was there, and its place in itself.
Position = tuple[int, ...]
Values = tuple[int, ...]  # of the loops around an instance


class Turn(NamedTuple):
    """A loop: its Func, its label, how far one step goes.

    `step` is 0 for a loop that has one step by construction.
    """

    func: str
    label: str
    step: int


class Way(NamedTuple):
    """The loops around a statement, and its position before each of them and in the last one."""

    positions: tuple[Position, ...] = ((),)
    loops: tuple[Turn, ...] = ()

    def values(self, time: Times) -> Values:
        """The loops' values in a time that has all positions as well."""
        at, found = 0, list[int]()
        for position in self.positions[:-1]:
            at += len(position)
            found.append(time[at])
            at += 1
        return tuple(found)


def way_along(around: Way, func: str, layout: Layout, path: Path) -> Way:
    """The way that a path in a Func's nest is, from where the nest begins.

    The path goes through a loop after each position but the last one.
    """
    *before, last = around.positions
    first, *others = path
    turns = tuple(_turn(func, layout, path[:depth]) for depth in range(1, len(path)))
    positions = (*before, (*last, first), *((position,) for position in others))
    return Way(positions, (*around.loops, *turns))


def _turn(func: str, layout: Layout, path: Path) -> Turn:
    """The loop at the end of a path; each statement in it says the same of it."""
    slot = 2 * len(path) - 1
    place = next(p for p in layout.places.values() if p.positions[: len(path)] == path)
    level = next(level for levels in place.levels for level in levels if level.slot == slot)
    step = (1 if level.tile is None else level.tile) * (level.step or 1)
    return Turn(func, level.name, step)
