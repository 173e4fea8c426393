"""Makes and judges Programs in which something else stands in place of one directive.

`ways_out` looks among them for what would be legal.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations, product
from typing import Any

from dtpoly.algorithm.program import Directive, Program
from dtpoly.diagnostics import Diagnostic, DtpolyError, has_errors
from dtpoly.frozen import dataclass
from dtpoly.poly.dependences import dependences
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.argument_kinds import FuncName, IntegerKind, OneOf
from dtpoly.schedule.argument_values import Divided, Name, Sized
from dtpoly.schedule.bound_primitives import Primitives, bind, saying
from dtpoly.schedule.facts import Fused
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import LabelKind, SizedLabel
from dtpoly.schedule.legality import found, judge
from dtpoly.schedule.primitive import Count, Parameter, Primitive
from dtpoly.schedule.static_checks import check_schedule, view_of
from dtpoly.schedule.verdict import Verdict
from dtpoly.source import Span

# How many variants of one directive are tried at most.
MOST = 40

# Pairs of a directive that stood in a Program and what stands there instead, if anything.
Changes = tuple[tuple[Directive, Directive | None], ...]

Place = tuple[str, str]  # a consumer, and the label of one of its loops


@dataclass(frozen=True, slots=True)
class Variant:
    """A Program in which one directive is another one, or is left out.

    `changes` counts the parameters that differ; `only` names it if it is one.
    """

    program: Program
    new: Directive | None
    changes: int = 1
    only: Parameter | None = None


@dataclass(frozen=True, slots=True)
class JudgedSchedule:
    """The mistakes in a schedule as it stands and, unless one is an error, its verdict."""

    program: Program
    diagnostics: tuple[Diagnostic, ...]
    verdict: Verdict | None

    @property
    def is_good(self) -> bool:
        """True if nothing speaks against it."""
        return self.verdict is not None and self.verdict.is_legal


def ask(program: Program, primitives: Primitives) -> JudgedSchedule:
    """Check a schedule and, if there is no error, judge it."""
    diagnostics = tuple(check_schedule(program, primitives))
    verdict = None if has_errors(diagnostics) else judge(program, primitives)
    return JudgedSchedule(program, diagnostics, verdict)


def is_good(program: Program, primitives: Primitives) -> bool:
    """Return whether a schedule passes the static checks and is legal for all sizes.

    It asks less than `ask`, so it is faster where the answer is no.
    """
    if has_errors(check_schedule(program, primitives)):
        return False
    try:
        state = resolve(program, bind(program.directives, primitives).primitives)
    except DtpolyError:
        return False  # a user's own primitive fails
    return next(found(state, dependences(state.model)), None) is None


def with_directive(program: Program, directive: Directive) -> Program:
    """Return the Program with one more directive, the last one."""
    return replace(program, directives=(*program.directives, directive))


def replaced(program: Program, old: Directive, new: Directive | None) -> Program:
    """Return the Program with a directive replaced, or removed; repetitions go as well."""
    directives: list[Directive] = []
    is_done = new is None
    for directive in program.directives:
        if directive != old:
            directives.append(directive)
        elif not is_done and new is not None:
            directives.append(new)
            is_done = True
    return replace(program, directives=tuple(directives))


def without(
    program: Program, directive: Directive, primitives: Primitives
) -> tuple[Program, Changes] | None:
    """Return the Program without a directive, and without what would then be an error.

    A tile of a fused Func goes with the fusion. None where the error is not in a directive.
    """
    now: dict[Directive, Directive | None] = {directive: None}
    left = replaced(program, directive, None)
    for _ in program.directives:
        wrong = next((d for d in check_schedule(left, primitives) if has_errors((d,))), None)
        if wrong is None:
            return left, tuple(now.items())
        found = [(old, now.get(old, old)) for old in program.directives]
        old, one = next(
            ((old, one) for old, one in found if one and _is_in(wrong.span, one.span)),
            (None, None),
        )
        if old is None or one is None:
            return None
        kept = tuple(a for a in one.arguments if not _is_in(wrong.span, a.span))
        is_part = kept and len(kept) < len(one.arguments)
        now[old] = replace(one, arguments=kept) if is_part else None
        left = replaced(left, one, now[old])
    return None


def _is_in(inner: Span | None, outer: Span | None) -> bool:
    if inner is None or outer is None or inner.source != outer.source:
        return False
    return outer.start <= inner.start and inner.end <= outer.end


def as_written(program: Program, primitive: Primitive, primitives: Primitives) -> Directive:
    """Find the directive of a Program that stands for a primitive, under whatever name.

    Of several that say the same, it is the one at the primitive's own place.
    """
    same = [d for d in program.directives if bind((d,), primitives).primitives == (primitive,)]
    here = (d for d in same if d.span == primitive.span)
    return next(here, same[0] if same else primitive.directive())


def neighbours(program: Program, primitive: Primitive, primitives: Primitives) -> Iterator[Variant]:
    """Yield what could stand in place of a directive and passes the static checks.

    A label may be another one, a list in another order, an item left out, a Func inlined instead of
    fused. The last variant has nothing in place of the directive. Whether a variant is legal is not
    known yet.
    """
    old = as_written(program, primitive, primitives)
    view = view_of(program, bind(program.directives, primitives))
    for new in islice(_others(primitive, view, primitives), MOST):
        directive = new.directive()
        variant = replaced(program, old, directive)
        if not has_errors(check_schedule(variant, primitives)):
            differing = _differing(primitive, new)
            only = differing[0] if len(differing) == 1 else None
            yield Variant(variant, directive, max(len(differing), 1), only)
    yield Variant(replaced(program, old, None), None)


def legal_neighbours(
    program: Program, primitive: Primitive, primitives: Primitives
) -> Iterator[Variant]:
    """Return the neighbours that are legal."""
    return (v for v in neighbours(program, primitive, primitives) if is_good(v.program, primitives))


def moved_together(
    program: Program, primitive: Primitive, primitives: Primitives
) -> Iterator[tuple[Program, Changes]]:
    """Move all that is fused where a Func is to another loop of that consumer.

    Yields Programs that pass the static checks, and what stands for what in them. It yields none
    for a directive that fuses nothing.
    """
    place = place_of(primitive)
    if place is None:
        return
    bound = bind(program.directives, primitives)
    mine = [p for p in bound.primitives if place_of(p) == place]
    for label in _labels(primitive, view_of(program, bound)):
        if label == place[1] or len(mine) < 2:
            continue
        changes = tuple(
            (
                as_written(program, one, primitives),
                one.moved(label).directive(),
            )
            for one in mine
        )
        variant = program
        for old, new in changes:
            variant = replaced(variant, old, new)
        if not has_errors(check_schedule(variant, primitives)):
            yield variant, changes


def place_of(primitive: Primitive) -> Place | None:
    """Return the consumer in which a directive fuses a Func, and the label of the loop there."""
    fused = (fact for fact in primitive.facts() if isinstance(fact, Fused))
    return next(((fact.consumer, fact.label) for fact in fused), None)


def _others(primitive: Primitive, view: View, primitives: Primitives) -> Iterator[Primitive]:
    """Yield the primitive with other arguments, fewer changes first; then other primitives."""
    labels = _labels(primitive, view)
    choices = [
        [getattr(primitive, p.name), *_choices(p, getattr(primitive, p.name), labels, view)]
        for p in primitive.parameters
    ]
    names = [parameter.name for parameter in primitive.parameters]
    made = (replace(primitive, **dict(zip(names, v, strict=True))) for v in product(*choices))
    others = [(len(_differing(primitive, new)), new) for new in made if new != primitive]
    for _, new in sorted(others, key=lambda one: one[0]):
        yield new
    for fact in primitive.instead():
        yield from saying(fact, primitives)


def _differing(one: Primitive, two: Primitive) -> list[Parameter]:
    """Return the parameters in which two primitives differ; none if they are not of one kind."""
    if type(one) is not type(two):
        return []
    return [p for p in one.parameters if getattr(one, p.name) != getattr(two, p.name)]


def _labels(primitive: Primitive, view: View) -> tuple[str, ...]:
    """List all labels, first those of the loops that the directive may mean, outermost first."""
    funcs = [primitive.func]
    for parameter in primitive.parameters:
        if isinstance(parameter.kind, FuncName) and parameter.count is Count.ONCE:
            funcs.insert(0, getattr(primitive, parameter.name).text)
    meant = (label for func in funcs if func in view.funcs for label in view.loops(func))
    return tuple(dict.fromkeys((*meant, *(label.name for label in view.program.labels))))


def _choices(
    parameter: Parameter, value: Any, labels: tuple[str, ...], view: View
) -> Iterator[Any]:
    """Other values for a parameter."""
    match parameter.count:
        case Count.ONCE if isinstance(parameter.kind, LabelKind):
            yield from (Name(label, value.span) for label in labels if label != value.text)
        case Count.ONCE if isinstance(parameter.kind, FuncName):
            yield from (Name(name, value.span) for name in view.funcs if name != value.text)
        case Count.ONCE if isinstance(parameter.kind, IntegerKind):
            # The one number that asks for nothing.
            yield from (least for least in (parameter.kind.least,) if value != least)
        case Count.ONCE:
            pass
        case Count.IF_GIVEN:
            yield not value
        case Count.MAYBE:
            yield from (None for _ in range(value is not None))
        case Count.LIST:
            yield from (order for order in permutations(value) if order != value)
        case Count.EACH:
            yield from _changed(parameter, value)


def _changed(
    parameter: Parameter, items: tuple[Name | Sized | Divided, ...]
) -> Iterator[tuple[Name | Sized | Divided, ...]]:
    """Yield the items without one of them, or with a size of 0 where the kind allows it."""
    if len(items) > parameter.least:
        yield from (items[:at] + items[at + 1 :] for at in range(len(items)))
    kinds = parameter.kind.kinds if isinstance(parameter.kind, OneOf) else (parameter.kind,)
    if not any(isinstance(kind, SizedLabel) and kind.number.least == 0 for kind in kinds):
        return
    for at, item in enumerate(items):
        if isinstance(item, Sized) and item.size:
            yield (*items[:at], replace(item, size=0), *items[at + 1 :])
