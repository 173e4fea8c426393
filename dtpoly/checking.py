"""Takes a text to a Program and its verdict: reads, resolves, checks and proves, in this order.

`check` runs all stages; callers that need only some call `understand` or `prove`. From a legal
schedule to a file, `generate` goes on.
"""

from collections.abc import Iterable
from dataclasses import replace

from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError, stage, within_default
from dtpoly.budget_messages import over
from dtpoly.diagnostics import Diagnostic, DtpolyError, has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.choice_messages import is_a_space
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frontend.diagnostic_limit import limited
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.frontend.schedule_file import misplaced, named_algorithm
from dtpoly.frontend.syntax import File
from dtpoly.frozen import dataclass
from dtpoly.plugins import completed
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.costs import costs
from dtpoly.schedule.legality import judge
from dtpoly.schedule.no_sizes import check_possible
from dtpoly.schedule.refusal import refusals
from dtpoly.schedule.static_checks import check_arguments, check_schedule
from dtpoly.schedule.verdict import Verdict
from dtpoly.source import Source


@dataclass(frozen=True, slots=True)
class Checked:
    """A file as far as it could be understood, and everything that was found in it.

    There is a verdict if nothing else is wrong; a Program if its schedule is legal, too.
    `primitives` are those that its directives were looked up in.
    """

    file: File
    program: Program | None
    diagnostics: tuple[Diagnostic, ...]
    verdict: Verdict | None = None
    primitives: Primitives = DIRECTIVES

    def __repr__(self) -> str:
        verdict = "" if self.verdict is None else f", {self.verdict!r}"
        return f"<Checked {self.file.source.name}: {len(self.diagnostics)} diagnostics{verdict}>"


def check(source: Source, primitives: Primitives = DIRECTIVES) -> Checked:
    """Read, resolve and check a source, and prove its schedule or refuse it."""
    try:
        with within_default():
            checked = _checked(source, primitives)
    except OverBudgetError as error:
        unread = File(source, (), frozenset({source.name}))
        return Checked(unread, None, (over(error, source),), primitives=primitives)
    return replace(checked, diagnostics=limited(checked.diagnostics))


def _checked(source: Source, primitives: Primitives) -> Checked:
    with stage("reading the file"):
        parsed = parse(source)
    with stage("looking up what its names mean"):
        understood = understand(parsed.file, parsed.found, primitives)
    with stage("deciding whether its schedule is legal"):
        return prove(understood)


def understand(
    file: File, found: Iterable[Diagnostic] = (), primitives: Primitives = DIRECTIVES
) -> Checked:
    """Resolve and check a file that was read; whether its schedule is legal stays open.

    Directives that the primitives lack are looked for in installed packages. A file that leaves
    something to choose is no Program: `explore` makes one of each of its points.
    """
    named = named_algorithm(file)
    if named is not None:
        wrong = misplaced(file) or (is_a_space(file.source.name, named.span),)
        return Checked(file, None, (*found, *wrong), primitives=primitives)
    resolved = resolve(file)
    loaded = completed(resolved.program.directives, primitives)
    found = [*found, *resolved.found, *loaded.found]
    if resolved.is_open and not has_errors(found):
        found.append(is_a_space(file.source.name, resolved.first_opening))
    # Where Funcs are missing, what is in which kernel is not known.
    check_directives = check_arguments if has_errors(found) else check_schedule
    found.extend(check_directives(resolved.program, loaded.primitives))
    program = None if has_errors(found) else resolved.program
    return Checked(file, program, tuple(found), primitives=loaded.primitives)


def prove(checked: Checked) -> Checked:
    """Prove the schedule of a file in which nothing else is wrong, or refuse it."""
    program, primitives = checked.program, checked.primitives
    if program is None or not program.funcs:
        return checked
    nowhere = check_possible(program)
    if nowhere:
        return replace(checked, program=None, diagnostics=(*checked.diagnostics, *nowhere))
    try:
        with deep_recursion():
            verdict = judge(program, primitives)
            more = (*refusals(program, verdict, primitives), *costs(verdict, primitives))
    except DtpolyError as error:
        # A user's own primitive fails.
        verdict, more = None, error.diagnostics
    is_good = verdict is not None and verdict.is_legal
    found = (*checked.diagnostics, *more)
    return replace(
        checked, program=program if is_good else None, diagnostics=found, verdict=verdict
    )


def load(source: Source, primitives: Primitives = DIRECTIVES) -> Program:
    """Return the Program of a source. Raises DtpolyError with everything that is wrong."""
    checked = check(source, primitives)
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    return checked.program
