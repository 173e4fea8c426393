"""Defines the grammar of one statement with pyparsing; it returns nested matches without meaning.

Every terminal becomes a `Raw`, which is an offset and a text. Operators come out flat, in the order
in which they are written, and `tree` groups them by precedence. So a level of brackets costs only
one level of recursion.

A statement is read once, from left to right, without going back. The element that decides which
rule applies is followed by `-` instead of `+`, so that pyparsing stops exactly at the mistake.
"""

from functools import lru_cache
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
    """A terminal: its offset in the text that is parsed, and its characters."""

    start: int
    text: str


def _raw(_text: str, start: int, found: Any) -> Raw:
    return Raw(start, str(found[0]))


def _terminal(pattern: str, expected: str) -> ParserElement:
    return Regex(pattern).set_parse_action(_raw).set_name(expected)


def _separated(element: ParserElement) -> ParserElement:
    comma = _terminal(",", "','")
    return element + ZeroOrMore(comma.copy().suppress() - element)


_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
# A number ends before the `..` of a range.
_NUMBER = r"(?:[0-9]+(?:\.(?!\.))?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


def _expression(suffix: str = "") -> ParserElement:
    """Return the grammar of expressions, in which a name may be followed by the suffix."""
    # `and`, `or` and `not` are operators. Every other word, reserved or not, is a name here.
    name = rf"(?!(?:and|or|not)\b){_NAME}{suffix}"
    number = _NUMBER
    word = _terminal(f"{name}|{number}", "a value")
    # One terminal reads all signs, or none: each match that fails costs pyparsing an exception.
    prefixes = _terminal(r"(?:(?:[-+~]|not\b)\s*)*", "signs")
    infix = _terminal(r"<=|>=|==|!=|<<|>>|//|[-+*/%<>&|^]|(?:and|or)\b", "an operator")
    # `brackets` has checked before which bracket closes which.
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
    said = _terminal(rf"{_NAME}|[-+]?{_NUMBER}", "a dtype or a size")
    word = _terminal(r"in\b", "'in'").suppress()
    opening, closing = _terminal(r"\[", "'['").suppress(), _terminal(r"\)", "')'").suppress()
    comma = _terminal(",", "','").suppress()
    ends = word - opening - EXPRESSION - comma - EXPRESSION - closing
    into = _terminal(r"into\b", "'into'").suppress()
    packed = _terminal(r"packed\b", "'packed'").suppress()
    square = _terminal(r"\]", "']'").suppress()
    at = _terminal(r"at\b", "'at'").suppress()
    how = _terminal(r"(?:distinct|add)\b", "'distinct' or 'add'")
    place = Group(Opt(at - opening - _separated(EXPRESSION) - square)) + Group(Opt(how))
    within = _terminal(r"within\b", "'within'").suppress()
    promise = Group(Opt(within - EXPRESSION))
    kept = Group(Opt(into - name + place)) + Group(Opt(packed - name)) + promise
    item = Group(name + Group(Opt(colon - said)) + Group(Opt(ends)) + kept)
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
    dotted = _terminal(rf"{_NAME}(?:\s*\.\s*{_NAME})?", "a name")
    number = _terminal(rf"[-+]?{_NUMBER}", "a number")
    dot = _terminal(r"\.", "'.'").suppress()
    colon, slash = _terminal(":", "':'").suppress(), _terminal("/", "'/'").suppress()
    opening, closing = _terminal(r"\(", "'('").suppress(), _terminal(r"\)", "')'")
    choice = _choice(dotted, number)
    value = number | choice | (name + Opt(slash - (number | choice)))
    argument = Group((dotted | number | choice) + Opt(colon - value))
    arguments = Group(opening - Opt(_separated(argument)) - closing)
    return name + (dot - name - FollowedBy(_terminal(r"\(", "'('")) - arguments)


def _choice(name: ParserElement, number: ParserElement) -> ParserElement:
    """Return the grammar of a choice, as `{1, 2, 8..64 *2}`."""
    dots, step = _terminal(r"\.\.", "'..'").suppress(), _terminal(r"[*+]", "'*' or '+'")
    option = Group(name | (number + Opt(dots - number + Opt(step - number))))
    return Group(_terminal(r"\{", "'{'") - _separated(option) - _terminal(r"\}", "'}'"))


def _alternatives() -> ParserElement:
    """Return the grammar of alternatives: `{ f.map(x, y) | f.num_warps(4), f.num_stages(2) | }`."""
    bar = _terminal(r"\|", "'|'").suppress()
    alternatives = Forward()
    option = Group(Opt(_separated(Group(DIRECTIVE) | alternatives)))
    listed = option + ZeroOrMore(bar - option)
    alternatives <<= Group(_terminal(r"\{", "'{'") - listed - _terminal(r"\}", "'}'"))
    return alternatives


def _constraint() -> ParserElement:
    """Return the grammar of a constraint, as `where f.tensorize.y <= block.y and num_warps < 8`."""
    return _terminal(r"where\b", "'where'") - _expression(rf"(?:\s*\.\s*{_NAME})*")


def _algorithm() -> ParserElement:
    """Return the grammar of the statement that names a file, as `algorithm "softmax.dt"`."""
    file = _terminal(r"\"[^\"\n\r]*\"|'[^'\n\r]*'", "the name of a file")
    return _terminal(r"algorithm\b", "'algorithm'") - file


# The points of a space are texts that share most of their statements, so matches are kept. The
# offsets in a match count from the beginning of its statement, and nobody changes a match.
@lru_cache(maxsize=512)
def match(element: ParserElement, text: str) -> Any:
    """Return the nested groups of a whole text; pyparsing's exceptions say where it stopped."""
    # pyparsing leaves the type of **kwargs open.
    return element.parse_string(text, parse_all=True)  # pyright: ignore[reportUnknownMemberType]


EXPRESSION = _expression()
DECLARATION = _declaration()
DEFINITION = _definition()
DIRECTIVE = _directive()
ALTERNATIVES = _alternatives()
CONSTRAINT = _constraint()
ALGORITHM = _algorithm()
