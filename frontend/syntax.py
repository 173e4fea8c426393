"""The syntax tree: what was written, with places, before any name has a meaning."""

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
    """`name` or `name: dtype` in a declaration."""

    name: Name
    dtype: Name | None


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
class DirectiveArgument:
    """`target`, `target:value` or `target:value/factor`."""

    target: Name | Number
    value: Name | Number | None
    factor: Number | None
    span: Span


@dataclass(frozen=True, slots=True)
class DirectiveCall:
    """`func.name(argument, ...);`."""

    func: Name
    name: Name
    arguments: tuple[DirectiveArgument, ...]
    span: Span


Statement = Declaration | Definition | DirectiveCall


@dataclass(frozen=True, slots=True)
class File:
    """Every statement of a source that could be read."""

    source: Source
    statements: tuple[Statement, ...]
    unread: frozenset[str]  # names in the statements that could not be read
