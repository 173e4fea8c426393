"""Defines the syntax tree: what the user wrote, with places, before any name has a meaning."""

from collections.abc import Iterator
from typing import assert_never

from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span


@dataclass(frozen=True, slots=True)
class Name:
    """A word of the text."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A call, written `function(argument, ...)`."""

    function: Name
    arguments: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Indexed:
    """A read with indices, written `base[index, ...]`."""

    base: "Node"
    indices: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """A prefix operator and its operand, written `operator operand`."""

    operator: Name
    operand: "Node"
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """An infix operator and its operands, written `left operator right`."""

    left: "Node"
    operator: Name
    right: "Node"
    span: Span


# If a node stands in parentheses, its span includes them.
Node = Name | Number | Call | Indexed | Unary | Binary


def names_in(node: Node) -> Iterator[Name]:
    """Yield every word of a node, with the names of functions."""
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
    """A name in a declaration, written `name`, `name: dtype` or `name: size`."""

    name: Name
    dtype: Name | None
    size: Number | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration, written `word name, name: dtype, ...;`."""

    word: Name
    items: tuple[Declared, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition, written `func[label, ...] = body;`."""

    func: Name
    labels: tuple[Node, ...]
    body: Node
    span: Span


@dataclass(frozen=True, slots=True)
class Range:
    """A range of options, written `first..last`; a step such as `*2` or `+16` may follow."""

    first: Number
    last: Number
    operator: Name | None
    step: Number | None
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of one of several words or numbers, written `{option, ...}`."""

    options: tuple[Name | Number | Range, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class DirectiveArgument:
    """An argument of a directive, written `target`, `target:value` or `target:value/factor`."""

    target: Name | Number | Choice
    value: Name | Number | Choice | None
    factor: Number | Choice | None
    span: Span


@dataclass(frozen=True, slots=True)
class DirectiveCall:
    """A directive, written `func.name(argument, ...);`."""

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
    """A choice of one of several lists of directives.

    It is written `{ directive, ... | directive, ... };`.
    """

    options: "tuple[tuple[DirectiveCall | Alternatives, ...], ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition on which choices go together, written `where condition;`.

    The names in the condition may have dots.
    """

    condition: Node
    span: Span


@dataclass(frozen=True, slots=True)
class AlgorithmFile:
    """The statement that names the file of the algorithm, written `algorithm "path";`."""

    path: Name  # without its quotes
    span: Span


Statement = Declaration | Definition | DirectiveCall | Alternatives | Constraint | AlgorithmFile


def directives_in(statement: Statement) -> Iterator[DirectiveCall]:
    """Yield every directive of a statement, in the order of the text."""
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
    """All statements of a source that could be read."""

    source: Source
    statements: tuple[Statement, ...]
    unread: frozenset[str]  # the names in the statements that could not be read
