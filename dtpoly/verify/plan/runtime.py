"""Find the runtime in a file, and know it by its text.

The runtime is the Python that carries plans out. It is the same in every file, and what it does is
an assumption of each proof that rests on it. A file has its text, between two comments, or imports
it.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Sequence, Set

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.helpers import RUNTIME
from dtpoly.verify.triton.unit.words import IMPORTS as KNOWN

WORD = re.compile(r"\w+")
MAKER = "dt_function"
HOME = "dtpoly.runtime"
# What a file may import of the runtime: what makes functions, and what a test that it has uses.
OFFERED = frozenset({MAKER, "dt_device", "dt_up", "dt_fit", "dt_lanes"})
# The lines around the text of the runtime, which belong to it.
FIRST = "# The runtime of dtpoly, which carries out the plans above. It is the same in every file."
LAST = "# The end of the runtime of dtpoly."
# What the runtime imports besides the modules that kernels may use.
IMPORTS = {
    "import ast": "ast",
    "import contextlib": "contextlib",
    "import functools": "functools",
    "import inspect": "inspect",
    "import itertools": "itertools",
    "import operator": "operator",
    "import re": "re",
    "from typing import Any": "Any",
}
# The modules that kernels and a test may use, too, by the word that shows that one is used.
OF_KERNELS = {text: text.split(" ")[-1].split(".")[-1] for text in KNOWN}


@dataclass(frozen=True, slots=True)
class Found:
    """The runtime of a file: how it is known, its statements, and the names that it binds."""

    known: str
    statements: tuple[ast.stmt, ...]
    names: frozenset[str]

    def is_above(self, node: ast.stmt) -> bool:
        """Return whether all of it stands above a statement."""
        return all(one.lineno < node.lineno for one in self.statements)


def runtime_in(body: Sequence[ast.stmt], lines: Sequence[str]) -> Found:
    """Return the runtime of a file. Raises Unread if there is none that is known."""
    if (there := lines_of_text(lines)) is not None:
        return _carried(body, lines, *there)
    if FIRST not in lines and LAST not in lines:
        return _imported([one for one in body if isinstance(one, ast.ImportFrom)])
    raise _unknown(1)


def lines_of_text(lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the first and the last line of the runtime's text; None if the file has none."""
    if lines.count(FIRST) != 1 or lines.count(LAST) != 1:
        return None
    return lines.index(FIRST) + 1, lines.index(LAST) + 1


def hash_of(lines: Sequence[str]) -> str:
    """Return the hash by which the text of a runtime is known, of its lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def _imported(imports: Sequence[ast.ImportFrom]) -> Found:
    """Return the runtime that a file imports, in one statement. Raises Unread."""
    match imports:
        case [ast.ImportFrom(module=module, names=aliases, level=0) as one] if module == HOME:
            names = [alias.name for alias in aliases if alias.asname is None]
            is_known = len(names) == len({*names}) == len(aliases) and OFFERED.issuperset(names)
            if is_known and MAKER in names:
                return Found(RUNTIME[MAKER][0], (one,), frozenset(names))
        case _:
            pass
    raise _unknown(imports[0].lineno if imports else 1)


def _unknown(line: int) -> Unread:
    what = "the runtime of this file is not the one that is known"
    return Unread(line, what, "compile this file again")


def _carried(body: Sequence[ast.stmt], lines: Sequence[str], first: int, last: int) -> Found:
    """Return the runtime that a file has as a text, in these lines."""
    found = hash_of(lines[first - 1 : last])
    if found != RUNTIME[MAKER][1]:
        raise _unknown(first)
    inside, names, imports = list[ast.stmt](), dict[str, None](), set[str]()
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
        if isinstance(node, ast.Import | ast.ImportFrom) and end < first:
            imports.add(ast.unparse(node))
    words = {*WORD.findall("\n".join(lines[first - 1 : last]))}
    _check_imports(inside, imports, words, first)
    return Found(found, tuple(inside), frozenset(names))


def _check_imports(
    inside: Sequence[ast.stmt], imports: Set[str], words: Set[str], line: int
) -> None:
    """Refuse a runtime without the imports that it needs; `words` are those of its text.

    Raises Unread.
    """
    known = IMPORTS | OF_KERNELS
    missing = {text: name for text, name in known.items() if text not in imports and name in words}
    if not missing:
        return  # a runtime has many nodes, so they are looked at only if a name may be among them
    nodes = [node for one in inside for node in ast.walk(one)]
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    named |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    for text, name in missing.items():
        if name in named:
            raise Unread(line, f"the runtime needs '{text}', which does not stand above it")


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
