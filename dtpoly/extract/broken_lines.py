"""Puts into brackets what goes on behind a backslash, which the verifier refuses to read.

Readers of Python do not agree on what follows a backslash at the end of a line. A kernel of another
project is not for us to rewrite, but the text that is taken out of its module is. An expression
with brackets around it is the same expression, and in brackets a line needs no backslash.
"""

import ast
from collections.abc import Iterator, Sequence

from dtpoly.frozen import dataclass

BACKSLASH = "\\"


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A place in a line of a module that is written in another way; places are in bytes."""

    line: int
    start: int
    end: int
    text: str


def in_brackets(lines: Sequence[str], function: ast.FunctionDef) -> tuple[Rewriting, ...]:
    """Return how lines of a function are written without backslashes.

    There is none if it is not sure that the function stays the same.
    """
    edits = tuple(one for node in ast.walk(function) for one in _of_statement(lines, node))
    if not edits:
        return ()
    changed = rewritten(lines, edits)
    return edits if _tree(changed) == _tree(lines) else ()


def rewritten(lines: Sequence[str], edits: Sequence[Rewriting]) -> list[str]:
    """Return lines with edits; of two at one place, the later one comes first in the line."""
    found = list(lines)
    # From the end of a line to its start, so that places stay true.
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.start), reverse=True):
        old = found[edit.line - 1].encode()
        found[edit.line - 1] = (old[: edit.start] + edit.text.encode() + old[edit.end :]).decode()
    return found


def _of_statement(lines: Sequence[str], node: ast.AST) -> Iterator[Rewriting]:
    """Yield the brackets round the expression of a statement, and the backslashes that go."""
    match node:
        case (
            ast.Assign(value=whole)
            | ast.AugAssign(value=whole)
            | ast.AnnAssign(value=ast.expr() as whole)
            | ast.Return(value=ast.expr() as whole)
            | ast.Expr(value=whole)
            | ast.If(test=whole)
        ):
            pass
        case _:
            return
    assert isinstance(node, ast.stmt)
    assert whole.end_lineno is not None
    assert whole.end_col_offset is not None
    broken = [at for at in range(node.lineno, whole.end_lineno) if _is_broken(lines[at - 1])]
    if not broken:
        return
    before = [at for at in broken if at < whole.lineno]
    for at in broken:
        end = len(lines[at - 1].encode())
        yield Rewriting(at, end - 1, end, "(" if [at] == before[:1] else "")
    if not before:
        yield Rewriting(whole.lineno, whole.col_offset, whole.col_offset, "(")
    yield Rewriting(whole.end_lineno, whole.end_col_offset, whole.end_col_offset, ")")


def _is_broken(line: str) -> bool:
    """Return whether a line goes on behind a backslash; in a comment, a backslash is a letter."""
    return line.endswith(BACKSLASH) and "#" not in line


def _tree(lines: Sequence[str]) -> str:
    try:
        return ast.dump(ast.parse("\n".join(lines)))
    except (SyntaxError, ValueError):
        return ""
