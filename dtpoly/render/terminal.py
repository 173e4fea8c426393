"""Turns styled lines into text with the colour codes of a terminal."""

import io
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from dtpoly.render.snippet import Line


def coloured(lines: Iterable[Line]) -> str:
    """Return the lines with colours; rich must neither break them nor interpret them."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_jupyter=False,  # In a notebook rich would show the lines itself, and return nothing.
        force_terminal=True,
        color_system="standard",
        no_color=False,
        highlight=False,
        soft_wrap=True,
    )
    for line in lines:
        console.print(Text.assemble(*line))
    return buffer.getvalue()
