"""A space of schedules: a program without its directives, and what there is to choose of them."""

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
class Parameter:
    """One thing to choose: an option of an argument, or which of some alternatives.

    `key` and `part` name it: `block` and `y`, `map` and nothing. No two of a space have the same
    names. Alternatives are numbered from 1.
    """

    key: str
    part: str
    options: tuple[Value, ...]
    is_alternatives: bool = False

    def __str__(self) -> str:
        return f"{self.key}.{self.part}" if self.part else self.key


@dataclass(frozen=True, slots=True)
class Point:
    """The number of the option that is taken of each parameter of a space, from 0.

    None stands where an alternative that has the parameter is not taken.
    """

    chosen: tuple[int | None, ...]


@dataclass(frozen=True)
class Space:
    """All schedules that the items allow, and of these those that the constraints leave.

    The Program has no directives. Those with nothing to choose are among the items.
    """

    program: Program
    items: tuple[Item, ...]
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return all parameters, in the order written; those of an alternative come after it."""
        return tuple(_named(list(_openings(self.items)), _funcs_of(self.items)))

    def without_constraints(self) -> "Space":
        """The space of all that the items allow."""
        return replace(self, constraints=())


def space_of(program: Program, openings: Openings) -> Space:
    """The space of a Program and of what its file leaves open."""
    return Space(replace(program, directives=()), openings.items, openings.constraints)


def program_of(space: Space, point: Point) -> Program:
    """The ordinary Program that a point is."""
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
    """The parameters that a point must choose: those of the alternatives that it takes."""
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
    """For each parameter the alternatives that have it, and of these the option that does."""
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
    """The arguments of a directive in which there is something to choose."""
    for argument in directive.arguments:
        choice = argument.choice
        if choice is not None:
            yield argument, choice


def count_parameters(items: tuple[Item, ...]) -> int:
    """How many parameters items have, those of all alternatives."""
    return sum(1 for _ in _openings(items))


def _directives(items: tuple[Item, ...], left: Iterator[int | None]) -> Iterator[Directive]:
    """The directives of a point; `left` are the choices for these items and those after them."""
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
    """A parameter before it has a name that no other one has."""

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
    """The first directive of alternatives, which they are named after."""
    for option in item.options:
        for one in option:
            found = one if isinstance(one, OpenDirective) else _first(one)
            if found is not None:
                return found
    return None


def _funcs_of(items: tuple[Item, ...]) -> dict[str, set[str]]:
    """The Funcs that each directive is said of."""
    found: dict[str, set[str]] = {}
    pending = list(items)
    while pending:
        match pending.pop():
            case OpenDirective(func=func, name=name):
                found.setdefault(name, set()).add(func)
            case Alternatives(options=options):
                pending.extend(one for option in options for one in option)
    return found


def _named(openings: list[_Opening], funcs: dict[str, set[str]]) -> Iterator[Parameter]:
    """Each parameter by its directive, its Func if others have such a directive, its label.

    Alternatives are named after the first directive in them. Where a choice in such a directive
    has no label, and so the same name, they are its `option`. Of several with one name the second
    is `name@2`.
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
        yield Parameter(*names, one.options, one.is_alternatives)
