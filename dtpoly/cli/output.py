"""Writes texts and diagnostics to standard output and standard error."""

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from dtpoly.cli.lazy import load
from dtpoly.diagnostics import Diagnostic

if TYPE_CHECKING:
    from dtpoly.render.snippet import Line


def prepare_streams() -> None:
    """Make streams safe.

    Characters that an encoding lacks are escaped, and a closed stream is replaced by an empty one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Write a text to standard output."""
    sys.stdout.write(text)


def write_exactly(text: str) -> None:
    """Write a text to standard output as UTF-8, without changing its line ends."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())


def wants_colour(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """True for a terminal.

    NO_COLOR always prevents colours, and FORCE_COLOR always asks for them.
    """
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


def report(diagnostics: Sequence[Diagnostic], stream: TextIO) -> None:
    """Write diagnostics for a person, with colours and line breaks if the stream is a terminal."""
    render: Callable[[Sequence[Diagnostic], int | None], Iterator[Line]]
    render = load("dtpoly.render.diagnostic_text").render
    lines = render(diagnostics, terminal_width(stream))
    stream.write(shown(lines, stream))


def shown(lines: "Iterable[Line]", stream: TextIO) -> str:
    """Return styled lines as a stream can show them."""
    if wants_colour(stream, os.environ):
        coloured: Callable[[Iterable[Line]], str] = load("dtpoly.render.terminal").coloured
        return coloured(lines)
    plain: Callable[[Iterable[Line]], str] = load("dtpoly.render.diagnostic_text").plain
    return plain(lines)


def terminal_width(stream: TextIO) -> int | None:
    """Return the number of columns of a terminal; None for any other stream."""
    if not stream.isatty():
        return None
    # A terminal that does not know its size reports 0.
    return os.get_terminal_size(stream.fileno()).columns or 80
