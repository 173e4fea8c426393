"""Finds the places of exceptions and definitions in a user's Python code."""

import linecache
import re
import sys
import traceback

from dtpoly.source import Source, Span

LONG = 400  # letters of what an exception says


def raised_at(error: BaseException, module: str) -> Span | None:
    """Return where an exception was raised, as far as that is in a module's own code.

    An error deep inside of a library is shown at the line that called it.
    """
    frames = zip(
        traceback.walk_tb(error.__traceback__),
        traceback.extract_tb(error.__traceback__),
        strict=True,
    )
    mine = [summary for (frame, _), summary in frames if frame.f_globals["__name__"] == module]
    if not mine:
        return None
    last = mine[-1]
    end = last.end_colno if last.end_lineno == last.lineno else None
    return place(last.filename, last.lineno or 0, last.colno, end)


def place(file: str, number: int, start: int | None = None, end: int | None = None) -> Span | None:
    """Return a line of a Python file, or its bytes start..end; None if the text is not at hand."""
    source = _source(file)
    if not 1 <= number < len(source.line_starts):
        return None
    line = source.line(number)
    first, last = len(line) - len(line.lstrip()), len(line)
    if start is not None and end is not None and start < end:
        data = line.encode()
        first, last = (len(data[:at].decode(errors="replace")) for at in (start, end))
    base = source.line_starts[number - 1]
    return Span(source, base + first, base + last)


def _source(file: str) -> Source:
    text = "".join(linecache.getlines(file))
    return Source(file, text if text.endswith("\n") else text + "\n")


def class_place(cls: type) -> Span | None:
    """Return the name of a class where it is defined."""
    source = _source(file_of(cls))
    found = re.search(rf"^\s*class\s+({re.escape(cls.__name__)})\b", source.text, re.MULTILINE)
    return Span(source, found.start(1), found.end(1)) if found else None


def function_place(function: object) -> Span | None:
    """Return the first line of a function."""
    code = getattr(function, "__code__", None)
    return None if code is None else place(code.co_filename, code.co_firstlineno)


def file_of(cls: type) -> str:
    """Return the file that defines a class; in a notebook, what Python calls the cell."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file is not None:
        return str(file)
    # What a dataclass writes itself comes from `<string>`.
    codes = (getattr(value, "__code__", None) for value in vars(cls).values())
    files = [str(code.co_filename) for code in codes if code is not None]
    return next((name for name in files if name != "<string>"), cls.__module__)


def said_by(error: BaseException) -> str:
    """Return an exception in one line: its type and its words."""
    try:
        words = " ".join(str(error).split())
    except Exception:
        # A user's exception may even fail to say what it is.
        words = ""
    words = words if len(words) <= LONG else f"{words[: LONG - 1]}…"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
