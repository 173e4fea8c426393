"""Asks isl a question with a limit on its work; the answer is None if the limit is reached.

The work is counted in isl's own operations, so that the answer does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from dtpoly.budget import counted
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.remembered import forget
from dtpoly.poly.spaces import PolyError

T = TypeVar("T")


@contextmanager
def limited(operations: int) -> Generator[None]:
    """Allow isl at most this many operations inside; 1.5 million take about a second.

    After the limit every further question fails at once, so questions are asked through `answered`.
    """
    with counted(isl.DEFAULT_CONTEXT, operations):
        yield


def answered(ask: Callable[[], T]) -> T | None:
    """Return the answer, or None if the allowed operations did not suffice."""
    try:
        return ask()
    except (PolyError, isl.Error, TypeError, ValueError, AttributeError, AssertionError):
        # If isl does not answer, a part of the result is missing, which islpy reports in many ways.
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
