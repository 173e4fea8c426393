"""Offers `online` where a fusion is refused whose author wants reductions to share a loop.

`top.fuse_at(out, l)`, where `out` and `top` both reduce over l, cannot be legal: each iteration
would need all of `top`. Whether `top.online(out, l)` is possible, only the code shows.
"""

from collections.abc import Sequence
from dataclasses import replace

from dtpoly.algorithm.program import Program, reduced_labels
from dtpoly.algorithm.show import show_directive
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.generate import code_of
from dtpoly.schedule.bound_primitives import Primitives, bind, saying
from dtpoly.schedule.directive_variants import Changes, Place, as_written, place_of, replaced
from dtpoly.schedule.facts import Fused, ReducedAlong
from dtpoly.schedule.legality import judge
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.ways_out import edits_of

REFUSED = ("DT201", "DT203")  # what reads a Func too early, or computes it again


@dataclass(frozen=True, slots=True)
class _RefusedFusions:
    """A program that is refused, and those of its directives that fuse a Func and do no more."""

    program: Program
    primitives: Primitives
    fused: tuple[Primitive, ...]


def with_one_pass(
    found: Sequence[Diagnostic], program: Program, primitives: Primitives
) -> tuple[Diagnostic, ...]:
    """Return what was found, with the way of one pass where that is legal and has code."""
    if not any(one.code in REFUSED for one in found):
        return tuple(found)
    every = bind(program.directives, primitives).primitives
    fused = tuple(one for one in every if {type(fact) for fact in one.facts()} == {Fused})
    asked = _RefusedFusions(program, primitives, fused)
    known = dict[Place, Changes]()
    told: list[Diagnostic] = []
    for one in found:
        blamed = (x for x in fused if x.span == one.span) if one.code in REFUSED else iter(())
        place = next(map(place_of, blamed), None)
        if place is not None and place not in known:
            known[place] = _judged(asked, _changes(asked, place))
        changes = known[place] if place is not None else ()
        told.append(_offering(one, program, changes) if changes else one)
    return tuple(told)


def _offering(one: Diagnostic, program: Program, changes: Changes) -> Diagnostic:
    said = " and ".join(show_directive(new).rstrip(";") for _, new in changes if new)
    edits = tuple(edit for pair in changes for edit in edits_of(program, *pair))
    hint = f"legal, in one pass: {said}"
    return replace(one, hint=f"{hint}; {one.hint}" if one.hint else hint, edits=edits)


def _changes(asked: _RefusedFusions, place: Place) -> Changes:
    """Return `online` in place of each fusion there of a Func that reduces over the label."""
    consumer, label = place
    found: Changes = ()
    for one in asked.fused:
        if place_of(one) == place and label in reduced_labels(asked.program.func(one.func)):
            fact = ReducedAlong(one.func, consumer, label)
            new = next((other.directive() for other in saying(fact, asked.primitives)), None)
            if new is None:
                return ()
            found = (*found, (as_written(asked.program, one, asked.primitives), new))
    return found


def _judged(asked: _RefusedFusions, changes: Changes) -> Changes:
    """Return the changes if the program with them is legal and has code."""
    if not changes:
        return ()
    variant = asked.program
    for old, new in changes:
        variant = replaced(variant, old, new)
    try:
        verdict = judge(variant, asked.primitives)
        is_good = verdict.is_legal and bool(code_of(verdict.scheduled).text)
    except DtpolyError:
        return ()
    return changes if is_good else ()
