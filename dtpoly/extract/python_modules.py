"""Reads modules of Python, and finds those that they import from their own project."""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.extract.module_names import Binding, bindings_of
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span


@dataclass(frozen=True, slots=True)
class Module:
    """A module as it was read; its name is its path."""

    source: Source
    lines: tuple[str, ...]
    names: Mapping[str, tuple[Binding, ...]]

    @property
    def path(self) -> Path:
        """Return where the module is."""
        return Path(self.source.name)

    def refused(self, line: int, title: str, label: str, way: str = "") -> DtpolyError:
        """Return the error at a line of the module."""
        source = self.source
        start = source.line_starts[line - 1]
        end = start + len(source.line(line).rstrip())
        span = Span(source, start, max(end, start + 1))
        return DtpolyError((Diagnostic("DT313", Severity.ERROR, title, span, label, hint=way),))


def read_module(source: Source) -> Module:
    """Read a module; nothing of it is run. Raises DtpolyError."""
    text = source.text.replace("\r\n", "\n")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        whole = Module(source, tuple(text.split("\n")), {})
        raise whole.refused(line or 1, "this is not Python", str(error)) from error
    return Module(source, tuple(text.split("\n")), bindings_of(tree))


def imported_module(module: Module, dotted: str) -> Module | None:
    """Return a module of the same project by the name with which another one imports it.

    A name that begins with dots counts from the folder of the module that imports it. Any other one
    is looked for in the folders above it. None if there is no such file, or if it cannot be read.
    """
    folder = module.path.absolute().parent
    plain = dotted.lstrip(".")
    up = len(dotted) - len(plain)
    parts = plain.split(".") if plain else []
    roots = [folder.parents[up - 2] if up > 1 else folder] if up else [folder, *folder.parents]
    for root in roots:
        at = root.joinpath(*parts)
        for path in (at.with_suffix(".py") if parts else at, at / "__init__.py"):
            if path.is_file():
                return _read(path)
    return None


@cache
def _read(path: Path) -> Module | None:
    try:
        return read_module(Source(str(path), path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, DtpolyError):
        return None
