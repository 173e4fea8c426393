"""A source file and spans of characters in it, from which every message gets its place."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field

from dtpoly.frozen import dataclass


def _line_starts(text: str) -> tuple[int, ...]:
    return (0, *(at + 1 for at, char in enumerate(text) if char == "\n"))


@dataclass(frozen=True)
class Source:
    """A named text. Offsets in it count code points, from 0."""

    name: str
    text: str = field(repr=False)
    line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "line_starts", _line_starts(self.text))

    def line_number(self, offset: int) -> int:
        """Line of an offset, from 1."""
        return bisect_right(self.line_starts, offset)

    def line(self, number: int) -> str:
        """Text of a line, from 1, without its line end."""
        start = self.line_starts[number - 1]
        last = number == len(self.line_starts)
        end = len(self.text) if last else self.line_starts[number] - 1
        return self.text[start:end].removesuffix("\r")

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; a column is a code point."""
        number = self.line_number(offset)
        return number, offset - self.line_starts[number - 1] + 1


@dataclass(frozen=True, slots=True)
class Span:
    """The characters start..end (end exclusive) of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """Return the characters themselves."""
        return self.source.text[self.start : self.end]

    def to(self, other: "Span") -> "Span":
        """Return the span from this one's start to the other's end."""
        return Span(self.source, self.start, max(self.end, other.end))

    def lines(self) -> Iterator[int]:
        """Return the numbers of the lines that the span touches."""
        first = self.source.line_number(self.start)
        last = self.source.line_number(max(self.start, self.end - 1))
        return iter(range(first, last + 1))

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"

    def __repr__(self) -> str:
        return f"Span({self})"
