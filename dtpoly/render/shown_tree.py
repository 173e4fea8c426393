"""Shows a tree of frozen dataclasses as indented text, or as data for JSON.

It shows the fields of a node, whatever its class. So it serves both the syntax tree and the
Program, and a new kind of node needs no change here.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import cast

from dtpoly.frozen import dataclass
from dtpoly.render.as_json import Data, place
from dtpoly.render.printable import printable
from dtpoly.source import Source, Span


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a node: its words, its place, and the nodes below it with their fields."""

    words: tuple[str, ...]
    span: Span | None
    below: tuple[tuple[str, object], ...]


def show_tree(root: object) -> Iterator[str]:
    """Yield one node in a line, indented: `field: Kind words line:column-line:column`."""
    pending: list[tuple[int, str, object]] = [(0, "", root)]
    while pending:
        depth, name, node = pending.pop()
        parts = _take_apart(node)
        words = [_kind(node), *parts.words] if is_dataclass(node) else [str(node)]
        if parts.span is not None:
            words.append(_range(parts.span))
        yield "  " * depth + printable(f"{name}: " * bool(name) + " ".join(words))
        pending.extend((depth + 1, name, child) for name, child in reversed(parts.below))


def tree_data(value: object) -> object:
    """Return a node as `{"kind": ..., fields...}`.

    Its span becomes `place`, and a tuple or set becomes a list.
    """
    items = _items(value)
    if items is not None:
        return [tree_data(item) for item in items]
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no word for it
    if not is_dataclass(value):
        return value
    data: Data = {"kind": _kind(value)}
    for field in fields(value):
        inner: object = getattr(value, field.name)
        if isinstance(inner, Source):
            data["file"] = inner.name
        elif isinstance(inner, Span):
            data["place"] = place(inner)
        elif field.repr or (inner and field.name != "span"):
            data[field.name] = tree_data(inner)
    return data


def _take_apart(node: object) -> _Parts:
    words: list[str] = []
    below: list[tuple[str, object]] = []
    span: Span | None = None
    for field in fields(node) if is_dataclass(node) else ():
        value: object = getattr(node, field.name)
        items = _items(value)
        if isinstance(value, Span):
            span = value
        elif isinstance(value, Source):
            words.append(value.name)
        elif items is not None:
            below.extend((field.name, item) for item in items)
        elif is_dataclass(value):
            below.append((field.name, value))
        elif value is not None:
            words.append(str(value))
    return _Parts(tuple(words), span, tuple(below))


def _items(value: object) -> tuple[object, ...] | None:
    if isinstance(value, frozenset):
        return tuple(sorted(cast("frozenset[str]", value)))
    return cast("tuple[object, ...]", value) if isinstance(value, tuple) else None


def _kind(node: object) -> str:
    """Return the name of a node's class, without `Syntax`: a tree is all syntax or has none."""
    return type(node).__name__.removesuffix("Syntax")


def _range(span: Span) -> str:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return f"{line}:{column}-{end_line}:{end_column}"
