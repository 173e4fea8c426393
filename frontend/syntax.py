"""The syntax tree: what the user wrote, with places, before any name has a meaning."""

from collections.abc import Iterator
from typing import assert_never

from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span


@dataclass(frozen=True, slots=True)
class Name:
    """A word."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`function(argument, ...)`."""

    function: Name
    arguments: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Indexed:
    """`base[index, ...]`."""

    base: "Node"
    indices: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`operator operand`."""

    operator: Name
    operand: "Node"
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`."""

    left: "Node"
    operator: Name
    right: "Node"
    span: Span


# The span of a node in parentheses includes them.
Node = Name | Number | Call | Indexed | Unary | Binary


def names_in(node: Node) -> Iterator[Name]:
    """Every word of a node, functions too."""
    pending = [node]
    while pending:
        match pending.pop():
            case Name() as name:
                yield name
            case Number():
                pass
            case Call(function=function, arguments=arguments):
                yield function
                pending.extend(arguments)
            case Indexed(base=base, indices=indices):
                pending.extend((base, *indices))
            case Unary(operand=operand):
                pending.append(operand)
            case Binary(left=left, right=right):
                pending.extend((left, right))
            case _ as never:
                assert_never(never)


@dataclass(frozen=True, slots=True)
class Declared:
    """`name`, `name: dtype` or `name: size` in a declaration."""

    name: Name
    dtype: Name | None
    size: Number | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """`word name, name: dtype, ...;`."""

    word: Name
    items: tuple[Declared, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Definition:
    """`func[label, ...] = body;`."""

    func: Name
    labels: tuple[Node, ...]
    body: Node
    span: Span


@dataclass(frozen=True, slots=True)
class Range:
    """`first..last`, perhaps with a step: `*2` or `+16`."""

    first: Number
    last: Number
    operator: Name | None
    step: Number | None
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """`{option, ...}`: one of several words or numbers."""

    options: tuple[Name | Number | Range, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class DirectiveArgument:
    """`target`, `target:value` or `target:value/factor`."""

    target: Name | Number | Choice
    value: Name | Number | Choice | None
    factor: Number | Choice | None
    span: Span


@dataclass(frozen=True, slots=True)
class DirectiveCall:
    """`func.name(argument, ...);`."""

    func: Name
    name: Name
    arguments: tuple[DirectiveArgument, ...]
    span: Span


def choices_in(call: DirectiveCall) -> Iterator[Choice]:
    """Yield every choice, such as `{4, 8}`, in the arguments of a directive."""
    for argument in call.arguments:
        for part in (argument.target, argument.value, argument.factor):
            if isinstance(part, Choice):
                yield part


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`{ directive, ... | directive, ... };`: one of several lists of directives."""

    options: "tuple[tuple[DirectiveCall | Alternatives, ...], ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Constraint:
    """`where condition;`: which choices go together. Names in the condition have dots."""

    condition: Node
    span: Span


@dataclass(frozen=True, slots=True)
class AlgorithmFile:
    """`algorithm "path";`: where the declarations and definitions are."""

    path: Name  # without its quotes
    span: Span


Statement = Declaration | Definition | DirectiveCall | Alternatives | Constraint | AlgorithmFile


def directives_in(statement: Statement) -> Iterator[DirectiveCall]:
    """Every directive of a statement, in the order written."""
    pending: list[Statement] = [statement]
    while pending:
        match pending.pop():
            case DirectiveCall() as call:
                yield call
            case Alternatives(options=options):
                pending.extend(one for option in reversed(options) for one in reversed(option))
            case _:
                pass


@dataclass(frozen=True, slots=True)
class File:
    """Every statement of a source that could be read."""

    source: Source
    statements: tuple[Statement, ...]
    unread: frozenset[str]  # names in the statements that could not be read
