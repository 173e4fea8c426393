"""Keeps the texts that are open in an editor, and what is known of each."""

from dataclasses import dataclass, field
from typing import Protocol

from lsprotocol.types import Position, Range, TextDocumentIdentifier
from pygls.workspace import PositionCodec

from dtpoly.editor.analysed_text import AnalysedText, ReadText
from dtpoly.editor.editor_positions import offset_of, range_of
from dtpoly.editor.occurrences import Occurrence
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Span


class TextAsked(Protocol):
    """What an editor sends to ask about a text."""

    @property
    def text_document(self) -> TextDocumentIdentifier:
        """Return the address of the text."""
        ...


class PlaceAsked(TextAsked, Protocol):
    """What an editor sends to ask about a place in a text."""

    @property
    def position(self) -> Position:
        """Return the place."""
        ...


@dataclass
class OpenText:
    """A text that is open in the editor, and what is known of it.

    What was found in it comes later than the text.
    """

    uri: str
    read: ReadText
    found: AnalysedText | None = None

    @property
    def analysed(self) -> AnalysedText:
        """Return what was found; before it is there, only what the syntax shows."""
        return self.found or AnalysedText(self.read, ())


@dataclass
class OpenTexts:
    """All texts that are open, by their addresses, and the directives that they may use."""

    primitives: Primitives
    codec: PositionCodec  # how the editor counts characters
    by_uri: dict[str, OpenText] = field(default_factory=dict[str, OpenText])

    def text(self, asked: TextAsked) -> OpenText | None:
        """Return the text that an editor asks about, if it is open."""
        return self.by_uri.get(asked.text_document.uri)

    def offset(self, one: OpenText, position: Position) -> int:
        """Return the offset of a position in a text."""
        return offset_of(one.read.source, position, self.codec)

    def word(self, asked: PlaceAsked) -> Occurrence | None:
        """Return the name at the place that an editor asks about."""
        one = self.text(asked)
        return one.read.occurrence_at(self.offset(one, asked.position)) if one else None

    def places(self, asked: PlaceAsked) -> list[Range]:
        """Return each place of the name that is asked about; where it gets its meaning, first."""
        one, word = self.text(asked), self.word(asked)
        if one is None or word is None:
            return []
        return [self.range(found.span) for found in one.read.all_of(word.name)]

    def range(self, span: Span) -> Range:
        """Return the range of a span as the editor counts."""
        return range_of(span, self.codec)
