"""Reads the space of schedules that a file describes; a schedule file names its algorithm."""

from dataclasses import replace
from pathlib import Path

from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity, has_errors
from dtpoly.explore.space.space import Space, count_parameters, space_of
from dtpoly.frontend.choice_messages import no_algorithm, no_dt_file
from dtpoly.frontend.parse import parse
from dtpoly.frontend.reading import STANDARD_INPUT, read_file
from dtpoly.frontend.resolve import resolve
from dtpoly.frontend.schedule_file import misplaced, named_algorithm, with_algorithm
from dtpoly.frontend.syntax import AlgorithmFile
from dtpoly.source import Source, Span

# The endings of an algorithm's file. Files with the second one are schedule files, about which
# another message tells.
SUFFIXES = (".dt", ".dts")
MOST_CHOICES = 100


def read_space(path: str) -> Space:
    """Read the space of a file; `-` is standard input. Raises DtpolyError."""
    return load_space(read_file(path), Path() if path == STANDARD_INPUT else Path(path).parent)


def load_space(source: Source, folder: Path) -> Space:
    """Read the space of a source; the algorithm that it names is looked for in a folder.

    Raises DtpolyError with all mistakes in both files. The directives of the algorithm's own file
    are ignored. A file without choices is a space of one point.
    """
    parsed = parse(source)
    found = list(parsed.found)
    file = parsed.file
    named = named_algorithm(file)
    if named is not None:
        found.extend(misplaced(file))
        algorithm = parse(_algorithm(folder / named.path.text, named))
        found.extend(algorithm.found)
        if named_algorithm(algorithm.file) is not None:
            found.append(no_algorithm(named))
        file = with_algorithm(file, algorithm.file)
    resolved = resolve(file)
    found.extend(resolved.found)
    if has_errors(found):
        raise DtpolyError(found)
    space = space_of(resolved.program, resolved.openings)
    count = count_parameters(space.items)
    if count > MOST_CHOICES:
        raise DtpolyError([_too_many(count, resolved.first_opening)])
    return space


def _too_many(count: int, first: Span | None) -> Diagnostic:
    return Diagnostic(
        "DT252",
        Severity.ERROR,
        f"a space with {count} choices is too large",
        first,
        "the first of them",
        (Note(f"of up to {MOST_CHOICES} choices the points can be counted and proved together"),),
        "split the space: fix some of the choices in each part",
    )


def _algorithm(path: Path, named: AlgorithmFile) -> Source:
    """Read the source that a schedule file names; mistakes are reported where it is named."""
    try:
        # Messages quote what they read, so a file from somebody else may not name just any file.
        if path.suffix not in SUFFIXES:
            raise DtpolyError([no_dt_file(named)])
        return read_file(str(path))
    except DtpolyError as error:
        span, label = named.path.span, "this file"
        told = (
            one if one.span else replace(one, span=span, label=label) for one in error.diagnostics
        )
        raise DtpolyError(told) from None
