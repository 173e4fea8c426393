"""Converts between offsets in a source and the lines and characters of an editor.

A line counts from 0. A character counts in the units that the editor chose at the start: UTF-16,
unless it asked for others.
"""

from lsprotocol.types import Position, Range
from pygls.workspace import PositionCodec

from dtpoly.source import Source, Span


def position_of(source: Source, offset: int, codec: PositionCodec) -> Position:
    """Return the position of an offset."""
    line, column = source.position(offset)
    before = source.text[offset - column + 1 : offset]
    return Position(line - 1, codec.client_num_units(before))


def range_of(span: Span, codec: PositionCodec) -> Range:
    """Return the range of a span."""
    source = span.source
    return Range(position_of(source, span.start, codec), position_of(source, span.end, codec))


def offset_of(source: Source, position: Position, codec: PositionCodec) -> int:
    """Return the offset of a position; one behind the end of a line is that end."""
    if position.line >= len(source.line_starts):
        return len(source.text)
    start, text = source.line_starts[position.line], source.line(position.line + 1)
    taken = 0
    for at, char in enumerate(text):
        if taken >= position.character:
            return start + at
        taken += codec.client_num_units(char)
    return start + len(text)


def whole_range(source: Source, codec: PositionCodec) -> Range:
    """Return the range of the whole text."""
    return Range(Position(0, 0), position_of(source, len(source.text), codec))
