"""Defines a space of schedules: a program without its directives, and the choices for these."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property
from typing import TypeVar, assert_never

from dtpoly.algorithm.choices import (
    Alternatives,
    Choice,
    Constraint,
    Item,
    OpenArgument,
    OpenDirective,
    Openings,
)
from dtpoly.algorithm.program import Argument, Directive, Program, Split
from dtpoly.frozen import dataclass

T = TypeVar("T")
Value = int | str

OPTION = "option"


@dataclass(frozen=True, slots=True)
class SpaceParameter:
    """One thing to choose: an option of an argument, or one of several alternatives.

    `key` and `part` name it: `block` and `y`, or `map` and "". No two parameters of a space have
    the same names. Alternatives are numbered from 1.
    """

    key: str
    part: str
    options: tuple[Value, ...]
    is_alternatives: bool = False

    def __str__(self) -> str:
        return f"{self.key}.{self.part}" if self.part else self.key


@dataclass(frozen=True, slots=True)
class Point:
    """The number of the chosen option for each parameter of a space, from 0.

    It is None for a parameter of an alternative that is not chosen.
    """

    chosen: tuple[int | None, ...]


@dataclass(frozen=True)
class Space:
    """The schedules that the items allow and that keep the constraints.

    The Program has no directives. Directives without choices are among the items.
    """

    program: Program
    items: tuple[Item, ...]
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def parameters(self) -> tuple[SpaceParameter, ...]:
        """Return all parameters, in the order of the text.

        Those inside alternatives come after these.
        """
        return tuple(_named(list(_openings(self.items)), _funcs_of(self.items)))

    def without_constraints(self) -> "Space":
        """Return the space of everything that the items allow."""
        return replace(self, constraints=())


def space_of(program: Program, openings: Openings) -> Space:
    """Return the space of a Program and of the choices that its file leaves open."""
    return Space(replace(program, directives=()), openings.items, openings.constraints)


def program_of(space: Space, point: Point) -> Program:
    """Return the ordinary Program of a point."""
    left = iter(point.chosen)
    return replace(space.program, directives=tuple(_directives(space.items, left)))


def each_directive(space: Space, do: Callable[[Directive], T]) -> Callable[[Point], list[T]]:
    """Return a function that maps `do` over a point's directives; shared ones are done once."""
    ends = [count_parameters(space.items[: at + 1]) for at in range(len(space.items))]
    parts = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]

    @cache
    def done(at: int, chosen: tuple[int | None, ...]) -> list[T]:
        return [do(one) for one in _directives((space.items[at],), iter(chosen))]

    def of(point: Point) -> list[T]:
        return [one for at, part in enumerate(parts) for one in done(at, point.chosen[part])]

    return of


def present(space: Space, point: Point) -> frozenset[int]:
    """Return the parameters that a point must choose: those of its chosen alternatives count."""
    return frozenset(_present(space.items, 0, point.chosen))


def _present(
    items: tuple[Item, ...], parameter: int, chosen: tuple[int | None, ...]
) -> Iterator[int]:
    for item in items:
        end = parameter + count_parameters((item,))
        if isinstance(item, OpenDirective):
            yield from range(parameter, end)
        else:
            yield parameter
            inside = parameter + 1
            for at, option in enumerate(item.options):
                if at == chosen[parameter]:
                    yield from _present(option, inside, chosen)
                inside += count_parameters(option)
        parameter = end


def parents(space: Space) -> tuple[tuple[int, int] | None, ...]:
    """Return for each parameter the alternatives that have it, and the option among these."""
    return tuple(_parents(space.items, 0, None))


def _parents(
    items: tuple[Item, ...], parameter: int, parent: tuple[int, int] | None
) -> Iterator[tuple[int, int] | None]:
    for item in items:
        end = parameter + count_parameters((item,))
        if isinstance(item, OpenDirective):
            yield from [parent] * (end - parameter)
        else:
            yield parent
            inside = parameter + 1
            for at, option in enumerate(item.options):
                yield from _parents(option, inside, (parameter, at))
                inside += count_parameters(option)
        parameter = end


def choices_in(directive: OpenDirective) -> Iterator[tuple[OpenArgument, Choice]]:
    """Yield the arguments of a directive that have a choice."""
    for argument in directive.arguments:
        choice = argument.choice
        if choice is not None:
            yield argument, choice


