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
    AlternativesSyntax,
    BinarySyntax,
    CallSyntax,
    ChoiceSyntax,
    ConstraintSyntax,
    Declaration,
    Declared,
    Definition,
    DirectiveArgument,
    DirectiveCall,
    Indexed,
    IntoSyntax,
    LabelRangeSyntax,
    NameSyntax,
    Node,
    NumberSyntax,
    RangeSyntax,
    Unary,
)

# Other languages join comparisons by operators on bits. These are the words for it here.
JOINED = {"&": "and", "|": "or"}
MAX_DEPTH = 200  # operators inside operators
_PREFIX = re.compile(r"[-+~]|not")


class TreeError(Exception):
    """Raised if a match of the grammar is not a statement after all."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.title)


@dataclass(frozen=True, slots=True)
class ParsedPlace:
    """The place of the text that was parsed in its source."""

    source: Source
    start: int
    end: int

    def span(self, raw: Raw) -> Span:
        """Return the span of a terminal."""
        start = self.start + raw.start
        return Span(self.source, start, start + len(raw.text))

    def name(self, raw: Raw) -> NameSyntax:
        """Turn a terminal into a name."""
        return NameSyntax(raw.text, self.span(raw))

    @property
    def whole(self) -> Span:
        """Return the span of the whole statement."""
        return Span(self.source, self.start, self.end)


# pyparsing's groups are untyped; the functions below know what the grammar puts into each.
Group = Sequence[Any]


def declaration(place: ParsedPlace, raw: Group) -> Declaration:
    """Build `word name, name: dtype, name in [start, stop), ...`, one item after another."""
    items = tuple(_declared(place, *item) for item in raw[1:])
    return Declaration(place.name(raw[0]), items, place.whole)


def _declared(place: ParsedPlace, name: Raw, said: Group, *others: Group) -> Declared:
    ends, goes, packed, within = others
    word = _word(place, said[0]) if said else None
    found = LabelRangeSyntax(*(expression(place, one) for one in ends)) if ends else None
    into = _into(place, *goes) if goes else None
    along = place.name(packed[0]) if packed else None
    bound = expression(place, within[0]) if within else None
    if isinstance(word, NumberSyntax):
        return Declared(place.name(name), None, word, into, found, along, bound)
    return Declared(place.name(name), word, None, into, found, along, bound)


def _into(place: ParsedPlace, tensor: Raw, at: Group, how: Group) -> IntoSyntax:
    """Build `into tensor at [indices] distinct`, or with another word at the end."""
    indices = tuple(expression(place, one) for one in at)
    return IntoSyntax(place.name(tensor), indices, place.name(how[0]) if how else None)


def definition(place: ParsedPlace, raw: Group) -> Definition:
    """Build `func[labels] = body`."""
    func, labels, body = raw
    nodes = tuple(expression(place, label) for label in labels)
    return Definition(place.name(func), nodes, expression(place, body), place.whole)


def directive(place: ParsedPlace, raw: Group) -> DirectiveCall:
    """Build `func.name(arguments)`."""
    func, name, (*arguments, closing) = raw
    built = tuple(_directive_argument(place, argument) for argument in arguments)
    span = place.span(func).to(place.span(closing))
    return DirectiveCall(place.name(func), place.name(name), built, span)


def _directive_argument(place: ParsedPlace, raw: Group) -> DirectiveArgument:
    parts = [_choice(place, part) if _is_group(part) else _word(place, part) for part in raw]
    target, value, factor = (*parts, None, None)[:3]
    assert target is not None
    assert not isinstance(factor, NameSyntax)
    return DirectiveArgument(target, value, factor, target.span.to(parts[-1].span))


def _is_group(raw: Any) -> bool:
    return not isinstance(raw, Raw)


def _choice(place: ParsedPlace, raw: Group) -> ChoiceSyntax:
    """Build `{1, 2, 8..64 *2}`."""
    opening, *options, closing = raw
    span = place.span(opening).to(place.span(closing))
    return ChoiceSyntax(tuple(_option(place, option) for option in options), span)


def _option(place: ParsedPlace, raw: Group) -> NameSyntax | NumberSyntax | RangeSyntax:
    first = _word(place, raw[0])
    if len(raw) == 1 or isinstance(first, NameSyntax):
        return first
    last = NumberSyntax(raw[1].text, place.span(raw[1]))
    operator = place.name(raw[2]) if len(raw) > 2 else None
    step = NumberSyntax(raw[3].text, place.span(raw[3])) if len(raw) > 2 else None
    return RangeSyntax(first, last, operator, step, first.span.to((step or last).span))


def alternatives(place: ParsedPlace, raw: Group) -> AlternativesSyntax:
    """Build `{ directives | directives }`."""
    opening, *options, closing = raw[0]
    built = tuple(tuple(_alternative(place, one) for one in option) for option in options)
    return AlternativesSyntax(built, place.span(opening).to(place.span(closing)))


def _alternative(place: ParsedPlace, raw: Group) -> DirectiveCall | AlternativesSyntax:
    return alternatives(place, (raw,)) if raw[0].text == "{" else directive(place, raw)


def constraint(place: ParsedPlace, raw: Group) -> ConstraintSyntax:
    """Build `where condition`."""
    return ConstraintSyntax(expression(place, raw[1]), place.whole)


def algorithm(place: ParsedPlace, raw: Group) -> AlgorithmFile:
    """Build `algorithm "path"`."""
    span = place.span(raw[1])
    return AlgorithmFile(NameSyntax(raw[1].text[1:-1], span), place.whole)


def _word(place: ParsedPlace, raw: Raw) -> NameSyntax | NumberSyntax:
    is_name = raw.text[0].isalpha() or raw.text[0] == "_"
    return place.name(raw) if is_name else NumberSyntax(raw.text, place.span(raw))


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


def expression(place: ParsedPlace, raw: Group) -> Node:
    """Build an expression from operands and operators in the order written."""
    return _expression(place, raw).node


def _expression(place: ParsedPlace, raw: Group) -> _Deep:
    # raw is a list: signs, operand, then infix, signs, operand any number of times.
    items: list[NameSyntax | _Deep] = []
    for at in range(0, len(raw), 3):
        signs, operand = raw[at], raw[at + 1]
        prefixes = [Raw(signs.start + m.start(), m[0]) for m in _PREFIX.finditer(signs.text)]
        if len(prefixes) > MAX_DEPTH:
            raise TreeError(_too_deep(place.span(prefixes[0])))
        items.extend(place.name(prefix) for prefix in prefixes)
        items.append(_operand(place, operand))
        items.extend(place.name(infix) for infix in raw[at + 2 : at + 3])
    return _climb(items, 0, 0)[0]


def _climb(items: list[NameSyntax | _Deep], at: int, lowest: int) -> tuple[_Deep, int]:
    """Read an operand and all operators after it that bind at least as tightly as `lowest`.

    This is precedence climbing. Returns the node and the position of the first item that is left.
    """
    first = items[at]
    if isinstance(first, NameSyntax):
        # `not` takes sums and comparisons as its operand; a sign takes only the value after it.
        below, at = _climb(items, at + 1, NOT if first.text == "not" else SIGN)
        left = below.under(Unary(first, below.node, first.span.to(below.node.span)))
    else:
        left, at = first, at + 1
    compared: NameSyntax | None = None
    while at < len(items):
        operator = items[at]
        assert isinstance(operator, NameSyntax)
        level = INFIX[operator.text].precedence
        if level < lowest:
            break
        right, at = _climb(items, at + 1, level + 1)
        if level == COMPARISON and compared is not None:
            raise TreeError(_chained(left.node, compared, operator, right.node, lowest > AND))
        span = left.node.span.to(right.node.span)
        left = left.under(BinarySyntax(left.node, operator, right.node, span), right)
        compared = operator if level == COMPARISON else None
    return left, at


def _operand(place: ParsedPlace, raw: Group) -> _Deep:
    built = _atom(place, raw[0])
    for opening, several, closing in raw[1:]:
        arguments = [_expression(place, item) for item in several]
        nodes = tuple(argument.node for argument in arguments)
        span = built.node.span.to(place.span(closing))
        if opening.text == "[":
            built = built.under(Indexed(built.node, nodes, span), *arguments)
        elif isinstance(raw[0], Raw) and isinstance(built.node, NameSyntax):
            built = built.under(CallSyntax(built.node, nodes, span), *arguments)
        else:
            raise TreeError(_not_callable(built.node))
    return built


def _atom(place: ParsedPlace, raw: Any) -> _Deep:
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


def _chained(
    left: Node, first: NameSyntax, second: NameSyntax, right: Node, is_inner: bool
) -> Diagnostic:
    assert isinstance(left, BinarySyntax)
    before, middle, after = left.left.span, left.right.span, right.span
    both = f"{before.text} {first.text} {middle.text} and {middle.text} {second.text} {after.text}"
    source = second.span.source
    joint = left.right
    if isinstance(joint, BinarySyntax) and joint.operator.text in JOINED:
        return _joined_by_bits(joint.operator)
    edits = [Edit(Span(source, second.span.start, second.span.start), f"and {middle.text} ")]
    if is_inner:
        edits.insert(0, Edit(Span(source, before.start, before.start), "("))
        edits.append(Edit(Span(source, after.end, after.end), ")"))
    return Diagnostic(
        "DT117",
        Severity.ERROR,
        "comparisons do not chain",
        second.span,
        "compares the result of another comparison",
        (Note("this is the other comparison", first.span),),
        f"write {both}" if len(both) < 80 and "\n" not in both else "join them by 'and'",
        tuple(edits) if "#" not in middle.text else (),
    )


def _joined_by_bits(operator: NameSyntax) -> Diagnostic:
    """Report `a < b & c < d`: as in Python, the sign of bits binds more tightly than `<`."""
    word = JOINED[operator.text]
    return Diagnostic(
        "DT117",
        Severity.ERROR,
        "comparisons do not chain",
        operator.span,
        f"`{operator.text}` is computed before the comparisons, so they compare its result",
        hint=f"join conditions by '{word}'",
        edits=(Edit(operator.span, word),),
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
