"""Finds the comments of a module, of which some are lines for the verifier."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from dtpoly.extract.python_modules import Module

FOR_VERIFIER = re.compile(r"#\s*(verify|assume)\s*:")


def comments_outside(module: Module, kernel: str) -> tuple[tuple[int, str], ...]:
    """Return the comments that stand alone on a line, in no function or class but the kernel."""
    inner = {
        line
        for name, bindings in module.names.items()
        for one in bindings
        if name != kernel
        and isinstance(one.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for line in range(one.node.lineno, (one.node.end_lineno or 0) + 1)
    }
    return tuple(
        (one.start[0], one.string)
        for one in _comments(module)
        if one.start[0] not in inner and not one.line[: one.start[1]].strip()
    )


def lines_for_verifier(module: Module) -> Iterator[tuple[int, int]]:
    """Yield the line and the place, in letters, of each comment that is a line for the verifier."""
    for one in _comments(module):
        if FOR_VERIFIER.match(one.string):
            yield one.start


def unprinted(module: Module, first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Yield the comments between two lines that have signs which no printer shows.

    These are the line, and the bytes in it where the comment begins and ends.
    """
    for one in _comments(module):
        line, start = one.start
        if first <= line <= last and not one.string.isprintable():
            before = len(one.line[:start].encode())
            yield line, before, before + len(one.string.encode())


def _comments(module: Module) -> list[tokenize.TokenInfo]:
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO("\n".join(module.lines)).readline)]
    except (tokenize.TokenError, SyntaxError) as error:
        raise module.refused(1, "where the comments are is not clear", str(error)) from error
    return [one for one in tokens if one.type == tokenize.COMMENT]
