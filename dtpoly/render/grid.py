"""Draws tables of numbered cells as SVG.

A cell is coloured by its number. A thick line goes around the cells that belong together.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise

from dtpoly.frozen import dataclass
from dtpoly.render.svg import INK, PALE, SIZE, attributes, picture, shown, tag, tip, width_of, words

HEIGHT = 22  # of a cell
MARGIN, GAP = 16, 28
TIPS = 1024  # a table with more cells has no tips for single cells
EMPTY = "#f6f8fa"
# The colours from first to last; the end is dark, so that the order also shows in grey.
RAMP = ((255, 247, 188), (161, 218, 180), (65, 182, 196), (44, 127, 184), (37, 52, 148))


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its number, its text, its group, and a tip for the mouse.

    A cell without a number is empty.
    """

    number: int | None
    text: str
    group: int
    tip: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells under a title; `down` and `across` are the names of the two directions.

    If a row or a column stands for several, the grid has heads. Otherwise the heads are numbers.
    """

    title: str
    down: str
    across: str
    rows: tuple[tuple[Cell, ...], ...]
    row_heads: tuple[str, ...] = ()
    column_heads: tuple[str, ...] = ()

    @property
    def heads_down(self) -> tuple[str, ...]:
        """Return the words before each row; without heads, its number."""
        return self.row_heads or tuple(map(str, range(len(self.rows))))

    @property
    def heads_across(self) -> tuple[str, ...]:
        """Return the words above each column; without heads, its number."""
        return self.column_heads or tuple(map(str, range(len(self.rows[0]) if self.rows else 0)))


@dataclass(frozen=True, slots=True)
class Section:
    """Grids of the same cells, beside each other."""

    title: str
    grids: tuple[Grid, ...]


def draw_grids(title: str, sections: tuple[Section, ...]) -> str:
    """Draw all sections, one below the other."""
    shapes: list[str] = []
    top, width = float(MARGIN), 0.0
    for section in sections:
        top += SIZE
        shapes.append(words(MARGIN, top, section.title, font_weight="bold"))
        width = max(width, MARGIN + width_of(section.title) * 1.05)
        top += 10
        left, below = float(MARGIN), top
        for grid in section.grids:
            size = _size(grid)
            shapes.extend(_grid(grid, left, top))
            left += size[0] + GAP
            below = max(below, top + size[1])
        width = max(width, left - GAP)
        top = below + MARGIN
    return picture(width + MARGIN, top, title, shapes)


def _size(grid: Grid) -> tuple[float, float]:
    side = _side(grid) + len(grid.rows[0] if grid.rows else ()) * _cell_width(grid)
    head = width_of(f"{grid.title}  {_way(grid)}") * 0.85
    return max(side, _side(grid) + head), _head(grid) + len(grid.rows) * HEIGHT


def _way(grid: Grid) -> str:
    """Return the directions, such as `x ↓ y →`."""
    directions = ((grid.down, "↓"), (grid.across, "→"))
    return " ".join(f"{name} {arrow}" for name, arrow in directions if name)


def _side(grid: Grid) -> float:
    """Return the width on the left for the numbers of rows."""
    return float(round(_widest(grid.heads_down) + 8)) if grid.down else 0.0


def _widest(texts: Sequence[str]) -> float:
    return max(map(width_of, texts), default=0.0)


def _head(grid: Grid) -> float:
    """Return the height above for the title and the numbers of columns."""
    return 2.0 * SIZE + 10 if grid.across else SIZE + 8.0


def _cell_width(grid: Grid) -> int:
    longest = max((len(cell.text) for row in grid.rows for cell in row), default=0)
    columns = max(map(len, grid.heads_across), default=0)
    return max(HEIGHT, round(width_of("0" * max(longest, columns))) + 6)


def _grid(grid: Grid, left: float, top: float) -> Iterator[str]:
    across, x, y = _cell_width(grid), left + _side(grid), top + _head(grid)
    way = tag("tspan", attributes(dx=8, fill=PALE), escape(_way(grid)))
    yield tag("text", attributes(x=x, y=top + SIZE), escape(grid.title) + way)
    yield f"<g {attributes(font_size=SIZE - 2, fill=PALE, text_anchor='middle')}>"
    for column, head in enumerate(grid.heads_across if grid.across else ()):
        yield words(x + (column + 0.5) * across, y - 5, head)
    for row, head in enumerate(grid.heads_down if grid.down else ()):
        yield words(left + _side(grid) / 2 - 2, y + (row + 0.5) * HEIGHT + 4, head)
    yield "</g>"
    yield from _cells(grid, x, y, across)
    yield tag(
        "path", attributes(d=_borders(grid, x, y, across), fill="none", stroke=INK, stroke_width=2)
    )


def _cells(grid: Grid, x: float, y: float, across: int) -> Iterator[str]:
    """Draw the grounds of all cells, thin lines between them, and their texts."""
    last = max((cell.number or 0 for row in grid.rows for cell in row), default=0)
    yield f"<g {attributes(text_anchor='middle', data_table=grid.title)}>"
    for down, row in enumerate(grid.rows):
        for column, run in _runs(row, sum(map(len, grid.rows)) <= TIPS):
            box = attributes(
                x=x + column * across,
                y=y + down * HEIGHT,
                width=len(run) * across,
                height=HEIGHT,
                fill=_colour(run[0].number, last)[0],
            )
            yield tag("rect", box, tip(run[0].tip) if len(run) == 1 and run[0].tip else "")
    yield tag("path", attributes(d=_mesh(grid, x, y, across), stroke=INK, stroke_opacity=0.25))
    for down, row in enumerate(grid.rows):
        for column, cell in enumerate(row):
            ink = _colour(cell.number, last)[1]
            paler = {} if ink == INK else {"fill": ink}
            middle = x + (column + 0.5) * across
            yield words(middle, y + (down + 0.5) * HEIGHT + 4, cell.text, **paler)
    yield "</g>"


def _runs(row: Sequence[Cell], is_single: bool) -> Iterator[tuple[int, list[Cell]]]:
    """Yield the runs of neighbours with one colour, and where they start.

    Or each cell by itself.
    """
    at = 0
    for _, cells in groupby(enumerate(row), key=lambda one: one if is_single else one[1].number):
        run = [cell for _, cell in cells]
        yield at, run
        at += len(run)


def _mesh(grid: Grid, x: float, y: float, across: int) -> str:
    height, width = len(grid.rows), len(grid.rows[0]) if grid.rows else 0
    right, bottom = shown(x + width * across), shown(y + height * HEIGHT)
    rows = (f"M{shown(x)} {shown(y + row * HEIGHT)}H{right}" for row in range(1, height))
    columns = (f"M{shown(x + at * across)} {shown(y)}V{bottom}" for at in range(1, width))
    return "".join((*rows, *columns))


def _borders(grid: Grid, x: float, y: float, across: int) -> str:
    """Draw the lines between cells of different groups, and around all cells."""
    groups = [[cell.group for cell in row] for row in grid.rows]
    columns = list(zip(*groups, strict=True))
    parts: list[str] = []
    for line, start, end in _edges(groups):
        at, first, last = y + line * HEIGHT, x + start * across, x + end * across
        parts.append(f"M{shown(first)} {shown(at)}H{shown(last)}")
    for line, start, end in _edges(columns):
        at, first, last = x + line * across, y + start * HEIGHT, y + end * HEIGHT
        parts.append(f"M{shown(at)} {shown(first)}V{shown(last)}")
    return "".join(parts)


def _edges(rows: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int]]:
    """Yield each run of cells at which a row differs from the one before: the line, first, end."""
    width = len(rows[0]) if rows else 0
    none = [None] * width
    for line, (above, below) in enumerate(pairwise((none, *rows, none))):
        at = 0
        for differs, run in groupby(a != b for a, b in zip(above, below, strict=True)):
            end = at + len(list(run))
            if differs:
                yield line, at, end
            at = end


def _colour(number: int | None, last: int) -> tuple[str, str]:
    """Return the colour of a number between 0 and the last one, and the colour of text on it."""
    if number is None:
        return EMPTY, INK
    steps = len(RAMP) - 1
    scaled = number * steps * 256 // last if last else 0
    low = min(scaled // 256, steps - 1)
    part = scaled - low * 256
    rgb = [
        (a * (256 - part) + b * part) // 256 for a, b in zip(RAMP[low], RAMP[low + 1], strict=True)
    ]
    is_dark = rgb[0] * 299 + rgb[1] * 587 + rgb[2] * 114 < 128_000
    return "#" + "".join(f"{c:02x}" for c in rgb), "#ffffff" if is_dark else INK
