"""Loads what draws pictures, which a machine may lack."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

NOT_THERE = "no picture: matplotlib is not installed"


def drawing() -> Any:
    """Return matplotlib's pyplot, which draws off the screen; None if it is not installed."""
    if find_spec("matplotlib") is None:
        return None
    # It has types, but the machine that checks them need not have it.
    pyplot: Any = import_module("matplotlib.pyplot")
    # Whoever makes the picture may have no screen.
    pyplot.switch_backend("agg")
    return pyplot


def saved(pyplot: Any, figure: Any, path: Any) -> str:
    """Write a picture, and say so."""
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
    return f"wrote {path}"
