"""Reads modules of Python, and finds those that they import from their own project."""

import ast
import io
import tokenize
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.extract.module_names import Binding, BindingChange, bindings_of, changes_of
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span

ENCODINGS = ("utf-8", "utf-8-sig")


@dataclass(frozen=True, slots=True)
class Module:
    """A module as it was read; its name is its path."""

    source: Source
    tree: ast.Module
    lines: tuple[str, ...]
    names: Mapping[str, tuple[Binding, ...]]
    # The places that set a part of what a name is.
    changes: Mapping[str, tuple[BindingChange, ...]]

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
        # In another encoding, Python may read a comment as a statement.
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text.encode()).readline)
        if encoding not in ENCODINGS or "\r" in text:
            raise ValueError(f"the encoding '{encoding}' or an old line end is not understood")
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        whole = Module(source, ast.Module([], []), tuple(text.split("\n")), {}, {})
        raise whole.refused(line or 1, "this is not Python", str(error)) from error
    lines = tuple(text.split("\n"))
    return Module(source, tree, lines, bindings_of(tree), changes_of(tree))


def imported_module(module: Module, dotted: str) -> Module | None:
    """Return a module of the same project by the name with which another one imports it.

    A name that begins with dots counts from the folder of the module that imports it. Any other one
    is looked for in the folders above it. None if there is no such file, or if it cannot be read.
    """
    folder = module.path.absolute().parent
    plain = dotted.lstrip(".")
    up = len(dotted) - len(plain)
    parts = plain.split(".") if plain else []
    above = [folder, *folder.parents]
    for root in above[up - 1 : up] if up else above:
        at = root.joinpath(*parts)
        # Python takes the folder if there are both.
        for path in (at / "__init__.py", at.with_suffix(".py") if parts else at):
            if path.is_file():
                return _read(path)
    return None


@cache
def _read(path: Path) -> Module | None:
    try:
        return read_module(Source(str(path), path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, DtpolyError):
        return None
