"""Keeps the text of a file that was imported: Triton reads it again, later, for each variant."""

import hashlib
import linecache
from typing import Any


def dt_text(function: Any) -> list[str]:
    """Return the lines of a function's file, as Triton would read them now."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return linecache.getlines(file, function.__globals__)


def dt_digest(function: Any) -> str:
    """Compute a number of the text of a kernel's file, without the comments at its top.

    The text is read as Triton reads that of kernels, so it is what runs, also if somebody edited
    it. Any other text has another number.
    """
    lines = dt_text(function)
    if not lines:
        file = function.__code__.co_filename
        raise RuntimeError(f"'{file}' cannot be read, and Triton needs the text of kernels")
    while lines and lines[0].startswith("#"):
        lines = lines[1:]
    return hashlib.sha256("".join(lines).encode(errors="surrogatepass")).hexdigest()[:32]


def dt_note_text(kernel: Any) -> None:
    """Note the text of a kernel's file, when it is imported."""
    kernel.__dict__["dt_text"] = dt_text(kernel.fn)


def dt_keep_text(kernel: Any) -> None:
    """Make Triton read the text that was imported, if somebody edited the file since.

    Else it would run the kernel of one text by the plan of another. The functions of the file get
    the name of a file that does not exist, whose lines Python has in memory.
    """
    file, lines = kernel.fn.__code__.co_filename, kernel.__dict__["dt_text"]
    if dt_text(kernel.fn) == lines:
        return
    name = f"{file} as it was imported ({hashlib.sha256(''.join(lines).encode()).hexdigest()})"
    linecache.cache[name] = sum(map(len, lines)), None, lines, name
    for one in [*kernel.fn.__globals__.values()]:
        made = getattr(one, "fn", None)
        if made.__class__ is dt_text.__class__ and made.__code__.co_filename == file:
            made.__code__ = made.__code__.replace(co_filename=name)
