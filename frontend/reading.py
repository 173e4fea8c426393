"""Reads a file from a path, and reports all that can go wrong before its text is parsed.

For example, the file is missing, is a folder, or is not UTF-8.
"""

import os
import sys
from pathlib import Path

from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.source import Source, Span
from dtpoly.suggest import near

from .parse import MAX_CHARACTERS

STANDARD_INPUT = "-"
KINDS = (".dt", ".dts")
MOST_LISTED = 1000  # files of a folder that are looked through for a name that is nearly right
# No text of MAX_CHARACTERS is longer than this in UTF-8.
_MAX_BYTES = 4 * MAX_CHARACTERS


def read_file(path: str) -> Source:
    """Read the source at a path, or from standard input if the path is `-`. Raises DtpolyError."""
    name = "<stdin>" if path == STANDARD_INPUT else path
    try:
        _check_link(path)
        data = _read_bytes(path)
    except OSError as error:
        raise DtpolyError([_unreadable(name, error)]) from None
    except ValueError:
        # A path with a null character cannot exist.
        wrong = OSError(0, "the path contains a null character")
        raise DtpolyError([_unreadable(name, wrong)]) from None
    if len(data) > _MAX_BYTES:
        raise DtpolyError([_too_large(name)])
    return decode(name, data)


def _check_link(path: str) -> None:
    """Refuse a link whose name ends otherwise than the name of its file. Raises OSError.

    Messages quote the text that they are about. Files that come from somebody else may hold links
    to private files of the reader. Quotations of those could be seen by others, as in the log of a
    build.
    """
    if os.path.islink(path):
        real = os.path.realpath(path)
        kinds = [os.path.splitext(one)[1] for one in (path, real)]
        if kinds[0] != kinds[1] and os.path.isfile(real):
            reason = f"it is a link to a file whose name does not end in '{kinds[0]}'"
            raise OSError(0, reason if kinds[0] else "it is a link to a file of another kind")


def _read_bytes(path: str) -> bytes:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read(_MAX_BYTES + 1)
    with Path(path).open("rb") as file:
        return file.read(_MAX_BYTES + 1)


def decode(name: str, data: bytes) -> Source:
    """Decode the bytes of a file to a source. Raises DtpolyError if they are not UTF-8."""
    try:
        # Some editors begin a file with a byte order mark, which has no meaning.
        return Source(name, data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        raise DtpolyError([_not_utf8(name, data, error, good)]) from None


def _unreadable(name: str, error: OSError) -> Diagnostic:
    reason = error.strerror or str(error)
    hint = "check the path"
    if isinstance(error, FileNotFoundError):
        hint = _missing(name)
    elif isinstance(error, IsADirectoryError):
        hint = f"name the files in it: {os.path.join(name, '*.dt')}"
    elif os.path.islink(name) and os.path.isfile(name):
        hint = "name the file that it leads to"
    elif isinstance(error, PermissionError):
        hint = "make the file readable for you"
    return Diagnostic(
        "DT100",
        Severity.ERROR,
        f"cannot read '{name}'",
        None,
        notes=(Note(reason[:1].lower() + reason[1:]),),
        hint=hint,
    )


def _missing(name: str) -> str:
    """Return the way out where there is no such file: a pattern, or a name that is nearly right."""
    if "*" in name:
        return "no file matches this pattern: check the path"
    folder, file = os.path.split(name)
    try:
        there = [one for one in sorted(os.listdir(folder or ".")) if one.endswith(KINDS)]
    except OSError:
        return "check the path"
    meant = near(file, there[:MOST_LISTED])
    return f"did you mean '{os.path.join(folder, meant)}'?" if meant else "check the path"


def _too_large(name: str) -> Diagnostic:
    return Diagnostic(
        "DT119",
        Severity.ERROR,
        f"'{name}' is too large",
        None,
        notes=(Note(f"it has more than {_MAX_BYTES:,} bytes"),),
        hint=f"the limit is {MAX_CHARACTERS:,} characters; split the file",
    )


def _not_utf8(name: str, data: bytes, error: UnicodeDecodeError, good: str) -> Diagnostic:
    # The message shows the text up to the wrong byte, with a mark in the place of the byte.
    source = Source(name, good + "\N{REPLACEMENT CHARACTER}")
    return Diagnostic(
        "DT101",
        Severity.ERROR,
        f"'{name}' is not UTF-8 text",
        Span(source, len(good), len(good) + 1),
        f"byte 0x{data[error.start]:02x}",
        hint="save the file as UTF-8",
    )
