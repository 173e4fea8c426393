"""Finds the place of a key in a TOML text, for messages; Python's reader of TOML gives none.

It looks at the heads of tables and at the beginnings of lines. A key that is written in another
way, such as inside of braces, has no place.
"""

import re
from collections.abc import Iterator, Sequence

from dtpoly.source import Source, Span

WORD = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
DOTTED = rf"{WORD}(?:[ \t]*\.[ \t]*{WORD})*"
LINE = re.compile(
    rf"^[ \t]*(?:\[\[?[ \t]*(?P<head>{DOTTED})[ \t]*\]|(?P<key>{DOTTED})[ \t]*=)", re.MULTILINE
)
PLACE = re.compile(r" ?\(at line (\d+), column (\d+)\)$")
AT_END = re.compile(r" ?\(at end of document\)$")


def key_span(source: Source, keys: Sequence[str]) -> Span | None:
    """Return the name before the `=` of a key; None if the text has no such line."""
    lines = _lines(source)
    return next((span for is_head, words, span in lines if not is_head and words == [*keys]), None)


def table_span(source: Source, keys: Sequence[str]) -> Span | None:
    """Return the name of a table in its head, or of one that begins with these words."""
    found = (span for _, words, span in _lines(source) if words[: len(keys)] == [*keys])
    return next(found, None)


def wrong_span(source: Source, said: str) -> tuple[str, Span | None]:
    """Return what a reader of TOML said without the place in it, and that place."""
    match = PLACE.search(said)
    if match is None:
        end = len(source.text.rstrip())
        return AT_END.sub("", said).lower(), Span(source, max(end - 1, 0), end)
    line, column = int(match[1]), int(match[2])
    start = min(source.line_starts[line - 1] + column - 1, len(source.text))
    end = source.text.find("\n", start)
    what = said[: match.start()]
    return f"{what[:1].lower()}{what[1:]}", Span(source, start, max(end, start + 1))


def _lines(source: Source) -> Iterator[tuple[bool, list[str], Span]]:
    """Yield the keys and the heads of tables, as words from the top table on, with their places."""
    table: list[str] = []
    for match in LINE.finditer(source.text):
        group = "head" if match["head"] is not None else "key"
        words = [one.strip("\"'") for one in re.findall(WORD, match[group])]
        span = Span(source, match.start(group), match.end(group))
        if group == "head":
            table = words
            yield True, words, span
        else:
            yield False, [*table, *words], span
