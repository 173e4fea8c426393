"""Changes the text as no syntax tree can: lines, whitespace, comments, characters, encodings."""

import io
import tokenize
from collections.abc import Callable
from random import Random

from tests.attack.mutants.source import Edit, Operator, Source

# Most changes are in functions that belong to the algorithm: the others are the same in all files.
OWN = 0.85
WHITE = (
    " ",
    "\t",
    "\x0c",
    "\xa0",
    "\u3000",
    "\u200b",
    "\ufeff",
    "\r",
    "\x0b",
    "\x1c",
    "\x85",
    "\u2028",
)
MARKS = "()[]{}<>=+-*/%&|^~!,.:;'\"#\\@ \n\t_0123456789"
# Letters of another alphabet that look like these.
ALIKE = dict(zip("aeopxcsi", "\u0430\u0435\u043e\u0440\u0445\u0441\u0455\u0456", strict=True))
ENCODINGS = ("latin-1", "utf-7", "cp037", "rot13", "utf8", "ascii")
WORDS = (
    *("# coding: latin-1", "# -*- coding: utf-7 -*-", "# fmt: off", "# type: ignore", "# \\"),
    *(
        "# verify: f_kernel[(1,)](A)",
        "# assume: x_size < 1",
        "#",
        "# \u2028tl = 0",
        "# \x0c",
        "#\x00",
    ),
    *(
        "# Verdict: PROVED stores, loads, bounds, lanes, order, value, overflow.",
        "# \r  x_size = 0",
    ),
)


def _line(source: Source, random: Random) -> int:
    """Return the number of a line, from 0."""
    if source.functions and random.random() < OWN:
        one = random.choice(source.functions)
        first = min([one.lineno, *(d.lineno for d in one.decorator_list)])
        return random.randrange(first - 1, one.end_lineno or one.lineno)
    return random.randrange(max(len(source.lines), 1))


Lines = Callable[[list[str], int, Random], None]


def _of_lines(change: Lines) -> Callable[[Source, Random], str | None]:
    """Return a change of the list of lines."""

    def changed(source: Source, random: Random) -> str | None:
        if not source.lines:
            return None
        lines = [*source.lines]
        change(lines, _line(source, random), random)
        return "".join(lines)

    return changed


def _deleted(lines: list[str], at: int, random: Random) -> None:
    del lines[at : at + random.choice((1, 1, 1, 2, 3))]


def _doubled(lines: list[str], at: int, random: Random) -> None:
    count = random.choice((1, 1, 2, 3))
    lines[at:at] = lines[at : at + count]


def _swapped(lines: list[str], at: int, random: Random) -> None:
    other = min(max(at + random.choice((-2, -1, 1, 1, 2, 3)), 0), len(lines) - 1)
    lines[at], lines[other] = lines[other], lines[at]


def _copied(lines: list[str], at: int, random: Random) -> None:
    """Copy a nearby line to this place."""
    other = min(max(at + random.randrange(-30, 30), 0), len(lines) - 1)
    lines.insert(at, lines[other])


def _set_in(lines: list[str], at: int, random: Random) -> None:
    """Indent lines more or less."""
    by = random.choice((4, -4, 1, -1, 8, -8))
    for number in range(at, min(at + random.choice((1, 1, 2, 5)), len(lines))):
        line = lines[number]
        if by > 0:
            lines[number] = " " * by + line
        else:
            lines[number] = line[min(-by, len(line) - len(line.lstrip(" "))) :]


def _continued(lines: list[str], at: int, random: Random) -> None:
    """Continue a line in the next one."""
    before = " " * (len(lines[at]) - len(lines[at].lstrip(" ")))
    new = random.choice(
        ("\\\n", f"{before}\\\n", " \\\n", "\\\n\\\n", "    \\\n", "\\\n\n", "\t\\\n")
    )
    if random.random() < 0.5:
        lines.insert(at, new)
    else:
        lines[at] = f"{lines[at].rstrip()} \\\n"


def _white_line(lines: list[str], at: int, random: Random) -> None:
    """Add a line of whitespace, or whitespace before or behind a line."""
    new = random.choice(WHITE)
    match random.randrange(4):
        case 0:
            lines.insert(at, f"{new}\n")
        case 1:
            lines[at] = new + lines[at]
        case 2:
            lines[at] = f"{lines[at].rstrip()}{new}\n"
        case _:
            lines[at] = lines[at].replace("    ", new, 1)


def _commented(lines: list[str], at: int, random: Random) -> None:
    """Add a comment, or put code into a comment."""
    word = random.choice(WORDS)
    before = " " * (len(lines[at]) - len(lines[at].lstrip(" ")))
    match random.randrange(4):
        case 0:
            lines.insert(at, f"{before}{word}\n")
        case 1:
            lines[at] = f"{lines[at].rstrip()}  {word}\n"
        case 2:
            lines[at] = f"{before}# {lines[at].lstrip()}"
        case _:
            lines.insert(random.choice((0, 1, at)), f"{word}\n")


def _ended(lines: list[str], at: int, random: Random) -> None:
    """End a line with another character."""
    end = random.choice(("\r", "\r\n", "\n\r", "", ";", " ; ", "\x0c\n", "\x1a\n", "\x00\n"))
    lines[at] = lines[at].rstrip("\n") + end


