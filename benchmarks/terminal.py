"""Chooses where tables are printed, and how wide."""

import sys

from rich.console import Console

WIDTH = 140  # a file has none of its own


def console() -> Console:
    """Return the standard output."""
    return Console(width=None if sys.stdout.isatty() else WIDTH)
