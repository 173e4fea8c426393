"""Writes the tokens of a valid text with other spaces, lines and comments."""

from collections.abc import Callable

from dtpoly.frontend.lexical import scan
from dtpoly.source import Source
from tests.generation.choice import Choose, pick

SPACES = ("", " ", "   ", "\t", " \t ", "\f")
LINE_ENDS = ("\n", "\r\n", "\n\n\n\n", "\n \t\n", "\r")
COMMENTS = ("#", "# a", "#b", "#!c", "## d", "#\te\t ", "# é '; f[x] = (", "#" * 12, "#  \u2028 f")


def respaced(choose: Choose, text: str) -> str:
    """Change the spaces between tokens; line ends stay where they are."""
    return _relaid(text, lambda gap: pick(choose, SPACES) + "\n" * gap.count("\n"))


def relaid(choose: Choose, text: str) -> str:
    """Put spaces, line ends and comments anywhere."""

    def gap(_: str) -> str:
        kind = choose(8)
        if kind < 5:
            return pick(choose, SPACES)
        comment = pick(choose, COMMENTS) if kind == 7 else ""
        before, after = pick(choose, SPACES), pick(choose, SPACES)
        return f"{before}{comment}{pick(choose, LINE_ENDS)}{after}"

    return _relaid(text, gap)


def _relaid(text: str, gap: Callable[[str], str]) -> str:
    parts: list[str] = []
    end = 0
    for token in scan(Source("layout.dt", text)).tokens:
        parts.append(
            _apart(parts[-1] if parts else "", gap(text[end : token.span.start]), token.text)
        )
        parts.append(token.text)
        end = token.span.end
    return "".join((*parts, gap(text[end:])))


def _apart(left: str, gap: str, right: str) -> str:
    """Return the gap, or a space if the two tokens would become one without it."""
    if gap or not left:
        return gap
    tokens = scan(Source("layout.dt", left + right)).tokens
    return "" if [token.text for token in tokens] == [left, right] else " "
