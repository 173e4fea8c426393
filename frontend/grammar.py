"""The grammar of one statement, in pyparsing: text in, nested raw matches out, no meaning.

Every terminal comes out as a `Raw` (where, text). Operators come out flat, in the order written:
`tree` groups them by precedence. So a level of brackets is one level of recursion, and a
statement is read once, from left to right, without going back: `-` (not `+`) after whatever
decides what follows makes pyparsing stop exactly at the mistake.
"""

from typing import Any, NamedTuple

from pyparsing import (
    FollowedBy,
    Forward,
    Group,
    Opt,
    ParserElement,
    Regex,
    ZeroOrMore,
)


class Raw(NamedTuple):
    """A terminal: offset in the text that was parsed, and its characters."""

    start: int
    text: str


def _raw(_text: str, start: int, found: Any) -> Raw:
    return Raw(start, str(found[0]))


def _terminal(pattern: str, expected: str) -> ParserElement:
    return Regex(pattern).set_parse_action(_raw).set_name(expected)


def _separated(element: ParserElement) -> ParserElement:
    comma = _terminal(",", "','")
    return element + ZeroOrMore(comma.copy().suppress() - element)


def _expression() -> ParserElement:
    # and, or and not are operators; every other word, reserved or not, is a name.
    name = r"(?!(?:and|or|not)\b)[A-Za-z_][A-Za-z0-9_]*"
    number = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    word = _terminal(f"{name}|{number}", "a value")
    # All signs at once, even none: what fails costs pyparsing an exception.
    prefixes = _terminal(r"(?:(?:[-+]|not\b)\s*)*", "signs")
    infix = _terminal(r"<=|>=|==|!=|[-+*/%<>]|(?:and|or)\b", "an operator")
    # Which bracket closes which is checked before (brackets).
    opening, closing = _terminal(r"[(\[]", "'(' or '['"), _terminal(r"[)\]]", "')' or ']'")

    expression = Forward()
    several = Group(Opt(_separated(expression)))
    postfix = Group(opening - several - closing)
    parenthesised = Group(_terminal(r"\(", "'('") - expression - closing)
    operand = Group((word | parenthesised) + ZeroOrMore(postfix))
    signed = prefixes + operand
    expression <<= Group(signed + ZeroOrMore(infix - signed))
    return expression.set_name("an expression")


def _declaration() -> ParserElement:
    name = _terminal(r"[A-Za-z_][A-Za-z0-9_]*", "a name")
    colon = _terminal(":", "':'").suppress()
    item = Group(name + Opt(colon - name))
    return name - _separated(item)


def _definition() -> ParserElement:
    name = _terminal(r"[A-Za-z_][A-Za-z0-9_]*", "a name")
    opening = _terminal(r"\[", "'['").suppress()
    closing = _terminal(r"\]", "']'").suppress()
    equals = _terminal("=", "'='").suppress()
    labels = Group(opening - Opt(_separated(EXPRESSION)) - closing)
    return name - labels - equals - EXPRESSION


def _directive() -> ParserElement:
    name = _terminal(r"[A-Za-z_][A-Za-z0-9_]*", "a name")
    dotted = _terminal(r"[A-Za-z_][A-Za-z0-9_]*(?:\s*\.\s*[A-Za-z_][A-Za-z0-9_]*)?", "a name")
    number = _terminal(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", "a number")
    dot = _terminal(r"\.", "'.'").suppress()
    colon, slash = _terminal(":", "':'").suppress(), _terminal("/", "'/'").suppress()
    opening, closing = _terminal(r"\(", "'('").suppress(), _terminal(r"\)", "')'").suppress()
    value = number | (name + Opt(slash - number))
    argument = Group((dotted | number) + Opt(colon - value))
    arguments = Group(opening - Opt(_separated(argument)) - closing)
    return name - dot - name - FollowedBy(_terminal(r"\(", "'('")) - arguments


def match(element: ParserElement, text: str) -> Any:
    """The nested groups of a whole text; pyparsing's exceptions say where it stopped."""
    # pyparsing leaves the type of **kwargs open.
    return element.parse_string(text, parse_all=True)  # pyright: ignore[reportUnknownMemberType]


EXPRESSION = _expression()
DECLARATION = _declaration()
DEFINITION = _definition()
DIRECTIVE = _directive()
