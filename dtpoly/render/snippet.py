"""Shows lines of a source with line numbers, and underlines and labels the marked spans."""

from collections.abc import Iterator

from dtpoly.frozen import dataclass
from dtpoly.render.printable import printable
from dtpoly.render.text_width import cells, fits, window, wrap
from dtpoly.source import Source, Span

NEAR = 8  # lines between two marks that are still shown together

Line = tuple[tuple[str, str], ...]  # (text, style) after (text, style)
GUTTER = "blue"


@dataclass(frozen=True, slots=True)
class Mark:
    """A span to underline and its label; the main span is underlined by carets."""

    span: Span
    label: str
    style: str
    main: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of a mark on one line, in columns from 0."""

    number: int
    start: int
    end: int
    label: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class _Placed:
    """A piece in cells of the line as it is shown."""

    start: int
    end: int
    label: str
    mark: Mark


def belongs(mark: Mark, marks: tuple[Mark, ...], room: int) -> bool:
    """True if a mark can be shown together with others: same source, near, in one window."""
    source = mark.span.source
    if source != marks[0].span.source:
        return False
    others = [piece for other in marks for piece in _pieces(other)]
    mine = _pieces(mark)
    distance = min(abs(a.number - b.number) for a in mine for b in others)
    return distance <= NEAR and all(_fits(source, piece, others, room) for piece in mine)


def _fits(source: Source, piece: _Piece, others: list[_Piece], room: int) -> bool:
    same_line = [piece, *(other for other in others if other.number == piece.number)]
    start, end = min(p.start for p in same_line), max(p.end for p in same_line)
    line = source.line(piece.number)
    return fits(line, room) or fits(line[start:end], room // 2)


def _pieces(mark: Mark) -> tuple[_Piece, ...]:
    """Return one piece, or one on the first and one on the last line of a longer span."""
    source, span = mark.span.source, mark.span
    number, column = source.position(span.start)
    numbers = tuple(span.lines())
    last = numbers[-1]
    start = min(column - 1, len(source.line(number)))
    line = source.line(last)
    end = min(span.end - source.line_starts[last - 1], len(line))
    if last == number:
        return (_Piece(number, start, max(start, end), mark.label, mark),)
    indent = min(len(line) - len(line.lstrip()), end)
    return (
        _Piece(number, start, len(source.line(number)), "", mark),
        _Piece(last, indent, end, mark.label, mark),
    )


def snippet(
    marks: tuple[Mark, ...], digits: int, room: int, *, wrap_labels: bool = False
) -> Iterator[Line]:
    """Yield the lines that the marks touch, with underlines, and `...` for lines left out."""
    source = marks[0].span.source
    pieces = [piece for mark in marks for piece in _pieces(mark)]
    before: int | None = None
    for number in sorted({piece.number for piece in pieces}):
        if before is not None and number == before + 2:
            yield from _annotated(source, before + 1, [], digits, room, wrap_labels)
        elif before is not None and number > before + 2:
            yield (("...", GUTTER),)
        here = [piece for piece in pieces if piece.number == number]
        yield from _annotated(source, number, here, digits, room, wrap_labels)
        before = number


def _annotated(
    source: Source, number: int, pieces: list[_Piece], digits: int, room: int, wrap_labels: bool
) -> Iterator[Line]:
    line = source.line(number)
    start = min((piece.start for piece in pieces), default=0)
    first, last = window(line, start, room)
    lead, tail = "…" if first else "", "…" if last < len(line) else ""
    shown = f"{lead}{printable(line[first:last])}{tail}"
    yield (f"{number:>{digits}} | ", GUTTER), (shown, "")

    def cell(column: int) -> int:
        """Return where a column stands; what is left out stands at the ellipsis."""
        if column < first:
            return 0
        beyond = 1 if column > last else 0
        return len(lead) + cells(line[first : min(column, last)]) + beyond

    placed = [_place(line, piece, cell(piece.start), cell(piece.end)) for piece in pieces]
    gutter = (f"{' ' * digits} | ", GUTTER)
    for row in _underlines(placed, room if wrap_labels else None):
        yield (gutter, *row)


def _place(line: str, piece: _Piece, start: int, end: int) -> _Placed:
    # A combining mark is shown in the cell before the one where it would stand alone.
    if start and piece.start < len(line) and cells(line[piece.start]) == 0:
        start -= 1
    return _Placed(start, max(end, start + 1), piece.label, piece.mark)


def _underlines(pieces: list[_Placed], room: int | None) -> Iterator[Line]:
    """Yield the row of carets and dashes, then the labels that do not fit after it."""
    if not pieces:
        return
    row: dict[int, tuple[str, str]] = {}
    for piece in sorted(pieces, key=lambda p: p.mark.main):
        for cell in range(piece.start, piece.end):
            row[cell] = ("^" if piece.mark.main else "-", piece.mark.style)
    hanging = [piece for piece in pieces if piece.label]
    rightmost = max(pieces, key=lambda p: (p.end, p.mark.main))
    label = printable(rightmost.label)
    if label and (room is None or rightmost.end + 1 + cells(label) <= room):
        hanging.remove(rightmost)
        yield (*_drawn(row), (f" {label}", rightmost.mark.style))
    else:
        yield _drawn(row)
    yield from _hanging_labels(hanging, room)


def _hanging_labels(pieces: list[_Placed], room: int | None) -> Iterator[Line]:
    """Yield labels below their underlines, the rightmost first; a `|` leads to the next ones."""
    pending = sorted(pieces, key=lambda p: p.start)
    while pending:
        piece = pending.pop()
        bars = {p.start: ("|", p.mark.style) for p in pending if p.start < piece.start}
        at, text = piece.start, [printable(piece.label)]
        if room is not None:
            if not bars:
                at = max(0, min(at, room - cells(piece.label)))
            text = wrap(piece.label, max(room - at, room // 2))
        for line in text:
            yield (*_drawn(bars, at), (line, piece.mark.style))


def _drawn(row: dict[int, tuple[str, str]], width: int = 0) -> Line:
    """Return a row of single cells as text, filled up with spaces to a width."""
    end = max([width, *(cell + 1 for cell in row)])
    parts: list[tuple[str, str]] = []
    for cell in range(end):
        char, style = row.get(cell, (" ", ""))
        if parts and parts[-1][1] == style:
            parts[-1] = (parts[-1][0] + char, style)
        else:
            parts.append((char, style))
    return tuple(parts)
