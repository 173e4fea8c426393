"""Makes texts that are almost, or not at all, texts of the language."""

from collections.abc import Callable, Sequence

from dtpoly.frontend.lexical import Token, scan
from dtpoly.source import Source
from tests.generation.choice import Choose, pick

WORDS = (
    *("Func", "In", "SIn", "Var", "RVar", "and", "or", "not", "inf", "nan"),
    *("f", "g", "A", "alpha", "x", "y", "k", "_", "undeclared", "Funk", "rsum", "exp", "rdot"),
    *("cast", "len", "pad", "reshape", "program_id", "where", "pow", "f32", "bool", "float"),
    *("block", "tensorize", "map", "fuse_at", "compile", "num_warps", "split", "recompute"),
    *("0", "1", "2", "16", "0.5", "1e5", "1e999", "1_0", "0x1f", "3.f", "9" * 30, ".5", "5."),
    *("+", "-", "*", "/", "%", "<", "<=", "==", "!=", "=", "(", ")", "[", "]", ",", ".", ":"),
    *(";", ";", "->", "**", "//", "/*", "&&", "!", "@", "?", "{", "}", "# c\n", "#", "'", '"'),
    *("\n", "\t", "\r\n", " "),
)
CHARACTERS = (
    *"();[],.:#=+-*/<>! \n\t\r\0\x07\x1b\x7f09azAZ_",
    *"\u00a0\u00e9\u03b1\u0301\u200b\u200f\u2028\u202e\u2212\u2264\u221e\u00b2\u0664\ufeff\uffff",
    *"\U0001f600\U0001d465\U000e0041",
)


def random_bytes(choose: Choose) -> bytes:
    """Return bytes, characters or words in any order."""
    length = choose(120)
    match choose(4):
        case 0:
            return bytes(choose(256) for _ in range(length))
        case 1:
            return bytes(32 + choose(95) for _ in range(length))
        case 2:
            return "".join(pick(choose, CHARACTERS) for _ in range(length)).encode()
        case _:
            words = (pick(choose, WORDS) + pick(choose, ("", " ", " ")) for _ in range(length))
            return "".join(words).encode()


def mutated(choose: Choose, text: str) -> str:
    """Return the text after one to four changes."""
    for _ in range(1 + choose(4)):
        text = pick(choose, _CHANGES)(choose, text)
    return text


def _tokens(text: str) -> tuple[Token, ...]:
    return scan(Source("mutation.dt", text)).tokens


def _replaced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _change_token(choose: Choose, text: str) -> str:
    """Delete, double or replace a token, or put another one behind it."""
    tokens = _tokens(text)
    if not tokens:
        return pick(choose, WORDS)
    token = pick(choose, tokens)
    word = pick(choose, (pick(choose, WORDS), pick(choose, tokens).text))
    new = pick(choose, ("", f"{token.text} {token.text}", word, f"{token.text} {word} "))
    return _replaced(text, token.span.start, token.span.end, new)


def _swap_tokens(choose: Choose, text: str) -> str:
    tokens = _tokens(text)
    if len(tokens) < 2:
        return text
    first, second = sorted((choose(len(tokens)), choose(len(tokens))))
    if first == second:
        return text
    a, b = tokens[first].span, tokens[second].span
    return text[: a.start] + b.text + text[a.end : b.start] + a.text + text[b.end :]


def _change_character(choose: Choose, text: str) -> str:
    at = choose(len(text) + 1)
    new = "".join(pick(choose, CHARACTERS) for _ in range(choose(3)))
    return _replaced(text, at, at + choose(3), new)


def _change_lines(choose: Choose, text: str) -> str:
    """Delete, double, move or join lines."""
    lines = text.split("\n")
    at, other = choose(len(lines)), choose(len(lines))
    match choose(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines.insert(other, lines.pop(at))
        case _:
            lines[at : at + 2] = ["".join(lines[at : at + 2])]
    return "\n".join(lines)


def _nest(choose: Choose, text: str) -> str:
    """Put brackets or signs around tokens, up to depths that are refused."""
    tokens = _tokens(text)
    if not tokens:
        return text
    first, last = sorted((choose(len(tokens)), choose(len(tokens))))
    deep = pick(choose, (1, 2, 10, 63, 64, 65, 150, 300))
    opening, closing = pick(
        choose, (("(", ")"), ("[", "]"), ("-", ""), ("not ", ""), ("exp(", ")"), ("", "+ 1"))
    )
    inside = text[tokens[first].span.start : tokens[last].span.end]
    new = opening * deep + inside + closing * deep
    return _replaced(text, tokens[first].span.start, tokens[last].span.end, new)


def _cut(choose: Choose, text: str) -> str:
    at = choose(len(text) + 1)
    return pick(choose, (text[:at], text[at:], text[at:] + text[:at]))


_CHANGES: Sequence[Callable[[Choose, str], str]] = (
    _change_token,
    _change_token,
    _change_token,
    _swap_tokens,
    _change_character,
    _change_character,
    _change_lines,
    _nest,
    _cut,
)
