"""The whole pipeline as straight-line code, stoppable after any stage: text in, Program out."""

from dataclasses import dataclass

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import Diagnostic, DtpolyError, has_errors
from dtpoly.frontend.limit import limited
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.frontend.syntax import File
from dtpoly.schedule.check import check_arguments, check_schedule
from dtpoly.schedule.primitives import PRIMITIVES, Primitives
from dtpoly.source import Source


@dataclass(frozen=True, slots=True)
class Checked:
    """A file as far as it could be understood, and everything that was found in it."""

    file: File
    program: Program | None
    diagnostics: tuple[Diagnostic, ...]


def check(source: Source, primitives: Primitives = PRIMITIVES) -> Checked:
    """Read, resolve and check a source."""
    parsed = parse(source)
    resolved = resolve(parsed.file)
    found = [*parsed.found, *resolved.found]
    # Where Funcs are missing, what is in which kernel is not known.
    check_directives = check_arguments if has_errors(found) else check_schedule
    found.extend(check_directives(resolved.program, primitives))
    program = None if has_errors(found) else resolved.program
    return Checked(parsed.file, program, limited(found))


def load(source: Source, primitives: Primitives = PRIMITIVES) -> Program:
    """The Program of a source. Raises DtpolyError with everything that is wrong."""
    checked = check(source, primitives)
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    return checked.program
