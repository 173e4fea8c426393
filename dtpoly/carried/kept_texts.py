"""Keeps the text of a file that was imported: Triton reads it again, later, for each variant."""

import contextlib
import hashlib
import inspect
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
    """Note the text of a kernel's file when it is imported, and what the file has for Triton.

    A text is refused that Python did not run: it may have kept what it compiled of an older one.
    """
    file, lines = kernel.fn.__code__.co_filename, dt_text(kernel.fn)
    parts = dict[str, Any]()
    for name, one in kernel.fn.__globals__.items():
        made: Any = getattr(one, "fn", None)
        if made.__class__ is dt_text.__class__ and made.__code__.co_filename == file:
            parts[name] = one
    new = [one for one in (kernel, *parts.values()) if "dt_text" not in one.__dict__]
    if new and not dt_is_text_of([one.fn.__code__ for one in new], lines):
        raise RuntimeError(
            f"'{file}' is not the text that Python ran: it was changed meanwhile, or what Python "
            "keeps of it in __pycache__ is older: remove that, and start again"
        )
    for one in new:
        one.__dict__["dt_text"] = lines
    kernel.__dict__["dt_parts"] = parts


def dt_is_text_of(codes: Any, lines: list[str]) -> bool:
    """Return whether Python makes the code of these functions of the text, if it can be read.

    It is compiled from its beginning, where imports are, to the end of the last of the functions.
    """
    if not lines:
        return True  # where there is none, that is said elsewhere
    begin, last = max(one.co_firstlineno for one in codes) - 1, len(lines)
    with contextlib.suppress(Exception):  # what Python raises where a text is cut off, it changes
        last = begin + len(inspect.getblock(lines[begin:]))
    try:
        whole: Any = compile("".join(lines[:last]), "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    made = {one.co_name: one for one in whole.co_consts if hasattr(one, "co_name")}
    return all(
        one.co_name in made
        and one.replace(co_linetable=b"") == made[one.co_name].replace(co_linetable=b"")
        for one in codes
    )


def dt_keep_parts(kernel: Any) -> None:
    """Refuse a kernel of a file that was run again with another text: it would call new helpers."""
    lines, names = kernel.__dict__["dt_text"], kernel.fn.__globals__
    for name, one in kernel.__dict__["dt_parts"].items():
        now = names.get(name)
        if now is not one and getattr(now, "__dict__", {}).get("dt_text") != lines:
            raise RuntimeError(
                f"'{kernel.fn.__module__}' was imported again with another text, and this function "
                "is of the one before: take the function from the module again"
            )


def dt_keep_text(kernel: Any) -> None:
    """Make Triton read the text that was imported, if somebody edited the file since.

    Else it would run the kernel of one text by the plan of another. The functions of the file get
    the name of a file that does not exist, whose lines Python has in memory.
    """
    dt_keep_parts(kernel)
    file, lines = kernel.fn.__code__.co_filename, kernel.__dict__["dt_text"]
    if dt_text(kernel.fn) == lines:
        return
    number = hashlib.sha256("".join(lines).encode(errors="surrogatepass")).hexdigest()
    name = f"{file} as it was imported ({number})"
    linecache.cache[name] = sum(map(len, lines)), None, lines, name
    for one in kernel.__dict__["dt_parts"].values():
        one.fn.__code__ = one.fn.__code__.replace(co_filename=name)
