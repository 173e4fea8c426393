"""Draws a graph as SVG: the nodes one below the other, and the edges beside them.

Edges of some styles go on the right, and those of the others on the left. An edge is a line in a
column of its own. Shorter edges are nearer to the nodes.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from dtpoly.frozen import dataclass
from dtpoly.render.svg import (
    FRAME,
    PALE,
    SIZE,
    attributes,
    picture,
    shown,
    tag,
    tip,
    width_of,
    words,
)

MARGIN, PAD = 16, 10
PORT = 8  # between the ends of two edges
COLUMN = 12  # between two edges
BEND = 4


@dataclass(frozen=True, slots=True)
class Node:
    """A line of text, a pale text after it, and the title of the frame around it."""

    text: str
    detail: str
    group: str


@dataclass(frozen=True, slots=True)
class Style:
    """The look of edges of one kind, and the side on which they are."""

    name: str
    colour: str
    dash: str = "none"
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from one node to another, or to itself; nodes are given by their positions."""

    source: int
    target: int
    style: Style
    tip: str

    @property
    def length(self) -> int:
        """Return how many nodes the edge passes."""
        return abs(self.target - self.source)


@dataclass(frozen=True, slots=True)
class _Line:
    """An edge that is drawn from one height to another in a column."""

    edge: Edge
    start: float
    end: float
    column: int


@dataclass(frozen=True, slots=True)
class _Box:
    """The place of a node in the picture."""

    top: float
    height: float


def draw_graph(title: str, nodes: Sequence[Node], edges: Sequence[Edge], note: str = "") -> str:
    """Draw the graph, with a legend of the styles that are in it."""
    lists = [[e for e in edges if e.style.is_left], [e for e in edges if not e.style.is_left]]
    boxes = _boxes(nodes, edges)
    left, right = (_lines(some, boxes) for some in lists)
    x = MARGIN + _room(left)
    widest = max((width_of(f"{n.text}  {n.detail}") for n in nodes), default=0.0)
    width = 2 * PAD + max(widest, *(width_of(n.group) for n in nodes), 0.0)
    shapes = list(_frames(nodes, boxes, x, width))
    for lines, at, way in ((left, x, -1), (right, x + width, 1)):
        for line in lines:
            shapes.extend(_line(line, at, way))
    bottom = max((box.top + box.height for box in boxes), default=float(MARGIN)) + PAD + MARGIN
    legend, legend_width = _legend(edges, note, bottom)
    across = max(x + width + _room(right), MARGIN + legend_width)
    return picture(across + MARGIN, bottom + SIZE + MARGIN, title, (*shapes, *legend))


def _room(lines: Sequence[_Line]) -> float:
    return max((line.column + 2 for line in lines), default=0) * float(COLUMN)


def _boxes(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[_Box]:
    """Return the place of each node, which is as high as the ends of its edges need."""
    boxes: list[_Box] = []
    top = float(MARGIN)
    for at, node in enumerate(nodes):
        if at == 0 or nodes[at - 1].group != node.group:
            top += (SIZE + 2 * PAD) if at == 0 else (SIZE + 4 * PAD)
        ends = max(
            sum((e.source == at) + (e.target == at) for e in edges if e.style.is_left is is_left)
            for is_left in (True, False)
        )
        boxes.append(_Box(top, max(2.0 * SIZE, PORT * (ends + 1.0))))
        top += boxes[-1].height
    return boxes


def _lines(edges: Sequence[Edge], boxes: Sequence[_Box]) -> list[_Line]:
    """Put each edge into the nearest column that is free over all of its height."""
    ends = {key: y for at, box in enumerate(boxes) for key, y in _ports(at, box, edges)}
    taken: list[list[tuple[float, float]]] = []
    lines: list[_Line] = []
    for number, edge in sorted(enumerate(edges), key=lambda e: (e[1].length, e[0])):
        start, end = ends[number, True], ends[number, False]
        low, high = min(start, end) - BEND, max(start, end) + BEND
        free = (c for c, spans in enumerate(taken) if all(high < a or b < low for a, b in spans))
        column = next(free, len(taken))
        if column == len(taken):
            taken.append([])
        taken[column].append((low, high))
        lines.append(_Line(edge, start, end, column))
    return lines


def _ports(at: int, box: _Box, edges: Sequence[Edge]) -> Iterator[tuple[tuple[int, bool], float]]:
    """Yield the heights at which edges end or start, in an order that makes few of them cross.

    Edges that end here come first, the shortest at the top, and then those that start here.
    """
    ends = [(e.length or len(edges), n) for n, e in enumerate(edges) if e.target == at]
    starts = [(-(e.length or len(edges)), -n) for n, e in enumerate(edges) if e.source == at]
    order = [(n, False) for _, n in sorted(ends)] + [(-n, True) for _, n in sorted(starts)]
    for position, key in enumerate(order):
        yield key, box.top + box.height * (position + 1) / (len(order) + 1)


def _frames(nodes: Sequence[Node], boxes: Sequence[_Box], x: float, width: float) -> Iterator[str]:
    placed = zip(nodes, boxes, strict=True)
    for title, members in groupby(placed, key=lambda one: one[0].group):
        inside = list(members)
        top = inside[0][1].top - SIZE - PAD
        height = inside[-1][1].top + inside[-1][1].height - top
        frame = attributes(x=x, y=top, width=width, height=height, rx=4, fill="none", stroke=FRAME)
        yield tag("rect", frame)
        yield words(x + PAD, top + SIZE + 2, title, font_weight="bold")
        for node, box in inside:
            middle = box.top + box.height / 2 + 4
            yield words(x + PAD, middle, node.text)
            end = x + width - PAD
            yield words(end, middle, node.detail, fill=PALE, text_anchor="end")


def _line(line: _Line, x: float, way: int) -> Iterator[str]:
    """Draw a line out of a node, along the column, and into the other node, with an arrowhead."""
    out = x + way * (line.column + 1.5) * COLUMN
    down = BEND if line.end >= line.start else -BEND
    near = out - way * BEND
    path = (
        f"M{shown(x)} {shown(line.start)}H{shown(near)}"
        f"Q{shown(out)} {shown(line.start)} {shown(out)} {shown(line.start + down)}"
        f"V{shown(line.end - down)}"
        f"Q{shown(out)} {shown(line.end)} {shown(near)} {shown(line.end)}"
        f"H{shown(x + way * 5.0)}"
    )
    style = line.edge.style
    stroke = attributes(
        fill="none", stroke=style.colour, stroke_width=1.5, stroke_dasharray=style.dash
    )
    yield tag("path", f'd="{path}" {stroke}', tip(line.edge.tip))
    head = f"M{shown(x)} {shown(line.end)}l{way * 7} -3.5v7z"
    yield tag("path", f'd="{head}" {attributes(fill=style.colour)}')


def _legend(edges: Sequence[Edge], note: str, y: float) -> tuple[list[str], float]:
    shapes: list[str] = []
    x = float(MARGIN)
    for style in dict.fromkeys(edge.style for edge in edges):
        stroke = attributes(
            d=f"M{shown(x)} {shown(y - 4)}h24",
            stroke=style.colour,
            stroke_width=1.5,
            stroke_dasharray=style.dash,
        )
        shapes += [tag("path", stroke), words(x + 30, y, style.name)]
        x += 30 + width_of(style.name) + 16
    if note:
        shapes.append(tag("text", attributes(x=x, y=y, fill=PALE), escape(note)))
        x += width_of(note)
    return shapes, x - MARGIN
