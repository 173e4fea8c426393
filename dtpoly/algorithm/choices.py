"""Defines the open parts of a schedule as data: choices, alternatives and constraints."""

from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of one of several numbers or names, in the order of the text: `{1, 2, 8..64 *2}`."""

    options: tuple[int | str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpenArgument:
    """An argument of a directive of which one part may be a choice.

    It is written `target`, `target:value` or `target:value/factor`. With a value the target is a
    name, and with a factor the value is a name.
    """

    target: int | str | Choice
    value: int | str | Choice | None = None
    factor: int | Choice | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def choice(self) -> Choice | None:
        """Return the choice among the parts, or None; there is one at most."""
        parts = (self.target, self.value, self.factor)
        return next((part for part in parts if isinstance(part, Choice)), None)


@dataclass(frozen=True, slots=True)
class OpenDirective:
    """A directive that may have choices, written `func.name(arguments);`."""

    func: str
    name: str
    arguments: tuple[OpenArgument, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A choice of one of several lists of directives, which may be empty: `{ items | items };`."""

    options: "tuple[tuple[OpenDirective | Alternatives, ...], ...]"
    span: Span | None = field(default=None, compare=False, repr=False)


Item = OpenDirective | Alternatives


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of the number of a directive in a constraint: `tensorize.y` or `f.tensorize.y`."""

    path: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """A whole number in a constraint."""

    value: int


@dataclass(frozen=True, slots=True)
class ConstraintOperation:
    """An operation of a constraint on two operands: + - * %, a comparison, `and` or `or`."""

    operator: str
    left: "Condition"
    right: "Condition"


Condition = Mention | WholeNumber | ConstraintOperation


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition on which choices go together, written `where condition;`.

    A comparison that mentions a number which a point does not have counts as true.
    """

    condition: Condition
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Openings:
    """The directives of a schedule, with or without choices, and its constraints."""

    items: tuple[Item, ...] = ()
    constraints: tuple[Constraint, ...] = ()
