"""Separates what a source computes from what its author says of the schedule."""

from collections.abc import Sequence
from dataclasses import replace

from dtpoly.algorithm.program import Argument, Directive, Program
from dtpoly.checking import understand
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.directives.built_in import COMPILING, INVARIANT
from dtpoly.frontend.parse import parse
from dtpoly.frontend.syntax import AlternativesSyntax, ConstraintSyntax, DirectiveCall
from dtpoly.frozen import dataclass
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.facts import InvariantRow, Rounded
from dtpoly.source import Source


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A Program whose directives are those that say what is asked for.

    `left` is how many others the file has, which say how it is computed now.
    """

    program: Program
    precision: str
    left: int

    @property
    def compiled(self) -> tuple[Directive, ...]:
        """Return the directives that ask for Funcs; none where the file asks for none."""
        return tuple(d for d in self.program.directives if d.name in COMPILING)


def algorithm_of(source: Source, primitives: Primitives) -> Algorithm:
    """Read a source without its schedule. Raises DtpolyError for what is wrong with the rest."""
    parsed = parse(source)
    open_ones = (AlternativesSyntax, ConstraintSyntax)
    schedule = [s for s in parsed.file.statements if isinstance(s, (DirectiveCall, *open_ones))]
    of_result = {x for one in primitives if one.is_of_result for x in (one.name, *one.aliases)}
    kept = [s for s in schedule if isinstance(s, DirectiveCall) and s.name.text in of_result]
    rest = tuple(s for s in parsed.file.statements if s not in schedule or s in kept)
    checked = understand(replace(parsed.file, statements=rest), parsed.found, primitives)
    if checked.program is None or has_errors(checked.diagnostics):
        raise DtpolyError(checked.diagnostics)
    program = checked.program
    bound = bind(program.directives, primitives).primitives
    facts = (fact for one in bound for fact in one.facts())
    modes = [fact.mode for fact in facts if isinstance(fact, Rounded)]
    return Algorithm(program, modes[0] if modes else "", len(schedule) - len(kept))


def asking(algorithm: Algorithm, primitives: Primitives) -> tuple[Directive, ...]:
    """Return the directives by which a file asks that rows have the same bits in each batch."""
    bound = bind(algorithm.program.directives, primitives).primitives
    rows = {(x.func, x.label) for one in bound for x in one.facts() if isinstance(x, InvariantRow)}
    funcs: dict[str, list[str]] = {}
    for func, label in sorted(rows):
        funcs.setdefault(func, []).append(label)
    return tuple(asked_for(func, labels) for func, labels in funcs.items())


def asked_for(func: str, labels: Sequence[str]) -> Directive:
    """Return the directive that asks for rows along labels with the same bits in each batch."""
    return Directive(func, INVARIANT, tuple(Argument(one) for one in labels))


def bare(algorithm: Algorithm) -> Program:
    """Return the Program with nothing but what is asked for.

    Where nothing is, that is its last Func, all that is written in place, and all sums at places.
    """
    program = algorithm.program
    last = program.funcs[-1].name
    others = (*program.into.values(), *program.starts.values())
    results = tuple(Argument(one) for one in others if one != last)
    compiled = algorithm.compiled or (Directive(last, COMPILING[0], results),)
    return replace(program, directives=compiled)
