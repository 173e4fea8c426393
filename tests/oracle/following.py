"""Finds scans that go on from one iteration of their reader's loop to the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tests.oracle.cells import Indices
from tests.oracle.layout import Layout, Times
from tests.oracle.lines import Line
from tests.oracle.needed_steps import Sizes, closure
from tests.oracle.statements import Meaning

# The elements that are needed of a Func, by program and by the time of an iteration.
Needed = Mapping[tuple[Indices, Times], set[Indices]]
# Scans by number, each with its two arrays.
Followed = Mapping[int, tuple[str, str]]
Follow = tuple[Followed, Needed]
AllFollowed = dict[tuple[int, str], Followed]  # by the number of the kernel, and by Func
# Whether a scan follows a loop is so for all sizes. This one shows it: all blocks and tiles of the
# random schedules are smaller.
LARGE = 7


def around_loop(needed: Needed) -> dict[tuple[Indices, Times], set[Indices]]:
    """Return what is needed in each iteration around a loop, from what its iterations need."""
    found: dict[tuple[Indices, Times], set[Indices]] = {}
    for (program, before), elements in needed.items():
        found.setdefault((program, before[:-2]), set()).update(elements)
    return found


def followed_scans(meaning: Meaning, needed: Needed, sizes: Sizes) -> Followed:
    """Return the scans that may go on from one iteration of a loop to the next, and their arrays.

    Some iteration lacks steps that come before its own, and all iterations of the loop together
    have every step from the first one on, each once.
    """
    followed: dict[int, tuple[str, str]] = {}
    around = [elements for elements in around_loop(needed).values() if elements]
    every = [elements for elements in needed.values() if elements]
    for one in meaning.reductions:
        if one.scan is None:
            continue
        arrays = {one.number: (f"{meaning.name}.{one.number}", f"{meaning.name}.{one.number}=")}
        step = ("scan", one.number)

        def is_closed(
            elements: set[Indices], step: tuple[str, int] = step, own: Followed = arrays
        ) -> bool:
            mine = closure(meaning, elements, sizes, own)[step]
            return closure(meaning, elements, sizes)[step] == mine

        def steps(
            elements: set[Indices], step: tuple[str, int] = step, own: Followed = arrays
        ) -> int:
            return len(closure(meaning, elements, sizes, own)[step])

        is_once = sum(map(steps, every)) == sum(map(steps, around))
        if is_once and all(map(is_closed, around)) and not all(map(is_closed, every)):
            followed |= arrays
    return followed


def begins_outside(line: Line, followed: Followed) -> bool:
    """Return whether a statement is the beginning of a scan that follows a loop."""
    reduction = line.reduction
    return line.role == "init" and reduction is not None and reduction.number in followed


def begins_apart(
    lines: Sequence[Line], followed: Followed, lay_out: Callable[[Sequence[Line]], Layout]
) -> Layout:
    """Put the statements of a fused Func into loops.

    The beginnings of scans that follow a loop stand before that loop, so they do not come between
    statements that share loops. Their positions are below those of all others.
    """
    layout = lay_out([one for one in lines if not begins_outside(one, followed)])
    begins = lay_out([one for one in lines if begins_outside(one, followed)])
    for line, place in begins.places.items():
        first, *others = place.positions
        layout.places[line] = replace(place, positions=(first - len(lines), *others))
    return layout


def arrays_of(line: Line) -> tuple[str, ...]:
    """Return the arrays of its own Func that a statement touches."""
    return (line.target, *(array for array, _ in line.results))


def go_back(meaning: Meaning, followed: Followed) -> bool:
    """Return whether there are scans that follow a loop, and all go from the end."""
    scans = [one.scan for one in meaning.reductions if one.number in followed]
    return bool(scans) and all(scan is not None and scan.is_reverse for scan in scans)
