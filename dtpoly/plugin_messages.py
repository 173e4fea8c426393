"""The messages about wrong plugins."""

from types import ModuleType
from typing import Any

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.python_places import class_place, place, said_by
from dtpoly.source import Source, Span

HINT = "a plugin is a Python file with classes that inherit dtpoly.primitives.Primitive"


def called(point: Any) -> str:
    """Return an entry point and its package, for a message."""
    package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    return f"the entry point '{point.name} = {point.value}'{package}"


def unreadable(path: str, reason: str) -> Diagnostic:
    """There is no such file, or it may not be read."""
    note = Note(reason[:1].lower() + reason[1:])
    hint = f"check the path; {HINT}"
    return Diagnostic(
        "DT220", Severity.ERROR, f"cannot read the plugin '{path}'", None, "", (note,), hint
    )


def no_python(path: str, error: SyntaxError | ValueError) -> Diagnostic:
    """Python cannot read the file."""
    span, said = None, str(error)
    if isinstance(error, SyntaxError):
        said = error.msg
        span = _place_of(path, error)
    return Diagnostic(
        "DT221",
        Severity.ERROR,
        f"the plugin '{path}' is not Python",
        span,
        said if span else "",
        () if span else (Note(said),),
        HINT,
    )


def _place_of(path: str, error: SyntaxError) -> Span | None:
    """Return where Python stopped reading; its columns count characters from 1."""
    line = place(path, error.lineno or 0)
    if line is None or error.offset is None:
        return line
    source: Source = line.source
    base = source.line_starts[(error.lineno or 1) - 1]
    width = len(source.line(error.lineno or 1))
    start = min(max(error.offset - 1, 0), width)
    is_one_line = error.end_lineno == error.lineno and error.end_offset is not None
    end = min((error.end_offset or 0) - 1, width) if is_one_line else start + 1
    return Span(source, base + start, base + max(end, start + 1))


def fails(what: str, error: BaseException, span: Span | None) -> Diagnostic:
    """Return the code of a plugin raised an exception while it was loaded."""
    missing = isinstance(error, ModuleNotFoundError) and error.name
    return Diagnostic(
        "DT222",
        Severity.ERROR,
        f"loading {what} fails: {said_by(error)}",
        span,
        "raised here" if span else "",
        hint=f"install '{missing}' in this environment"
        if missing
        else "mend it: dtpoly runs it as it is",
    )


def nothing_in(path: str, module: ModuleType) -> Diagnostic:
    """Return a file without a primitive; a class that is nearly one is shown."""
    almost = [
        cls for cls in vars(module).values() if isinstance(cls, type) and _is_mine(cls, module)
    ]
    span = class_place(almost[0]) if almost else None
    return Diagnostic(
        "DT223",
        Severity.ERROR,
        f"the plugin '{path}' defines no primitive",
        span,
        "does not inherit Primitive" if span else "",
        hint=HINT,
    )


def _is_mine(cls: type, module: ModuleType) -> bool:
    return cls.__module__ == module.__name__ and hasattr(cls, "apply")


def no_primitive(point: Any, value: object) -> Diagnostic:
    """Return an entry point names something else."""
    return Diagnostic(
        "DT223",
        Severity.ERROR,
        f"{called(point)} is no primitive",
        None,
        notes=(Note(f"it is {value!r}"),),
        hint="let it name a class that inherits dtpoly.primitives.Primitive, or a tuple of such",
    )
