"""Explains what each directive of a Program does, and what comes of all of them together.

A directive is explained by comparing the schedule with the one without it, for directives have no
order.
"""

from collections.abc import Iterable
from dataclasses import replace

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_directive
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.poly.order import ViolationKind
from dtpoly.poly.separation import Separation
from dtpoly.schedule.applied_directives import resolve, resolve_without_each, with_results
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.changes import Change, Told, changes, told_of
from dtpoly.schedule.kept_dependences import Kept, Ways, concerned, kept, separated, ways
from dtpoly.schedule.masked_ranges import MaskedRange, masked_ranges
from dtpoly.schedule.panelled import Panelled, panelled
from dtpoly.schedule.parallelism import KernelSummary, summaries
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.recomputed import Recomputed, recomputed
from dtpoly.schedule.state import State
from dtpoly.schedule.verdict import Verdict
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Explained:
    """One directive: what it is for, what it changed, what it had to respect, what it costs.

    All of it is told against the schedule without it, for directives have no order. `recomputed`
    is None where it made no private copy. `needed` says what goes wrong without it: then there
    is nothing to tell it against.
    """

    directive: str
    span: Span | None
    meaning: str
    changes: tuple[Change, ...]
    kept: tuple[Kept, ...]
    recomputed: tuple[Recomputed, ...] | None
    needed: str = ""
    order: str = Primitive.order  # what it keeps, if no dependence is concerned
    panels: tuple[Panelled, ...] = ()  # in which the kernels of the schedule are computed

    def __repr__(self) -> str:
        return f"<Explained {self.directive}: {len(self.changes)} changes>"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanations of all directives in source order, and the kernels that come of them."""

    directives: tuple[Explained, ...] = ()
    kernels: tuple[KernelSummary, ...] = ()
    recomputed: tuple[Recomputed, ...] = ()
    panels: tuple[Panelled, ...] = ()
    ranges: tuple[MaskedRange, ...] = ()

    def __repr__(self) -> str:
        kernels = ", ".join(kernel.name for kernel in self.kernels)
        return f"<Explanation of {len(self.directives)} directives; kernels: {kernels}>"


@dataclass(frozen=True, slots=True)
class _Found:
    """The facts about a scheduled state, whichever directive made it so."""

    told: Told
    ways: Ways
    separations: tuple[Separation, ...] = ()
    kept: tuple[Kept, ...] = ()
    recomputed: tuple[Recomputed, ...] = ()


def explain(program: Program, verdict: Verdict, primitives: Primitives) -> Explanation:
    """Explain a Program whose directives have passed the static checks."""
    chosen = bind(program.directives, primitives).primitives
    found = _found(verdict)
    texts = [show_directive(directive) for directive in program.directives]
    told: list[Explained] = []
    without = resolve_without_each(program, chosen)
    for text, one, before in zip(texts, chosen, without, strict=True):
        if isinstance(before, DtpolyError):  # of a user's primitive that builds on this one
            why = before.diagnostics[0].title
            told.append(Explained(text, one.span, meaning(type(one)), (), (), None, why))
        else:
            told.append(_explained(text, one, before, found))
    kernels = summaries(found.told.state, found.separations)
    panels = tuple(panelled(found.told.state))
    ranges = masked_ranges(with_results(program, chosen))
    return Explanation(tuple(told), kernels, found.recomputed, panels, ranges)


def explain_added(
    program: Program,
    verdict: Verdict,
    before: Iterable[Primitive],
    primitives: Primitives,
) -> Explained:
    """Explain only the last directive, against the schedule that was there before it."""
    last = bind(program.directives[-1:], primitives).primitives[0]
    text = show_directive(program.directives[-1])
    return _explained(text, last, resolve(program, before), _found(verdict))


def _found(verdict: Verdict) -> _Found:
    """Collect what there is to say of a verdict's schedule.

    Where statements are lost, that is only the tree: a statement that is nowhere has no distance to
    others.
    """
    state = verdict.scheduled
    found = _Found(told_of(state), ways(state))
    if any(one.kind is ViolationKind.LOST for one in verdict.violations):
        return found
    apart = separated(state)
    respected = kept(state, apart, verdict.violations)
    return replace(found, separations=apart, kept=respected, recomputed=tuple(recomputed(state)))


def _explained(text: str, one: Primitive, before: State, found: _Found) -> Explained:
    copies = {(fusion.func, fusion.kernel) for fusion in before.fusions}
    makes_copy = any((f.func, f.kernel) not in copies for f in found.told.state.fusions)
    already = set(recomputed(before))
    new = tuple(again for again in found.recomputed if again not in already)
    return Explained(
        text,
        one.span,
        meaning(type(one)),
        changes(told_of(before), found.told, one.func),
        tuple(concerned(ways(before), found.ways, found.kept)),
        new if new or makes_copy else None,
        order=one.order,
        panels=tuple(panelled(found.told.state)),
    )


def meaning(primitive: type[Primitive]) -> str:
    """Give the first line of a primitive's docstring.

    It is empty for a dataclass that has no docstring of its own, and so has a made-up one.
    """
    # A user's class may have anything there.
    text: object = primitive.__doc__
    if not isinstance(text, str):
        return ""
    first = text.strip().partition("\n")[0]
    return "" if first.startswith(f"{primitive.__name__}(") else first
