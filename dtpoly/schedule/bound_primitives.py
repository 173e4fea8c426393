"""Binds directives to primitives.

Binding reads the arguments of a directive by the kinds that its primitive declares, and reports
what is wrong with them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any

from dtpoly.algorithm.program import Argument, Directive
from dtpoly.diagnostics import Diagnostic, DtpolyError, Edit, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_kinds import Refusal
from dtpoly.schedule.facts import Fact
from dtpoly.schedule.foreign import at_work
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, signatures
from dtpoly.source import Span
from dtpoly.suggest import near

Primitives = tuple[type[Primitive], ...]


@dataclass(frozen=True, slots=True)
class BoundDirectives:
    """The primitives that directives stand for, and what is wrong with the other directives.

    `wrong` names the wrong directives, as pairs of the Func and the primitive that is most likely
    meant.
    """

    primitives: tuple[Primitive, ...]
    found: tuple[Diagnostic, ...] = ()
    wrong: Set[tuple[str, str]] = frozenset()


def bind(directives: Iterable[Directive], primitives: Primitives) -> BoundDirectives:
    """Give each directive its primitive and its arguments their types."""
    known = {word: cls for cls in primitives for word in (cls.name, *cls.aliases)}
    elsewhere = {word: cls.name for cls in primitives for word in cls.elsewhere}
    bound: list[Primitive] = []
    found: list[Diagnostic] = []
    wrong: set[tuple[str, str]] = set()
    for directive in directives:
        cls = known.get(directive.name)
        if cls is None:
            other = elsewhere.get(directive.name)
            meant = near(directive.name, known) or other
            found.append(_unknown(directive, meant, known, is_near=meant not in (None, other)))
            wrong.add((directive.func, known[meant].name if meant in known else directive.name))
            continue
        one = _primitive(directive, cls)
        if isinstance(one, tuple):
            found.extend(one)
            wrong.add((directive.func, cls.name))
        else:
            bound.append(one)
    return BoundDirectives(tuple(bound), tuple(found), wrong)


def compiling(primitives: Primitives) -> tuple[str, ...]:
    """Return the names of the directive that asks for a function, the usual one first."""
    asking = (cls for cls in primitives if cls.stage is Stage.COMPILE)
    return tuple(word for cls in asking for word in (cls.name, *cls.aliases))


def saying(fact: Fact, primitives: Primitives) -> Iterator[Primitive]:
    """Yield the directives that state a fact."""
    for cls in primitives:
        one = cls.saying(fact)
        if one is not None:
            yield one


def _primitive(directive: Directive, cls: type[Primitive]) -> Primitive | tuple[Diagnostic, ...]:
    try:
        with at_work(cls, directive.span):
            read = read_arguments(directive, cls)
            if isinstance(read, tuple):
                return read
            primitive = cls(func=directive.func, span=directive.span, **read)
            # A user's code may fail when this is hashed or copied: then it fails here, not later.
            _ = {primitive, replace(primitive)}
            for fact in primitive.facts():
                _check_fact(fact)
            return primitive
    except DtpolyError as error:
        return error.diagnostics


def _check_fact(one: object) -> None:
    if not isinstance(one, Fact):
        raise TypeError(f"facts yields {one!r}; let it yield NewName(...)")


def read_arguments(
    directive: Directive, cls: type[Primitive]
) -> dict[str, Any] | tuple[Diagnostic, ...]:
    """Return a primitive's fields as a directive gives them, or all that is wrong in them."""
    parameters, arguments = cls.parameters, directive.arguments
    wrong_count = _check_count(directive, cls)
    if wrong_count is not None:
        return (wrong_count,)
    fields: dict[str, Any] = {}
    found: list[Diagnostic] = []
    for at, parameter in enumerate(parameters):
        mine = arguments[at:] if parameter.takes_all else arguments[at : at + 1]
        values: list[object] = []
        for number, argument in enumerate(mine, at + 1):
            value = parameter.kind.read(argument)
            if isinstance(value, Refusal):
                found.append(_refused(directive, cls, parameter, number, argument, value))
            values.append(value)
        match parameter.count:
            case Count.ONCE:
                fields[parameter.name] = values[0]
            case Count.IF_GIVEN:
                fields[parameter.name] = bool(values)
            case Count.MAYBE:
                fields[parameter.name] = values[0] if values else None
            case Count.EACH | Count.LIST:
                fields[parameter.name] = tuple(values)
    return tuple(found) if found else fields


def _check_count(directive: Directive, cls: type[Primitive]) -> Diagnostic | None:
    least = most = 0
    for parameter in cls.parameters:
        if parameter.takes_all:
            least, most = least + parameter.least, len(directive.arguments)
        else:
            most += 1
            least += parameter.count is Count.ONCE
    given = len(directive.arguments)
    if least <= given <= max(least, most):
        return None
    if given < least:
        expected, span = f"at least {least}" if most != least else f"{least}", directive.span
        label = f"has {given}" if given else "has none"
    else:
        expected = f"at most {most}" if most != least else str(most) if most else "no"
        first, last = directive.arguments[most].span, directive.arguments[-1].span
        span = first.to(last) if first and last else directive.span
        label = "one too many" if given == most + 1 else f"{given - most} too many"
    plural = "" if expected.endswith(" 1") or expected == "1" else "s"
    return Diagnostic(
        "DT181",
        Severity.ERROR,
        f"'{directive.name}' takes {expected} argument{plural}, not {given}",
        span,
        label,
        hint=_signature_hint(directive, cls),
    )


def _refused(
    directive: Directive,
    cls: type[Primitive],
    parameter: Parameter,
    number: int,
    argument: Argument,
    refusal: Refusal,
) -> Diagnostic:
    must_be = refusal.must_be or parameter.kind.what
    signature = _signature_hint(directive, cls)
    return Diagnostic(
        refusal.code,
        Severity.ERROR,
        f"{refusal.part}argument {number} of '{directive.name}' must be {must_be}",
        argument.span or directive.span,
        refusal.label,
        hint=refusal.hint or signature,
        edits=refusal.edits,
    )


def _signature_hint(directive: Directive, cls: type[Primitive]) -> str:
    return f"write {'  or  '.join(signatures(cls, directive.func))}"


def _unknown(
    directive: Directive,
    meant: str | None,
    known: Mapping[str, type[Primitive]],
    *,
    is_near: bool,
) -> Diagnostic:
    span = name_span(directive)
    if is_near:
        hint = f"did you mean {meant}?"
    elif meant is not None and meant in known:
        hint = f"here it is {'  or  '.join(signatures(known[meant], directive.func))}"
    else:
        hint = f"the directives are {', '.join(sorted(known))}"
    return Diagnostic(
        "DT180",
        Severity.ERROR,
        f"unknown directive '{directive.name}'",
        span,
        "no such directive",
        hint=hint,
        edits=(Edit(span, meant),) if span and meant and is_near else (),
    )


_GAP = r"\s*(?:#[^\n]*\n\s*)*"
_DOTTED = re.compile(rf"\w+{_GAP}\.{_GAP}(\w+)")


def name_span(directive: Directive) -> Span | None:
    """Find where the name of a directive stands in it."""
    span = directive.span
    found = _DOTTED.match(span.text) if span else None
    if span is None or found is None:
        return span
    return Span(span.source, span.start + found.start(1), span.start + found.end(1))
