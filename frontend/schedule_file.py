"""Reads a schedule file, which names the file of its algorithm and may have only directives."""

from dataclasses import replace

from dtpoly.diagnostics import Diagnostic

from .choice_messages import algorithm_twice, not_in_a_schedule_file
from .syntax import AlgorithmFile, Declaration, Definition, File


def named_algorithm(file: File) -> AlgorithmFile | None:
    """Return the statement of a schedule file that names its algorithm's file, if there is one."""
    return next((one for one in file.statements if isinstance(one, AlgorithmFile)), None)


def misplaced(file: File) -> tuple[Diagnostic, ...]:
    """Report the statements of a schedule file that belong in the file of the algorithm."""
    found: list[Diagnostic] = []
    first = named_algorithm(file)
    for one in file.statements:
        match one:
            case AlgorithmFile() if first is not None and one is not first:
                found.append(algorithm_twice(one, first))
            case Declaration() | Definition() if first is not None:
                found.append(not_in_a_schedule_file(one, first))
            case _:
                pass
    return tuple(found)


def with_algorithm(file: File, algorithm: File) -> File:
    """Add the declarations and definitions of another file to a schedule file.

    The directives of the other file are left out.
    """
    own = tuple(s for s in file.statements if not isinstance(s, Declaration | Definition))
    theirs = tuple(s for s in algorithm.statements if isinstance(s, Declaration | Definition))
    unread = file.unread | algorithm.unread
    return replace(file, statements=(*theirs, *own), unread=unread)
