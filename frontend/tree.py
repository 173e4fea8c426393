"""Turns the flat matches of the grammar into syntax nodes.

It adds places, groups operators by precedence, and refuses expressions that nest too deeply.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dtpoly.algorithm.operations import AND, COMPARISON, INFIX, NOT, SIGN
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span

from .grammar import Raw
from .syntax import (
    AlgorithmFile,
    Alternatives,
    Binary,
    Call,
    Choice,
    Constraint,
    Declaration,
    Declared,
    Definition,
    DirectiveArgument,
    DirectiveCall,
    Indexed,
    Name,
    Node,
    Number,
    Range,
    Unary,
)

MAX_DEPTH = 200  # operators inside operators
_PREFIX = re.compile(r"[-+]|not")


class TreeError(Exception):
    """Raised if a match of the grammar is not a statement after all."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.title)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of the text that was parsed in its source."""

    source: Source
    start: int
    end: int

    def span(self, raw: Raw) -> Span:
        """Return the span of a terminal."""
        start = self.start + raw.start
        return Span(self.source, start, start + len(raw.text))

    def name(self, raw: Raw) -> Name:
        """Turn a terminal into a name."""
        return Name(raw.text, self.span(raw))

    @property
    def whole(self) -> Span:
        """Return the span of the whole statement."""
        return Span(self.source, self.start, self.end)


# pyparsing's groups are untyped; the functions below know what the grammar puts into each.
Group = Sequence[Any]


def declaration(place: Place, raw: Group) -> Declaration:
    """Build `word name, name: dtype, name: size`."""
    items = tuple(_declared(place, *item) for item in raw[1:])
    return Declaration(place.name(raw[0]), items, place.whole)


def _declared(place: Place, name: Raw, said: Raw | None = None) -> Declared:
    word = None if said is None else _word(place, said)
    if isinstance(word, Number):
        return Declared(place.name(name), None, word)
    return Declared(place.name(name), word)


def definition(place: Place, raw: Group) -> Definition:
    """Build `func[labels] = body`."""
    func, labels, body = raw
    nodes = tuple(expression(place, label) for label in labels)
    return Definition(place.name(func), nodes, expression(place, body), place.whole)


def directive(place: Place, raw: Group) -> DirectiveCall:
    """Build `func.name(arguments)`."""
    func, name, (*arguments, closing) = raw
    built = tuple(_directive_argument(place, argument) for argument in arguments)
    span = place.span(func).to(place.span(closing))
    return DirectiveCall(place.name(func), place.name(name), built, span)


def _directive_argument(place: Place, raw: Group) -> DirectiveArgument:
    parts = [_choice(place, part) if _is_group(part) else _word(place, part) for part in raw]
    target, value, factor = (*parts, None, None)[:3]
    assert target is not None
    assert not isinstance(factor, Name)
    return DirectiveArgument(target, value, factor, target.span.to(parts[-1].span))


def _is_group(raw: Any) -> bool:
    return not isinstance(raw, Raw)


def _choice(place: Place, raw: Group) -> Choice:
    """Build `{1, 2, 8..64 *2}`."""
    opening, *options, closing = raw
    span = place.span(opening).to(place.span(closing))
    return Choice(tuple(_option(place, option) for option in options), span)


def _option(place: Place, raw: Group) -> Name | Number | Range:
    first = _word(place, raw[0])
    if len(raw) == 1 or isinstance(first, Name):
        return first
    last = Number(raw[1].text, place.span(raw[1]))
    operator = place.name(raw[2]) if len(raw) > 2 else None
    step = Number(raw[3].text, place.span(raw[3])) if len(raw) > 2 else None
    return Range(first, last, operator, step, first.span.to((step or last).span))


def alternatives(place: Place, raw: Group) -> Alternatives:
    """Build `{ directives | directives }`."""
    opening, *options, closing = raw[0]
    built = tuple(tuple(_alternative(place, one) for one in option) for option in options)
    return Alternatives(built, place.span(opening).to(place.span(closing)))


def _alternative(place: Place, raw: Group) -> DirectiveCall | Alternatives:
    return alternatives(place, (raw,)) if raw[0].text == "{" else directive(place, raw)


def constraint(place: Place, raw: Group) -> Constraint:
    """Build `where condition`."""
    return Constraint(expression(place, raw[1]), place.whole)


def algorithm(place: Place, raw: Group) -> AlgorithmFile:
    """Build `algorithm "path"`."""
    span = place.span(raw[1])
    return AlgorithmFile(Name(raw[1].text[1:-1], span), place.whole)


def _word(place: Place, raw: Raw) -> Name | Number:
    is_name = raw.text[0].isalpha() or raw.text[0] == "_"
    return place.name(raw) if is_name else Number(raw.text, place.span(raw))


