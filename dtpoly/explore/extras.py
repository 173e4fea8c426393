"""Imports a package that only some commands need, or says what to install."""

from importlib import import_module
from typing import Any


class MissingExtra(Exception):
    """Raised if a package is not installed."""


def extra(package: str, group: str) -> Any:
    """Import a package. Raises MissingExtra, which says how to install it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package.partition(".")[0]:
            raise
        way = f"pip install 'dtpoly[{group}]'"
        raise MissingExtra(f"{package.partition('.')[0]} is not installed: {way}") from None
