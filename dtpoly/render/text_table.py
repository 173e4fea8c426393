"""Lays rows of words out as a table for a person."""

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtpoly.render.printable import printable

WIDEST = 1000  # columns where there is no terminal, so that nothing is broken


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, *, colour: bool
) -> str:
    """Return a table that is as wide as necessary, but not wider than the terminal."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for word in head:
        shown.add_column(word, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(printable(word)) for word in row))
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_jupyter=False,  # In a notebook rich would show the table itself, and return nothing.
        width=width or WIDEST,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
    )
    console.print(shown)
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())
