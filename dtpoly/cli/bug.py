"""Tells the user about an unexpected exception, and writes a file for a report."""

import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

from dtpoly import __version__
from dtpoly.diagnostics import Diagnostic
from dtpoly.frontend.syntax import File
from dtpoly.render.printable import printable
from dtpoly.source import Source, Span
from dtpoly.writing import write_atomically


def tell(error: Exception, arguments: Sequence[str]) -> str:
    """Return the message for the user, and write the file that reproduces the error if possible."""
    facts = _facts(arguments)
    lines = [
        f"internal error: {type(error).__name__}: {error}",
        "This is a bug in dtpoly, not in your file. Please report it with these lines",
    ]
    try:
        path = _write_repro(error, facts)
    except OSError as failure:
        lines[-1] += f"; no repro file could be written: {failure.strerror or failure}"
    else:
        lines[-1] += " and with the file"
        lines.append(f"  {path}")
        lines.append("which holds the traceback and the texts that you passed in.")
    return "\n".join(map(printable, (*lines, *(f"  {fact}" for fact in facts))))


def _facts(arguments: Sequence[str]) -> tuple[str, ...]:
    return (
        f"dtpoly {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: {shlex.join(('dtpoly', *arguments))}",
    )


def _write_repro(error: Exception, facts: Sequence[str]) -> Path:
    path = Path(tempfile.gettempdir()) / f"dtpoly-bug-{uuid4().hex[:8]}.txt"
    parts = [*facts, sys.version, "", *traceback.format_exception(error)]
    for source in dict.fromkeys(_sources(error)):
        parts.extend((f"===== {source.name}", source.text))
    data = "\n".join(parts).encode(errors="backslashreplace")
    write_atomically(path, data, mode=0o600)
    return path


def _sources(error: Exception) -> Iterator[Source]:
    """Yield the sources that the failing calls were working on."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            match value:
                case Source():
                    yield value
                case Span(source=source) | File(source=source) | Diagnostic(span=Span(source)):
                    yield source
                case _:
                    pass
