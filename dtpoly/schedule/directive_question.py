"""Answers whether one more directive may be added to a Program, and what it would change."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dtpoly.algorithm.program import Directive, Program
from dtpoly.diagnostics import Diagnostic
from dtpoly.frozen import dataclass
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.directive_variants import ask, is_good, replaced, with_directive
from dtpoly.schedule.explained_directives import Explained, explain_added
from dtpoly.schedule.primitive import Count, Primitive
from dtpoly.schedule.refusal import refusals
from dtpoly.schedule.settings import settings
from dtpoly.schedule.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Replaced:
    """A directive of the Program that gives way to the new one, and what is left of it."""

    old: Directive
    left: Directive | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer whether a directive may be added to a Program: why not, or what comes of it.

    `is_there` if the Program says the same already. `explained` is there if it is legal.
    """

    program: Program
    is_there: bool
    replaced: tuple[Replaced, ...]
    diagnostics: tuple[Diagnostic, ...]
    explained: Explained | None

    @property
    def is_legal(self) -> bool:
        """True if nothing speaks against it."""
        return self.explained is not None


def may_add(program: Program, directive: Directive, primitives: Primitives) -> Answer:
    """Add a directive in the place of those that speak of the same, and judge what comes of it."""
    new = bind((directive,), primitives).primitives
    known = bind(program.directives, primitives).primitives
    gone: tuple[Replaced, ...] = ()
    is_there = False
    if new:
        is_there = _is_said(new[0], known)
        gone = tuple(in_the_way(program, new[0], primitives))
    for one in gone:
        program = replaced(program, one.old, one.left)
    asked = ask(with_directive(program, directive), primitives)
    answer = Answer(asked.program, is_there, gone, asked.diagnostics, None)
    if asked.verdict is None:
        return answer
    if asked.verdict.is_legal:
        explained = explain_added(asked.program, asked.verdict, known, primitives)
        return replace(answer, explained=explained)
    verdict = asked.verdict
    if is_good(program, primitives):
        verdict = _blaming(verdict, new[0])
    found = refusals(asked.program, verdict, primitives)
    return replace(answer, diagnostics=(*asked.diagnostics, *found))


def _blaming(verdict: Verdict, new: Primitive) -> Verdict:
    """Let the verdict blame the directive in question: without it nothing is wrong."""
    if verdict.blame is None:
        return replace(verdict, blame=new)
    together = (verdict.blame, *verdict.accomplices)
    others = tuple(one for one in together if one != new)
    return replace(verdict, blame=new, accomplices=others if len(others) < len(together) else ())


def _is_said(new: Primitive, known: tuple[Primitive, ...]) -> bool:
    said = {setting.key: setting.value for one in known for setting in settings(one)}
    return all(said.get(setting.key) == setting.value for setting in settings(new))


def in_the_way(program: Program, new: Primitive, primitives: Primitives) -> Iterator[Replaced]:
    """Directives that speak of the same as the new one, each with what is left of it."""
    keys = {setting.key for setting in settings(new)}
    for directive in program.directives:
        for old in bind((directive,), primitives).primitives:
            mine = settings(old)
            left = [at for at, setting in enumerate(mine) if setting.key not in keys]
            if len(left) < len(mine):
                yield Replaced(directive, _part(old, left).directive() if left else None)


def _part(primitive: Primitive, kept: list[int]) -> Primitive:
    """Return the directive with some of its arguments, each of which is a setting of its own."""
    name = next(p.name for p in primitive.parameters if p.count is Count.EACH)
    items: tuple[Any, ...] = getattr(primitive, name)
    changed: dict[str, Any] = {name: tuple(items[at] for at in kept)}
    return replace(primitive, **changed)
