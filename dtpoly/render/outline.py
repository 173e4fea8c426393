"""Lays items out under headings, as styled lines for a person."""

from collections.abc import Iterable, Iterator

from dtpoly.frozen import dataclass
from dtpoly.render.printable import printable
from dtpoly.render.snippet import Line
from dtpoly.render.text_width import cells, wrap

INDENT = "  "
NARROWEST = 20


@dataclass(frozen=True, slots=True)
class Item:
    """Paragraphs under a word, one below the other."""

    word: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its place, a remark on it, and the items below it."""

    title: str
    place: str = ""
    remark: str = ""
    items: tuple[Item, ...] = ()


def outline(headings: Iterable[Heading], width: int | None) -> Iterator[Line]:
    """Yield the headings with a blank line between them; the words of items stand in a column.

    If the width is None (there is no terminal), paragraphs are not broken into lines.
    """
    for number, heading in enumerate(headings):
        if number:
            yield ()
        place = f"{heading.place}: " if heading.place else ""
        yield (printable(place), "blue"), (printable(heading.title), "bold")
        if heading.remark:
            for line in _broken(heading.remark, width, cells(INDENT)):
                yield ((f"{INDENT}{line}", ""),)
        column = max((cells(item.word) for item in heading.items), default=0)
        for item in heading.items:
            yield from _item(item, column, width)


def _item(item: Item, column: int, width: int | None) -> Iterator[Line]:
    taken = 2 * cells(INDENT) + column
    word = item.word + " " * (column - cells(item.word))
    for paragraph in item.paragraphs:
        # The lines after the first one are indented, so that the next paragraph can be seen.
        first, *others = _broken(paragraph, width, taken + cells(INDENT))
        yield (INDENT, ""), (word, "cyan"), (f"{INDENT}{first}", "")
        word = " " * column
        for other in others:
            yield ((f"{INDENT}{word}{INDENT}{INDENT}{other}", ""),)


def _broken(text: str, width: int | None, taken: int) -> list[str]:
    if width is None:
        return [printable(text)]
    return wrap(text, max(width - taken, NARROWEST))
