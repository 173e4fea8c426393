"""Finds directives that say the same thing twice, or two things of one.

A setting is one thing that a directive says: two settings with one key repeat or contradict each
other.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Sized, as_argument, label_of, show_value
from dtpoly.schedule.primitive import Count, Primitive
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that a directive says: about what (key), what (value), and the text of it."""

    key: tuple[str | None, ...]
    value: Any
    text: str
    span: Span | None


def settings(primitive: Primitive) -> tuple[Setting, ...]:
    """List what a directive says: a setting for each of its arguments, or one in all."""
    about: list[str | None] = [primitive.func, primitive.name]
    for parameter in primitive.parameters:
        value: Any = getattr(primitive, parameter.name)
        if parameter.count is Count.EACH:
            return tuple(_item(about, item) for item in value)
        if parameter.is_key:
            about.append(show_value(value))
    return (Setting(tuple(about), primitive, str(primitive), primitive.span),)


def _item(about: list[str | None], item: Any) -> Setting:
    producer = item.producer if isinstance(item, Sized) else None
    text = f"{about[0]}.{about[1]}({show_value(item)});"
    return Setting((*about, producer, label_of(item)), item, text, as_argument(item).span)


def check_settings(primitives: Iterable[Primitive]) -> Iterator[Diagnostic]:
    """Report settings that contradict the first one of the same key, or repeat it."""
    first: dict[tuple[str | None, ...], Setting] = {}
    for primitive in primitives:
        mine = settings(primitive)
        repeated: list[int] = []
        for at, setting in enumerate(mine):
            before = first.setdefault(setting.key, setting)
            if before is setting:
                continue
            if before.value == setting.value:
                repeated.append(at)
            else:
                yield _contradiction(setting, before)
        if len(repeated) == len(mine):
            edits = without_statement(primitive.span)
            yield _repetition(str(primitive), primitive.span, first[mine[0].key], edits)
        else:
            for at in repeated:
                setting = mine[at]
                edits = _without_argument(mine, at, repeated)
                yield _repetition(setting.text, setting.span, first[setting.key], edits)


def _contradiction(setting: Setting, before: Setting) -> Diagnostic:
    return Diagnostic(
        "DT187",
        Severity.ERROR,
        f"'{setting.text.rstrip(';')}' contradicts '{before.text.rstrip(';')}'",
        setting.span,
        "contradicts the other one",
        (Note("the other one", before.span),),
        "keep one of them; directives are a set, so neither comes first",
    )


def _repetition(
    text: str, span: Span | None, before: Setting, edits: tuple[Edit, ...]
) -> Diagnostic:
    return Diagnostic(
        "DT188",
        Severity.WARNING,
        f"'{text.rstrip(';')}' is given twice",
        span,
        "again",
        (Note("given here", before.span),),
        "remove it",
        edits,
    )


def _without_argument(mine: tuple[Setting, ...], at: int, gone: list[int]) -> tuple[Edit, ...]:
    """Cut an argument and one comma, so that several cuts never overlap."""
    span = mine[at].span
    kept_before = any(other not in gone for other in range(at))
    other = mine[at - 1 if kept_before else at + 1].span
    if span is None or other is None:
        return ()
    cut = (other.end, span.end) if kept_before else (span.start, other.start)
    return (Edit(Span(span.source, *cut), ""),)


def without_statement(span: Span | None) -> tuple[Edit, ...]:
    """Cut a statement with its `;`, and its lines if nothing else is on them."""
    if span is None:
        return ()
    text, start, end = span.source.text, span.start, span.end
    ending = re.compile(r"\s*(?:#[^\n]*\n\s*)*;").match(text, end)
    end = ending.end() if ending else end
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    rest = text[end:] if line_end < 0 else text[end:line_end]
    if not text[line_start:start].strip() and not rest.strip():
        start, end = line_start, len(text) if line_end < 0 else line_end + 1
    return (Edit(Span(span.source, start, end), ""),)
