"""Writes the file that a user named, or reports why it cannot be written."""

import os
import sys
from pathlib import Path

from dtpoly.render.printable import printable
from dtpoly.writing import write_atomically


def save(path: Path, data: bytes, done: str = "wrote", more: str = "") -> bool:
    """Write a file and say so on standard error; return false if that is impossible."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            # A terminal, a pipe or /dev/null cannot be replaced by a file.
            path.write_bytes(data)
        else:
            write_atomically(path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        way = "" if path.parent.exists() else f": make the folder '{path.parent}' first"
        tell_error(f"cannot write '{path}': {reason[:1].lower()}{reason[1:]}{way}")
        return False
    print(printable(f"{done} {path}{more}"), file=sys.stderr)
    return True


def is_same_file(one: str, other: str) -> bool:
    """True if two names lead to the same file, through any links."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)


def tell_error(message: str) -> None:
    """Report an error that is about the run, and not about a .dt text."""
    print(printable(f"error: {message}"), file=sys.stderr)
