"""Loads generated files, runs them, and compares their results with those of the reference."""

from importlib import import_module
from typing import Any

from dtpoly.plan.runtime_text import OFFERED


def __getattr__(name: str) -> Any:
    """Load the runtime of files that import it when it is first used: it needs torch."""
    if name not in OFFERED:
        raise AttributeError(f"module 'dtpoly.runtime' has no attribute '{name}'", name=name)
    return getattr(import_module(f"dtpoly.carried.{OFFERED[name]}"), name)