@dataclass(frozen=True, slots=True)
class _Deep:
    """A node and the number of operators that are nested inside it."""

    node: Node
    depth: int = 0

    def under(self, node: Node, *others: "_Deep") -> "_Deep":
        """Return a node that stands over this one and the others, with its depth."""
        depth = 1 + max((self.depth, *(other.depth for other in others)))
        if depth > MAX_DEPTH:
            raise TreeError(_too_deep(node.span))
        return _Deep(node, depth)


def expression(place: Place, raw: Group) -> Node:
    """Build an expression from operands and operators in the order written."""
    return _expression(place, raw).node


def _expression(place: Place, raw: Group) -> _Deep:
    # raw is a list: signs, operand, then infix, signs, operand any number of times.
    items: list[Name | _Deep] = []
    for at in range(0, len(raw), 3):
        signs, operand = raw[at], raw[at + 1]
        prefixes = [Raw(signs.start + m.start(), m[0]) for m in _PREFIX.finditer(signs.text)]
        if len(prefixes) > MAX_DEPTH:
            raise TreeError(_too_deep(place.span(prefixes[0])))
        items.extend(place.name(prefix) for prefix in prefixes)
        items.append(_operand(place, operand))
        items.extend(place.name(infix) for infix in raw[at + 2 : at + 3])
    return _climb(items, 0, 0)[0]


def _climb(items: list[Name | _Deep], at: int, lowest: int) -> tuple[_Deep, int]:
    """Read an operand and all operators after it that bind at least as tightly as `lowest`.

    This is precedence climbing. Returns the node and the position of the first item that is left.
    """
    first = items[at]
    if isinstance(first, Name):
        # `not` takes sums and comparisons as its operand; a sign takes only the value after it.
        below, at = _climb(items, at + 1, NOT if first.text == "not" else SIGN)
        left = below.under(Unary(first, below.node, first.span.to(below.node.span)))
    else:
        left, at = first, at + 1
    compared: Name | None = None
    while at < len(items):
        operator = items[at]
        assert isinstance(operator, Name)
        level = INFIX[operator.text].precedence
        if level < lowest:
            break
        right, at = _climb(items, at + 1, level + 1)
        if level == COMPARISON and compared is not None:
            raise TreeError(_chained(left.node, compared, operator, right.node, lowest > AND))
        span = left.node.span.to(right.node.span)
        left = left.under(Binary(left.node, operator, right.node, span), right)
        compared = operator if level == COMPARISON else None
    return left, at


def _operand(place: Place, raw: Group) -> _Deep:
    built = _atom(place, raw[0])
    for opening, several, closing in raw[1:]:
        arguments = [_expression(place, item) for item in several]
        nodes = tuple(argument.node for argument in arguments)
        span = built.node.span.to(place.span(closing))
        if opening.text == "[":
            built = built.under(Indexed(built.node, nodes, span), *arguments)
        elif isinstance(raw[0], Raw) and isinstance(built.node, Name):
            built = built.under(Call(built.node, nodes, span), *arguments)
        else:
            raise TreeError(_not_callable(built.node))
    return built


def _atom(place: Place, raw: Any) -> _Deep:
    if isinstance(raw, Raw):
        return _Deep(_word(place, raw))
    opening, inner, closing = raw
    built = _expression(place, inner)
    span = place.span(opening).to(place.span(closing))
    return _Deep(replace(built.node, span=span), built.depth)


def _too_deep(span: Span) -> Diagnostic:
    return Diagnostic(
        "DT106",
        Severity.ERROR,
        f"this expression is more than {MAX_DEPTH} operators deep",
        Span(span.source, span.start, min(span.end, span.start + 1)),
        "starts here",
        hint="give a part of it a Func of its own; it can be inlined again",
    )


def _chained(left: Node, first: Name, second: Name, right: Node, is_inner: bool) -> Diagnostic:
    assert isinstance(left, Binary)
    before, middle, after = left.left.span, left.right.span, right.span
    both = f"{before.text} {first.text} {middle.text} and {middle.text} {second.text} {after.text}"
    source = second.span.source
    edits = [Edit(Span(source, second.span.start, second.span.start), f"and {middle.text} ")]
    if is_inner:
        edits.insert(0, Edit(Span(source, before.start, before.start), "("))
        edits.append(Edit(Span(source, after.end, after.end), ")"))
    return Diagnostic(
        "DT117",
        Severity.ERROR,
        "comparisons do not chain",
        second.span,
        "compares the result of a comparison",
        (Note("which is this one", first.span),),
        f"write {both}" if len(both) < 80 and "\n" not in both else "join them by 'and'",
        tuple(edits) if "#" not in middle.text else (),
    )


def _not_callable(node: Node) -> Diagnostic:
    return Diagnostic(
        "DT114",
        Severity.ERROR,
        "only a function can be called",
        node.span,
        "is not the name of a function",
        hint="write * to multiply",
        edits=(Edit(Span(node.span.source, node.span.end, node.span.end), " * "),),
    )
