"""Tells a refused schedule as diagnostics: what is wrong, who is to blame, and the ways out."""

from collections.abc import Sequence

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.poly.dependences import DependenceKind
from dtpoly.poly.order import ViolationKind
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.directive_variants import as_written, without
from dtpoly.schedule.legality import judge
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.verdict import Verdict
from dtpoly.schedule.violation_notes import evidence, title_of
from dtpoly.schedule.ways_out import WaysOut, ways_out

CODES = {
    ViolationKind.CROSSES: "DT200",
    ViolationKind.LATE: "DT201",
    ViolationKind.RACE: "DT202",
    ViolationKind.RECOMPUTES: "DT203",
    ViolationKind.LOST: "DT204",
    ViolationKind.UNWRITTEN: "DT206",
    ViolationKind.AHEAD: "DT207",
}
# How many mistakes of one schedule are told at most.
MOST = 3


def refusals(program: Program, verdict: Verdict, primitives: Primitives) -> tuple[Diagnostic, ...]:
    """Make an error for each directive that is to blame; none if the verdict is legal.

    The first error is that of the verdict. The others are those of the verdicts without the
    directives before them. The ways out of a mistake are those of a schedule without the other
    mistakes.
    """
    mistakes = _mistakes(program, verdict, primitives)
    found: list[Diagnostic] = []
    for mistake in mistakes:
        if mistake.blame is None:
            way = WaysOut(_without_blame(mistake))
        else:
            others = [other.blame for other in mistakes if other is not mistake and other.blame]
            alone = _without(program, others, primitives)
            way = ways_out(alone, mistake.blame, mistake.accomplices, primitives)
        found.append(_diagnostic(mistake, way))
    return tuple(found)


def _without_blame(verdict: Verdict) -> str:
    """Give the way out of what no directive is to blame for."""
    dependence = verdict.violations[0].dependence
    if dependence.kind is not DependenceKind.IN_PLACE:
        return "leave out directives until it is legal"
    return (
        f"let a Func of its own read '{dependence.array}', so that a kernel before reads it; "
        f"or leave out 'into {dependence.array}'"
    )


def _mistakes(program: Program, verdict: Verdict, primitives: Primitives) -> tuple[Verdict, ...]:
    """Judge what is left after each directive that is to blame is left out, one after another."""
    found: list[Verdict] = []
    while not verdict.is_legal and len(found) < MOST:
        found.append(verdict)
        if verdict.blame is None:
            break
        left = _without(program, (verdict.blame,), primitives)
        if left is program:
            break
        try:
            program, verdict = left, judge(left, primitives)
        except DtpolyError:
            break  # what is left cannot be judged
    return tuple(found)


def _without(program: Program, gone: Sequence[Primitive], primitives: Primitives) -> Program:
    """Return the Program without some directives, but for those that cannot be left out."""
    for primitive in gone:
        left = without(program, as_written(program, primitive, primitives), primitives)
        if left is not None:
            program, _ = left
    return program


def _diagnostic(verdict: Verdict, way: WaysOut) -> Diagnostic:
    """Report the first violation at the directive to blame, or else where it is computed."""
    state, violation = verdict.scheduled, verdict.violations[0]
    func = state.program.func(violation.target)
    return Diagnostic(
        CODES[violation.kind],
        Severity.ERROR,
        title_of(state, violation),
        verdict.blame.span if verdict.blame else func.span,
        str(violation.kind),
        (
            *(Note("only together with this", other.span) for other in verdict.accomplices),
            *evidence(state, violation),
        ),
        way.hint,
        way.edits,
    )
