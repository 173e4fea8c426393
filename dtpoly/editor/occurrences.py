"""Finds each place where a name of a file stands, by the syntax alone.

Names are those that the file declares, and those of the loops that directives make, such as `mi` in
`map(m:mi/8, n, mi)`.
"""

from collections.abc import Iterable, Iterator
from typing import assert_never

from dtpoly.frontend.syntax import (
    AlgorithmFile,
    AlternativesSyntax,
    BinarySyntax,
    CallSyntax,
    ConstraintSyntax,
    Declaration,
    Declared,
    Definition,
    DirectiveArgument,
    DirectiveCall,
    File,
    Indexed,
    NameSyntax,
    Node,
    NumberSyntax,
    Statement,
    Unary,
    directives_in,
)
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a name stands, and whether it gets its meaning there."""

    name: str
    span: Span
    is_declaring: bool = False


def occurrences(file: File) -> tuple[Occurrence, ...]:
    """Return all places of all names, in the order of the text."""
    declared = {
        item.name.text
        for statement in file.statements
        if isinstance(statement, Declaration)
        for item in statement.items
    }
    loops = _loops(file) - declared
    every = (one for statement in file.statements for one in _in_statement(statement, loops))
    found = (one for one in every if one.name in declared or one.name in loops)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.span.start))


def _loops(file: File) -> set[str]:
    """Return the names that directives give to loops: the words behind a colon."""
    return {
        argument.value.text
        for statement in file.statements
        for call in directives_in(statement)
        for argument in call.arguments
        if isinstance(argument.value, NameSyntax)
    }


def _in_statement(statement: Statement, loops: set[str]) -> Iterator[Occurrence]:
    match statement:
        case Declaration(items=items):
            for item in items:
                yield from _in_declared(item)
        case Definition(func=func, labels=labels, body=body):
            yield Occurrence(func.text, func.span)
            yield from _in_nodes((*labels, body))
        case DirectiveCall() | AlternativesSyntax():
            for call in directives_in(statement):
                yield Occurrence(call.func.text, call.func.span)
                for argument in call.arguments:
                    yield from _in_argument(argument, loops)
        case ConstraintSyntax(condition=condition):
            for one in _in_nodes((condition,)):
                yield from _dotted(one)
        case AlgorithmFile():
            pass
        case _ as never:
            assert_never(never)


def _in_declared(item: Declared) -> Iterator[Occurrence]:
    yield Occurrence(item.name.text, item.name.span, is_declaring=True)
    if item.into is not None:
        yield Occurrence(item.into.tensor.text, item.into.tensor.span)
        yield from _in_nodes(item.into.indices)
    if item.range is not None:
        yield from _in_nodes((item.range.start, item.range.stop))
    if item.packed is not None:
        yield Occurrence(item.packed.text, item.packed.span)
    if item.within is not None:
        yield from _in_nodes((item.within,))


def _in_argument(argument: DirectiveArgument, loops: set[str]) -> Iterator[Occurrence]:
    if isinstance(argument.target, NameSyntax):
        yield from _dotted(Occurrence(argument.target.text, argument.target.span))
    if isinstance(argument.value, NameSyntax):
        name = argument.value.text
        yield Occurrence(name, argument.value.span, is_declaring=name in loops)


def _in_nodes(nodes: Iterable[Node]) -> Iterator[Occurrence]:
    """Yield the names in expressions, without those of functions that are called."""
    pending = [*nodes]
    while pending:
        match pending.pop():
            case NameSyntax(text=text, span=span):
                yield Occurrence(text, span)
            case NumberSyntax():
                pass
            case CallSyntax(arguments=arguments):
                pending.extend(arguments)
            case Indexed(base=base, indices=indices):
                pending.extend((base, *indices))
            case Unary(operand=operand):
                pending.append(operand)
            case BinarySyntax(left=left, right=right):
                pending.extend((left, right))
            case _ as never:
                assert_never(never)


def _dotted(one: Occurrence) -> Iterator[Occurrence]:
    """Yield the names in words such as `mm.block.m` and `mm.k`, each at its own place."""
    source, start = one.span.source, one.span.start
    for part in one.span.text.split("."):
        name = part.strip()
        at = start + len(part) - len(part.lstrip())
        yield Occurrence(name, Span(source, at, at + len(name)))
        start += len(part) + 1
