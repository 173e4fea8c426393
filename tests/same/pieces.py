"""Divides an emitted file into its kernels, its plans and functions, and what all files share."""

import ast
from collections.abc import Iterator

from dtpoly.plan.runtime_text import FIRST, LAST
from tests.same.outcome import Part, Piece

# The names of functions that are the same in all files begin with this.
SHARED = "dt_"


def pieces_of(text: str) -> tuple[Piece, ...]:
    """Return the statements of a file, each with the comments above it; the runtime is one piece.

    Joined together, they are the file.
    """
    before, first, rest = text.partition(FIRST)
    if not first:
        return _statements(before)
    runtime, last, after = rest.partition(LAST)
    shared = Piece(Part.SHARED, "the runtime", first + runtime + last)
    return (*_statements(before), shared, *_statements(after))


def _statements(text: str) -> tuple[Piece, ...]:
    lines = text.splitlines(keepends=True)
    statements = ast.parse(text).body
    ends = [one.end_lineno or one.lineno for one in statements]
    begins = [0, *ends[:-1]]
    ends[-1:] = [len(lines)]
    return tuple(
        _piece(one, "".join(lines[begin:end]))
        for one, begin, end in zip(statements, begins, ends, strict=True)
    )


def _piece(statement: ast.stmt, text: str) -> Piece:
    name = next(_names(statement), "")
    match statement:
        case ast.Import() | ast.ImportFrom():
            part = Part.SHARED
        case _ if name.startswith(SHARED):
            part = Part.SHARED
        case ast.FunctionDef(decorator_list=[ast.Attribute(attr="jit")]):
            part = Part.KERNEL
        case _:
            part = Part.FUNCTION
    return Piece(part, name, text)


def _names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines."""
    match statement:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (one.id for one in targets if isinstance(one, ast.Name))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (one.name for one in names)
        case _:
            pass
