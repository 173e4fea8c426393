"""Draws an indented list as SVG, for instance the loops of a kernel."""

from collections.abc import Iterator, Sequence

from dtpoly.frozen import dataclass
from dtpoly.render.svg import FRAME, SIZE, attributes, picture, shown, tag, width_of, words

MARGIN, HEIGHT, INDENT, PAD = 16, 22, 20, 6
# The ground and the ink of some kinds of parts; other parts are plain words.
COLOURS = {
    "kernel": ("#1f2328", "#ffffff"),
    "grid": ("#ddf4ff", "#0a3069"),
    "loop": ("#fff8c5", "#633c01"),
    "reduction loop": ("#fbefff", "#512a97"),
    "lanes": ("#dafbe1", "#044f1e"),
}


@dataclass(frozen=True, slots=True)
class StyledWords:
    """Words of one kind, such as a loop."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind} {self.text}".strip()


@dataclass(frozen=True, slots=True)
class WordRow:
    """The words of one line, and the number of levels by which it is indented."""

    depth: int
    parts: tuple[StyledWords, ...]


def draw_nested(title: str, rows: Sequence[WordRow]) -> str:
    """Draw one row in a line, with a thin line from a row down to the rows inside it."""
    shapes = list(_guides(rows))
    width = 0.0
    for number, row in enumerate(rows):
        x, y = float(MARGIN + row.depth * INDENT), float(MARGIN + number * HEIGHT)
        for part in row.parts:
            shapes.extend(_part(part, x, y))
            x += _width(part) + PAD
        width = max(width, x)
    return picture(width + MARGIN, 2.0 * MARGIN + len(rows) * HEIGHT, title, shapes)


def _width(part: StyledWords) -> float:
    return width_of(str(part)) + 2 * PAD


def _part(part: StyledWords, x: float, y: float) -> Iterator[str]:
    ground, ink = COLOURS.get(part.kind, ("none", "#1f2328"))
    box = attributes(x=x, y=y + 1, width=_width(part), height=HEIGHT - 3, rx=4, fill=ground)
    yield tag("rect", box)
    yield words(x + PAD, y + HEIGHT / 2 + SIZE / 2 - 2, str(part), fill=ink)


def _guides(rows: Sequence[WordRow]) -> Iterator[str]:
    for number, row in enumerate(rows):
        below = number + 1
        while below < len(rows) and rows[below].depth > row.depth:
            below += 1
        if below > number + 1:
            x = MARGIN + row.depth * INDENT + INDENT / 2
            top, end = MARGIN + (number + 1) * HEIGHT - 2, MARGIN + below * HEIGHT - 4
            yield tag("path", attributes(d=f"M{shown(x)} {top}V{end}", stroke=FRAME))