def count_parameters(items: tuple[Item, ...]) -> int:
    """Return how many parameters items have, with those of all alternatives."""
    return sum(1 for _ in _openings(items))


def _directives(items: tuple[Item, ...], left: Iterator[int | None]) -> Iterator[Directive]:
    """Yield the directives of a point; `left` are the choices for these items and later ones."""
    for item in items:
        match item:
            case OpenDirective(func=func, name=name, arguments=arguments, span=span):
                closed = tuple(_closed(argument, left) for argument in arguments)
                yield Directive(func, name, closed, span)
            case Alternatives(options=options):
                taken = next(left)
                for at, option in enumerate(options):
                    if at == taken:
                        yield from _directives(option, left)
                    else:
                        for _ in range(count_parameters(option)):
                            next(left)
            case _:
                assert_never(item)


def _closed(argument: OpenArgument, left: Iterator[int | None]) -> Argument:
    choice, value, factor = argument.choice, argument.value, argument.factor
    if choice is None:
        taken: Value | None = None
    else:
        at = next(left)
        assert at is not None
        taken = choice.options[at]
    target = _taken(argument.target, taken)
    if factor is not None:
        divisor = _taken(factor, taken)
        assert isinstance(value, str)
        assert isinstance(divisor, int)
        return Argument(target, Split(value, divisor), argument.span)
    return Argument(target, None if value is None else _taken(value, taken), argument.span)


def _taken(part: Value | Choice, taken: Value | None) -> Value:
    if not isinstance(part, Choice):
        return part
    assert taken is not None
    return taken


@dataclass(frozen=True, slots=True)
class _Opening:
    """A parameter before it has a unique name."""

    func: str
    name: str
    part: str
    options: tuple[Value, ...]
    is_alternatives: bool = False


def _openings(items: tuple[Item, ...]) -> Iterator[_Opening]:
    for item in items:
        match item:
            case OpenDirective(func=func, name=name):
                positional = [a for a, _ in choices_in(item) if isinstance(a.target, Choice)]
                for argument, choice in choices_in(item):
                    part = argument.target if isinstance(argument.target, str) else ""
                    if not part and len(positional) > 1:
                        part = str(item.arguments.index(argument) + 1)
                    yield _Opening(func, name, part, choice.options)
            case Alternatives(options=options):
                first = _first(item)
                func, name = (first.func, first.name) if first else ("", "either")
                yield _Opening(func, name, "", tuple(range(1, len(options) + 1)), True)
                for option in options:
                    yield from _openings(option)
            case _:
                assert_never(item)


def _first(item: Alternatives) -> OpenDirective | None:
    """Return the first directive of alternatives, which gives them their name."""
    for option in item.options:
        for one in option:
            found = one if isinstance(one, OpenDirective) else _first(one)
            if found is not None:
                return found
    return None


def _funcs_of(items: tuple[Item, ...]) -> dict[str, set[str]]:
    """Return the Funcs on which each directive stands."""
    found: dict[str, set[str]] = {}
    pending = list(items)
    while pending:
        match pending.pop():
            case OpenDirective(func=func, name=name):
                found.setdefault(name, set()).add(func)
            case Alternatives(options=options):
                pending.extend(one for option in options for one in option)
    return found


def _named(openings: list[_Opening], funcs: dict[str, set[str]]) -> Iterator[SpaceParameter]:
    """Name each parameter by its directive, its label, and its Func if that is necessary.

    The Func is necessary if several Funcs have such a directive. Alternatives are named after their
    first directive. If a choice in such a directive has no label, it would have the same name, and
    then the alternatives get the part `option`. The second parameter of a name is `name@2`.
    """
    without_label = {(o.func, o.name) for o in openings if not (o.part or o.is_alternatives)}
    seen: dict[tuple[str, str], int] = {}
    for one in openings:
        is_alone = len(funcs.get(one.name, ())) < 2
        key = one.name if is_alone else f"{one.func}.{one.name}"
        is_taken = one.is_alternatives and (one.func, one.name) in without_label
        part = OPTION if is_taken else one.part
        number = seen[key, part] = seen.get((key, part), 0) + 1
        mark = f"@{number}" if number > 1 else ""
        names = (key, f"{part}{mark}") if part else (f"{key}{mark}", "")
        yield SpaceParameter(*names, one.options, one.is_alternatives)