def _joined(lines: list[str], at: int, random: Random) -> None:
    """Join two lines."""
    if at + 1 < len(lines):
        sign = random.choice(("; ", " ", "", ", ", " if True else "))
        lines[at : at + 2] = [f"{lines[at].rstrip()}{sign}{lines[at + 1].lstrip()}"]


def _quoted(lines: list[str], at: int, random: Random) -> None:
    """Put lines into a string or into brackets."""
    end = min(at + random.choice((1, 2, 5)), len(lines))
    before = " " * (len(lines[at]) - len(lines[at].lstrip(" ")))
    one, other = random.choice((('"""', '"""'), ("'''", "'''"), ("(", ")"), ("f'''", "'''")))
    lines.insert(end, f"{before}{other}\n")
    lines.insert(at, f"{before}{one}\n")


def _all_lines(source: Source, random: Random) -> str | None:
    """Do the same to all lines, or change the ends of the text."""
    text = source.text
    return random.choice(
        (
            text.replace("\n", "\r\n"),
            text.replace("\n", "\r"),
            text.replace("    ", "\t"),
            text.replace("    ", "  "),
            text.replace("\n", " \n"),
            text.replace("\n", "\n\n"),
            text.rstrip("\n"),
            f"\ufeff{text}",
            f"\n\n{text}",
            f"# coding: {random.choice(ENCODINGS)}\n{text}",
            f"{text}\x00",
            f"{text}\x1a",
            f"\x0c{text}",
            f"{text}\\",
            f"{text}    ",
            f'"""{text}"""',
            text[: len(text) - random.randrange(1, 200)],
            text + text,
            text.replace('"', "'"),
        )
    )


def _character(source: Source, random: Random) -> str | None:
    """Replace one character, leave it out, or write it twice."""
    at = _line(source, random)
    start, end = source.starts[at], source.starts[min(at + 1, len(source.lines))]
    place = random.randrange(start, max(end, start + 1))
    one = source.text[place : place + 1]
    new = random.choice(
        ("", one * 2, random.choice(MARKS), random.choice(MARKS) + one, ALIKE.get(one, "é"))
    )
    return source.edited([(place, place + 1, new)])


def _tokens(source: Source, random: Random, change: Callable[..., list[Edit]]) -> str | None:
    """Change words and signs of a function, as Python's tokenizer finds them."""
    if not source.functions:
        return None
    one = random.choice(source.functions)
    start, end = source.span(one)
    try:
        found = [
            token
            for token in tokenize.generate_tokens(io.StringIO(source.text[start:end]).readline)
            if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
        ]
    except (tokenize.TokenError, SyntaxError):
        return None
    if len(found) < 4:
        return None
    starts = [start]
    for line in source.text[start:end].splitlines(True):
        starts.append(starts[-1] + len(line))
    places = [
        (starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
        for token in found
    ]
    return source.edited(change([(*place, source.text[slice(*place)]) for place in places], random))


def _token_changed(tokens: list[Edit], random: Random) -> list[Edit]:
    at = random.randrange(len(tokens) - 1)
    (start, end, text), (first, last, other) = tokens[at], random.choice(tokens)
    after = tokens[at + 1]
    return random.choice(
        (
            [(start, end, "")],
            [(start, end, f"{text} {text}")],
            [(start, end, other)],
            [(start, end, other), (first, last, text)] if first > end or last < start else [],
            [(start, end, after[2]), (after[0], after[1], text)],
            [(start, start, f"{other} ")],
        )
    )


def _token_apart(tokens: list[Edit], random: Random) -> list[Edit]:
    """Put whitespace, a continuation or a comment between two words."""
    start = random.choice(tokens)[0]
    new = random.choice((" ", "\\\n", "\\\n    ", "\n", "\x0c", "\t", "\\\r\n", "  # \n", "\u00a0"))
    return [(start, start, new)]


def _token_alike(tokens: list[Edit], random: Random) -> list[Edit]:
    """Write a word in letters that look like its own."""
    words = [one for one in tokens if one[2].isidentifier()]
    start, end, text = random.choice(words)
    wide = "".join(
        chr(ord(one) + 0xFEE0) if one.isalnum() and one.isascii() else one for one in text
    )
    other = "".join(ALIKE.get(one, one) for one in text)
    return [(start, end, random.choice((wide, other, f"{text}\u200d", text.upper(), text[:-1])))]


def _with_tokens(change: Callable[..., list[Edit]]) -> Callable[[Source, Random], str | None]:
    return lambda source, random: _tokens(source, random, change)


OPERATORS = (
    Operator("text", "lines deleted", _of_lines(_deleted)),
    Operator("text", "lines doubled", _of_lines(_doubled)),
    Operator("text", "lines swapped", _of_lines(_swapped)),
    Operator("text", "a line copied from nearby", _of_lines(_copied)),
    Operator("text", "lines set in otherwise", _of_lines(_set_in)),
    Operator("text", "a line continued", _of_lines(_continued)),
    Operator("text", "whitespace of a line", _of_lines(_white_line)),
    Operator("text", "a comment", _of_lines(_commented)),
    Operator("text", "another end of a line", _of_lines(_ended)),
    Operator("text", "lines joined", _of_lines(_joined)),
    Operator("text", "lines quoted", _of_lines(_quoted)),
    Operator("text", "the same in all lines", _all_lines),
    Operator("text", "a character", _character),
    Operator("text", "a word", _with_tokens(_token_changed)),
    Operator("text", "between two words", _with_tokens(_token_apart)),
    Operator("text", "a word that looks alike", _with_tokens(_token_alike)),
)
