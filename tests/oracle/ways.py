"""Computes the loops around each statement of a layout, and the positions between them."""

from typing import NamedTuple

from tests.oracle.layout import Layout, Path, Times

# A place among neighbours; places are compared lexicographically. A fused Func has two numbers: its
# place before the statements that were there, and its own place.
Position = tuple[int, ...]
Values = tuple[int, ...]  # of the loops around an instance


class Turn(NamedTuple):
    """A loop: its Func, its label, and the length of a step.

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
        """Return the values of the loops, from a time that has all positions as well."""
        at, found = 0, list[int]()
        for position in self.positions[:-1]:
            at += len(position)
            found.append(time[at])
            at += 1
        return tuple(found)


def way_along(around: Way, func: str, layout: Layout, path: Path) -> Way:
    """Return the way along a path in a Func's nest, from where the nest begins.

    The path goes through a loop after each position except the last one.
    """
    *before, last = around.positions
    first, *others = path
    turns = tuple(_turn(func, layout, path[:depth]) for depth in range(1, len(path)))
    positions = (*before, (*last, first), *((position,) for position in others))
    return Way(positions, (*around.loops, *turns))


def _turn(func: str, layout: Layout, path: Path) -> Turn:
    """Return the loop at the end of a path; all statements in it agree about it."""
    slot = 2 * len(path) - 1
    place = next(p for p in layout.places.values() if p.positions[: len(path)] == path)
    level = next(level for levels in place.levels for level in levels if level.slot == slot)
    step = (1 if level.tile is None else level.tile) * (level.step or 1)
    return Turn(func, level.name, step)
