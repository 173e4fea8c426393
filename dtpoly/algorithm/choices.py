"""The parts of a schedule that are left open: choices, alternatives and constraints, as data."""

from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Choice:
    """`{1, 2, 8..64 *2}`: one of several numbers or names, in the order written."""

    options: tuple[int | str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpenArgument:
    """`target`, `target:value` or `target:value/factor`; each part may be a choice.

    With a value the target is a name, with a factor the value is one.
    """

    target: int | str | Choice
    value: int | str | Choice | None = None
    factor: int | Choice | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def choice(self) -> Choice | None:
        """The choice in it; there is one at most."""
        parts = (self.target, self.value, self.factor)
        return next((part for part in parts if isinstance(part, Choice)), None)


@dataclass(frozen=True, slots=True)
class OpenDirective:
    """`func.name(arguments);`, in which nothing need be open."""

    func: str
    name: str
    arguments: tuple[OpenArgument, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`{ items | items };`: one of several lists of directives, which may be empty."""

    options: "tuple[tuple[OpenDirective | Alternatives, ...], ...]"
    span: Span | None = field(default=None, compare=False, repr=False)


Item = OpenDirective | Alternatives


@dataclass(frozen=True, slots=True)
class Mention:
    """`tensorize.y` or `f.tensorize.y`: the number that a directive has there."""

    path: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    value: int


@dataclass(frozen=True, slots=True)
class Operation:
    """`left operator right`, of numbers: + - * % and comparisons, `and`, `or`."""

    operator: str
    left: "Condition"
    right: "Condition"


Condition = Mention | Whole | Operation


@dataclass(frozen=True, slots=True)
class Constraint:
    """`where condition;`. A comparison that mentions what a point does not have holds."""

    condition: Condition
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Openings:
    """All directives of a schedule, those with nothing to choose too, and its constraints."""

    items: tuple[Item, ...] = ()
    constraints: tuple[Constraint, ...] = ()
