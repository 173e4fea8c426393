"""Asks isl a question with a limit on its work, and returns None where the limit does not suffice.

The work is counted in isl's own operations, so that the answer does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from dtpoly.budget import counted
from dtpoly.poly.lazy import isl
from dtpoly.poly.remembered import forget
from dtpoly.poly.spaces import PolyError

T = TypeVar("T")


@contextmanager
def limited(operations: int) -> Generator[None]:
    """At most so many operations within, of which 1.5 million take about a second.

    All that is asked afterwards fails at once; so ask through `answered`.
    """
    with counted(isl.DEFAULT_CONTEXT, operations):
        yield


def answered(ask: Callable[[], T]) -> T | None:
    """The answer, or None if the operations that are allowed did not suffice."""
    try:
        return ask()
    except (PolyError, isl.Error, TypeError, ValueError, AttributeError, AssertionError):
        # What isl does not answer is missing somewhere: islpy says so in many ways.
        if _is_spent():
            forget()
            return None
        raise


def _is_spent() -> bool:
    try:
        isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)
    except isl.Error:
        return True
    return False
