"""The typed values that a primitive is made of, each with the place where it was written."""

import re
from dataclasses import field
from typing import assert_never

from dtpoly.algorithm.program import Argument, Split
from dtpoly.algorithm.show import show_argument
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a label, of a Func or of a tensor input."""

    text: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Sized:
    """`label:size`, or `producer.label:size`."""

    label: str
    size: int
    producer: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return show_value(self)


@dataclass(frozen=True, slots=True)
class Divided:
    """`label:new/size`: a label divided by a number, and a new name that comes of it."""

    label: str
    new: str
    size: int
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return show_value(self)


Value = Name | Sized | Divided | int | str


def label_of(value: Name | Sized | Divided) -> str:
    """Return the label that a value speaks of."""
    return value.text if isinstance(value, Name) else value.label


def as_argument(value: Value) -> Argument:
    """Return the argument that reads as this value."""
    match value:
        case Name(text=text, span=span):
            return Argument(text, None, span)
        case Sized(label=label, size=size, producer=producer, span=span):
            return Argument(f"{producer}.{label}" if producer else label, size, span)
        case Divided(label=label, new=new, size=size, span=span):
            return Argument(label, Split(new, size), span)
        case int() | str():
            return Argument(value)
        case _:
            assert_never(value)


def show_value(value: Value) -> str:
    """Return a value as the language writes it."""
    return show_argument(as_argument(value))


def word_span(span: Span | None, word: str) -> Span | None:
    """Find where a word first stands inside a span; the span itself if it does not."""
    if span is None:
        return None
    found = re.search(rf"\b{re.escape(word)}\b", span.text)
    if found is None:
        return span
    return Span(span.source, span.start + found.start(), span.start + found.end())
