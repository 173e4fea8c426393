"""Defines the syntax tree: what the user wrote, with places, before any name has a meaning."""

from collections.abc import Iterator
from typing import assert_never

from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span


@dataclass(frozen=True, slots=True)
class NameSyntax:
    """A word of the text."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class NumberSyntax:
    """A number as it is written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class CallSyntax:
    """A call, written `function(argument, ...)`."""

    function: NameSyntax
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

    operator: NameSyntax
    operand: "Node"
    span: Span


@dataclass(frozen=True, slots=True)
class BinarySyntax:
    """An infix operator and its operands, written `left operator right`."""

    left: "Node"
    operator: NameSyntax
    right: "Node"
    span: Span


# If a node stands in parentheses, its span includes them.
Node = NameSyntax | NumberSyntax | CallSyntax | Indexed | Unary | BinarySyntax


def names_in(node: Node) -> Iterator[NameSyntax]:
    """Yield every word of a node, with the names of functions."""
    pending = [node]
    while pending:
        match pending.pop():
            case NameSyntax() as name:
                yield name
            case NumberSyntax():
                pass
            case CallSyntax(function=function, arguments=arguments):
                yield function
                pending.extend(arguments)
            case Indexed(base=base, indices=indices):
                pending.extend((base, *indices))
            case Unary(operand=operand):
                pending.append(operand)
            case BinarySyntax(left=left, right=right):
                pending.extend((left, right))
            case _ as never:
                assert_never(never)


@dataclass(frozen=True, slots=True)
class LabelRangeSyntax:
    """The range of a label in its declaration, written `in [start, stop)`."""

    start: Node
    stop: Node

    @property
    def span(self) -> Span:
        """Return the span from the start to the stop, without the brackets."""
        return self.start.span.to(self.stop.span)


@dataclass(frozen=True, slots=True)
class IntoSyntax:
    """The tensor that a Func goes into, written `into tensor at [index, ...] distinct`.

    `how` is the word behind the place: `distinct`, or `add` for elements that are added there.
    """

    tensor: NameSyntax
    indices: tuple[Node, ...] = ()
    how: NameSyntax | None = None

    @property
    def place(self) -> Span:
        """Return the span from the tensor to the last index."""
        return self.tensor.span.to(self.indices[-1].span if self.indices else self.tensor.span)


@dataclass(frozen=True, slots=True)
class Declared:
    """A name in a declaration: `name`, `name: dtype`, `name: size` or `name in [start, stop)`.

    A result in place has the tensor that it is written into: `name into tensor`, and maybe the
    place in it: `name into tensor at [index, ...]`. A packed input has
    the label of its packed axis: `name: dtype packed label`. An input with a promise of range has
    what its elements are below: `name: dtype within bound`.
    """

    name: NameSyntax
    dtype: NameSyntax | None
    size: NumberSyntax | None = None
    into: IntoSyntax | None = None
    range: LabelRangeSyntax | None = None
    packed: NameSyntax | None = None
    within: Node | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration, written `word name, name: dtype, ...;`."""

    word: NameSyntax
    items: tuple[Declared, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition, written `func[label, ...] = body;`."""

    func: NameSyntax
    labels: tuple[Node, ...]
    body: Node
    span: Span


@dataclass(frozen=True, slots=True)
class RangeSyntax:
    """A range of options, written `first..last`; a step such as `*2` or `+16` may follow."""

    first: NumberSyntax
    last: NumberSyntax
    operator: NameSyntax | None
    step: NumberSyntax | None
    span: Span


@dataclass(frozen=True, slots=True)
class ChoiceSyntax:
    """A choice of one of several words or numbers, written `{option, ...}`."""

    options: tuple[NameSyntax | NumberSyntax | RangeSyntax, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class DirectiveArgument:
    """An argument of a directive, written `target`, `target:value` or `target:value/factor`."""

    target: NameSyntax | NumberSyntax | ChoiceSyntax
    value: NameSyntax | NumberSyntax | ChoiceSyntax | None
    factor: NumberSyntax | ChoiceSyntax | None
    span: Span


@dataclass(frozen=True, slots=True)
class DirectiveCall:
    """A directive, written `func.name(argument, ...);`."""

    func: NameSyntax
    name: NameSyntax
    arguments: tuple[DirectiveArgument, ...]
    span: Span


def choices_in(call: DirectiveCall) -> Iterator[ChoiceSyntax]:
    """Yield every choice, such as `{4, 8}`, in the arguments of a directive."""
    for argument in call.arguments:
        for part in (argument.target, argument.value, argument.factor):
            if isinstance(part, ChoiceSyntax):
                yield part


@dataclass(frozen=True, slots=True)
class AlternativesSyntax:
    """A choice of one of several lists of directives.

    It is written `{ directive, ... | directive, ... };`.
    """

    options: "tuple[tuple[DirectiveCall | AlternativesSyntax, ...], ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class ConstraintSyntax:
    """A condition on which choices go together, written `where condition;`.

    The names in the condition may have dots.
    """

    condition: Node
    span: Span


@dataclass(frozen=True, slots=True)
class AlgorithmFile:
    """The statement that names the file of the algorithm, written `algorithm "path";`."""

    path: NameSyntax  # without its quotes
    span: Span


Statement = (
    Declaration | Definition | DirectiveCall | AlternativesSyntax | ConstraintSyntax | AlgorithmFile
)


def directives_in(statement: Statement) -> Iterator[DirectiveCall]:
    """Yield every directive of a statement, in the order of the text."""
    pending: list[Statement] = [statement]
    while pending:
        match pending.pop():
            case DirectiveCall() as call:
                yield call
            case AlternativesSyntax(options=options):
                pending.extend(one for option in reversed(options) for one in reversed(option))
            case _:
                pass


@dataclass(frozen=True, slots=True)
class File:
    """The statements of a source that could be read."""

    source: Source
    statements: tuple[Statement, ...]
    unread: frozenset[str]  # the names in the statements that could not be read
