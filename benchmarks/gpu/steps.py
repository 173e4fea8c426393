"""Tells how far a session is."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.gpu.results import RowResult


@dataclass(frozen=True, slots=True)
class Step:
    """A report before a row and after it: how far the session is, and the results."""

    what: str
    done: int
    of: int
    row: RowResult | None = None
    is_row: bool = True


Tell = Callable[[Step], None]
