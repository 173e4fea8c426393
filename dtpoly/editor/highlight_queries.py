"""Makes the query by which tree-sitter colours a file, from the words of the language.

A pattern takes each node at most once, so it does not matter whether an editor lets the first or
the last pattern win.
"""

from collections.abc import Iterable

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.operations import CALL_NAMES, INFIX
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.lexical import DECLARATION_WORDS
from dtpoly.frontend.symbols import PACKED

PUNCTUATION = ("(", ")", "[", "]", "{", "}")
WIDTH = 98


def highlights(operators: Iterable[str], constants: Iterable[str], placed: Iterable[str]) -> str:
    """Return the query, given the words that are operators, numbers, and words at their places."""
    dtypes = sorted((*DType, *PACKED))
    directives = sorted({word for one in DIRECTIVES for word in (one.name, *one.aliases)})
    symbols = sorted({one for one in INFIX if not one.isalpha()} | {"=", "~", ".."})
    words = sorted(operators)
    parts = (
        "; Colours .dt files. Made by python -m dtpoly.editor.grammars from the language itself.",
        "(comment) @comment",
        "(string) @string",
        "(number) @number",
        f"; {' '.join(sorted(constants))}\n(constant) @constant.builtin",
        _any_of_literals(DECLARATION_WORDS, "keyword.type"),
        _any_of_literals(words, "keyword.operator"),
        _any_of_literals(placed, "keyword"),
        _any_of_literals(symbols, "operator"),
        _any_of_literals(PUNCTUATION, "punctuation.bracket"),
        _any_of_literals((",", ";", ":", "."), "punctuation.delimiter"),
        _among("(identifier) @type.builtin", "type.builtin", dtypes),
        _among("(call function: (identifier) @function.builtin)", "function.builtin", CALL_NAMES),
        "; Directives of the language, and those of plugins.",
        _among(
            "(directive name: (identifier) @function.method.builtin)",
            "function.method.builtin",
            directives,
        ),
        "((directive name: (identifier) @function.method)\n"
        f'  (#not-match? @function.method "^({"|".join(directives)})$"))',
    )
    return "".join(f"{part}\n" for part in parts)


def _any_of_literals(words: Iterable[str], colour: str) -> str:
    """Return the pattern that colours words of the grammar."""
    return "\n".join(_filled("[", [f'"{word}"' for word in words], f"] @{colour}"))


def _among(pattern: str, colour: str, words: Iterable[str]) -> str:
    """Return the pattern that colours names if they are among some words."""
    start = f"({pattern}\n  (#any-of? @{colour}"
    return "\n".join(_filled(start, [f'"{word}"' for word in sorted(words)], "))"))


def _filled(start: str, words: Iterable[str], end: str) -> list[str]:
    """Return lines with a start, words that are filled up to a width, and an end."""
    lines, line = start.split("\n"), ""
    for word in words:
        if len(line) + len(word) > WIDTH - 4:
            lines.append(f"   {line}")
            line = ""
        line += f" {word}"
    lines.append(f"   {line}{end}")
    return lines
