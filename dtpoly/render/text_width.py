"""Measures how wide texts are on a terminal, and cuts or wraps them so that they fit."""

from collections.abc import Callable
from functools import cache
from importlib import import_module

from dtpoly.render.printable import printable


@cache
def _measure() -> Callable[[str], int]:
    """Return rich's function for the cells of a text; rich is loaded when something is measured."""
    found: Callable[[str], int] = import_module("rich.cells").cell_len
    return found


def cells(text: str) -> int:
    """Return how many terminal cells a text takes once it is printable."""
    return _measure()(printable(text))


def wrap(text: str, width: int, taken: int = 0) -> list[str]:
    """Break a text at spaces into lines; a word that is too long stays whole.

    `taken` cells of the first line are not free.
    """
    lines, cell_len = list[str](), _measure()
    for paragraph in text.splitlines() or [""]:
        line, free = "", width if lines else width - taken
        for at, word in enumerate(printable(paragraph).split(" ")):
            if at and cell_len(line) + 1 + cell_len(word) > free:
                lines.append(line)
                line, free = word, width
            else:
                line += f" {word}" if at else word
        lines.append(line)
    return lines


def fits(text: str, room: int) -> bool:
    """True if a text takes at most this number of cells; a long text is not measured."""
    return len(text) <= 8 * room and cells(text) <= room


def window(line: str, start: int, room: int) -> tuple[int, int]:
    """Return the part first..last of a line, around a start, that fits into this number of cells.

    A third of the room is for the text before the start. Two cells are left for ellipses.
    """
    if fits(line, room):
        return 0, len(line)
    inner = max(room - 2, 1)
    first = last = min(start, len(line))
    used = 0
    while first > 0 and used + cells(line[first - 1]) <= inner // 3:
        first -= 1
        used += cells(line[first])
    while last < len(line) and used + cells(line[last]) <= inner:
        used += cells(line[last])
        last += 1
    while first > 0 and used + cells(line[first - 1]) <= inner:
        first -= 1
        used += cells(line[first])
    # A mark that combines with the character before it must not stand after the ellipsis.
    while 0 < first < start and cells(line[first]) == 0:
        first += 1
    return first, last
