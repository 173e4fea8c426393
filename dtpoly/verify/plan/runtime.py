"""Find the runtime in a file, and know it by its text.

The runtime is the Python that carries plans out. It is the same in every file, and what it does is
an assumption of each proof that rests on it. A file has its text, between two comments, or imports
it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.triton.helpers import RUNTIME

MAKER = "dt_function"
IMPORT = f"from dtpoly.runtime import {MAKER}"
# The lines around the text of the runtime, which belong to it.
FIRST = "# The runtime of dtpoly, which carries out the plans above. It is the same in every file."
LAST = "# The end of the runtime of dtpoly."
# What the runtime imports besides the modules that kernels may use.
IMPORTS = {
    "import contextlib": "contextlib",
    "import functools": "functools",
    "import itertools": "itertools",
    "import re": "re",
    "from typing import Any": "Any",
}


@dataclass(frozen=True, slots=True)
class Found:
    """The runtime of a file: how it is known, its statements, and the names that it binds."""

    known: str
    statements: tuple[ast.stmt, ...]
    names: frozenset[str]

    def is_above(self, node: ast.stmt) -> bool:
        """Whether all of it stands above a statement."""
        return all(one.lineno < node.lineno for one in self.statements)


def runtime_in(body: Sequence[ast.stmt], lines: Sequence[str]) -> Found:
    """Return the runtime of a file. Raises Unread if there is none that is known."""
    imports = [one for one in body if isinstance(one, ast.ImportFrom)]
    match imports:
        case [one] if ast.unparse(one) == IMPORT and FIRST not in lines and LAST not in lines:
            return Found(RUNTIME[MAKER][0], (one,), frozenset({MAKER}))
        case _ if lines.count(FIRST) == lines.count(LAST) == 1:
            return _carried(body, lines)
        case _:
            raise _unknown(1)


def _unknown(line: int) -> Unread:
    what = "the runtime of this file is not the one that is known"
    return Unread(line, what, "compile this file again")


def _carried(body: Sequence[ast.stmt], lines: Sequence[str]) -> Found:
    """Return the runtime that a file has as a text."""
    first, last = lines.index(FIRST) + 1, lines.index(LAST) + 1
    found = hashlib.sha256("\n".join(lines[first - 1 : last]).encode()).hexdigest()[:32]
    if found != RUNTIME[MAKER][1]:
        raise _unknown(first)
    inside, names = list[ast.stmt](), dict[str, None]()
    for node in body:
        end = node.end_lineno or node.lineno
        start = min(node.lineno, *(d.lineno for d in getattr(node, "decorator_list", [])), end)
        if first <= start and end <= last:
            inside.append(node)
            names |= dict.fromkeys(_bound(node))
        elif (text := ast.unparse(node)) in IMPORTS and end < first:
            inside.append(node)
            names[IMPORTS[text]] = None
        elif start <= last and first <= end:
            raise Unread(start, "a statement around the runtime, which would not be run as such")
    return Found(found, tuple(inside), frozenset(names))


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of the runtime binds in the file."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (one.id for one in targets if isinstance(one, ast.Name))
        case ast.AugAssign(target=ast.Name(id=name)) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case _:
            pass
