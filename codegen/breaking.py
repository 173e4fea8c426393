"""Breaks a statement that is too long into lines, as a formatter of Python would.

The lines of generated kernels and plans go through it. A statement that fits stays as it is.
"""

import re
import textwrap
from collections.abc import Iterator
from functools import lru_cache

WIDTH = 100

STATEMENT = re.compile(
    r"(?P<set>[\w, ]+ (?:[-+*|&]|//)?= )|(?P<block>(?:if|for [\w, ]+ in) )(?P<end>.*:$)"
)
CALL = re.compile(r"\w\($")
PREFIX = re.compile(r"[-+~*/%&|^<>=!. \w]*")
CLOSES = {"(": ")", "[": "]", "{": "}"}
METHOD = re.compile(r"(?<=[)\]])(?:\.\w+\([\w., ]*\))+$")
# Operators, the ones that bind least tightly first; each stands between spaces.
OPERATORS = (
    ("or",),
    ("and",),
    ("<", "<=", ">", ">=", "==", "!="),
    ("|",),
    ("^",),
    ("&",),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "//", "%"),
)


def broken(line: str, indent: int) -> list[str]:
    """Return the lines of a statement, each of which fits if it can."""
    if indent + len(line) <= WIDTH:
        return [line]
    return [*_broken(line, indent)]


# Kept, since the kernels of one space have most of their long lines in common.
@lru_cache(maxsize=2048)
def _broken(line: str, indent: int) -> tuple[str, ...]:
    head, value, tail = _parts(line)
    operands = _operands(value)
    if len(operands) > 1:
        parts = [part for one in operands for part in inside(one, "", indent + 4)]
        return (f"{head}(", *(f"    {part}" for part in parts), f"){tail}")
    value, tail = _without_method(value, tail)
    name, inner = _opened(value)
    if inner is None:
        return (line,)
    several = _cut(inner, (",",))
    mark = "," if len(several) > 1 or CALL.search(name) else ""
    parts = [part for one in several for part in inside(one, mark, indent + 4)]
    return (f"{head}{name}", *(f"    {part}" for part in parts), f"{value[-1]}{tail}")


def _without_method(text: str, tail: str) -> tuple[str, str]:
    """Return a value without a method that it ends with, which goes to what follows it."""
    found = METHOD.search(text)
    if found is None:
        return text, tail
    return text[: found.start()], text[found.start() :] + tail


def _parts(line: str) -> tuple[str, str, str]:
    """Split a statement into what comes before its value, the value, and what comes after it."""
    found = STATEMENT.match(line)
    if found is None:
        return "", line, ""
    if found["set"]:
        return found["set"], line[found.end() :], ""
    return found["block"], found["end"][:-1], ":"


def _opened(text: str) -> tuple[str, str | None]:
    """Give the text up to a bracket that closes at the end, and the text inside of that bracket.

    The second part is None if there is no such bracket.
    """
    start = next((at for at, character in enumerate(text) if character in CLOSES), -1)
    if start < 0 or text[-1] != CLOSES[text[start]] or not PREFIX.fullmatch(text[:start]):
        return "", None
    end = next((at for at, depth in enumerate(_depths(text)) if at > start and not depth), None)
    return text[: start + 1], text[start + 1 : -1] if end == len(text) - 1 else None


def _depths(text: str) -> Iterator[int]:
    """Return for each character in how many brackets it stands; quoted text counts as one."""
    depth, is_quoted = 0, False
    for character in text:
        is_quoted ^= character == '"'
        if not is_quoted:
            depth += (character in "([{") - (character in ")]}")
        yield depth + is_quoted


# Kept, since a value is cut at operators of one kind after the other.
@lru_cache(maxsize=256)
def _gaps(text: str) -> tuple[int, ...]:
    """Return the places of the commas and of the spaces that are in no brackets."""
    depths = zip(text, _depths(text), strict=True)
    return tuple(at for at, (one, depth) in enumerate(depths) if not depth and one in ", ")


def inside(text: str, tail: str, indent: int) -> Iterator[str]:
    """Yield the lines of a value between brackets, with what follows it."""
    if indent + len(text + tail) <= WIDTH:
        yield text + tail
        return
    operands = _operands(text)
    if len(operands) > 1:
        for at, one in enumerate(operands):
            yield from inside(one, tail if at == len(operands) - 1 else "", indent)
        return
    text, tail = _without_method(text, tail)
    name, inner = _opened(text)
    if inner is None:
        yield from _quoted(text, tail, indent)
        return
    yield name
    if indent + 4 + len(inner) <= WIDTH:
        yield f"    {inner}"
    else:
        several = _cut(inner, (",",))
        for one in several:
            lines = inside(one, "," if len(several) > 1 else "", indent + 4)
            yield from (f"    {line}" for line in lines)
    yield f"{text[-1]}{tail}"


def _quoted(text: str, tail: str, indent: int) -> Iterator[str]:
    """Yield a long text between quotes as several that stand one after the other."""
    if text.count('"') != 2 or not text.startswith('"') or not text.endswith('"'):
        yield text + tail
        return
    width = WIDTH - indent - len('""' + tail)
    parts = textwrap.wrap(text[1:-1], width, break_long_words=False, drop_whitespace=False)
    for at, part in enumerate(parts):
        yield f'"{part}"' + (tail if at == len(parts) - 1 else "")


def _operands(text: str) -> list[str]:
    """Return the operands of what binds least, each but the first behind its operator."""
    for operators in OPERATORS:
        parts = _cut(text, operators)
        if len(parts) > 1:
            return parts
    return [text]


def _cut(text: str, marks: tuple[str, ...]) -> list[str]:
    """Return a text cut at marks outside of brackets: after commas, before operators."""
    parts, start = list[str](), 0
    for at in _gaps(text):
        character = text[at]
        mark = "," if character == "," else text[at + 1 :].split(" ", 1)[0]
        if mark in marks and at > start and (mark == ",") is (character == ","):
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]
