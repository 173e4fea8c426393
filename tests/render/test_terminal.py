"""Colours change nothing but colours."""

import re

from dtpoly.render.diagnostic_text import plain
from dtpoly.render.terminal import coloured

LINES = [
    (("error", "bold red"), (": a [bold] title :smile: 'x' 123 " + "long " * 60, "bold")),
    (),
    (("1 | ", "blue"), ("日本 = e\u0301;", "")),
]


def test_only_colours_are_added() -> None:
    text = coloured(LINES)
    assert text.startswith("\x1b[1;31merror\x1b[0m")
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert [line.rstrip() for line in stripped.splitlines()] == plain(LINES).splitlines()
