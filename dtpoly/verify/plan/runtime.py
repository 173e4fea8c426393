"""Find the runtime in a file, and know it by its text.

The runtime is the Python that carries plans out. It is the same in every file, and what it does is
an assumption of each proof that rests on it. A file may import it instead.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.values import Unread

MAKER = "dt_function"
IMPORT = f"from dtpoly.runtime import {MAKER}"


@dataclass(frozen=True, slots=True)
class Found:
    """The runtime of a file: its statements, and the names that it gives to something."""

    statements: tuple[ast.stmt, ...]
    names: frozenset[str]

    def is_above(self, node: ast.stmt) -> bool:
        """Whether all of it stands above a statement."""
        return all(one.lineno < node.lineno for one in self.statements)


def runtime_in(body: Sequence[ast.stmt], lines: Sequence[str]) -> Found:
    """Return the runtime of a file. Raises Unread if there is none that is known."""
    imports = [one for one in body if isinstance(one, ast.ImportFrom)]
    match imports:
        case [one] if ast.unparse(one) == IMPORT and lines[one.lineno - 1].rstrip() == IMPORT:
            return Found((one,), frozenset({MAKER}))
        case _:
            way = "compile this file again"
            raise Unread(1, "the runtime of this file is not the one that is known", way)
