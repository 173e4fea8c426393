"""Stops a block of code when its seconds are over."""

from collections.abc import Generator
from contextlib import contextmanager

from dtpoly.system.alarm import ringing


class TooLong(Exception):
    """The time for something is over."""


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """Raise TooLong in the block; a call into a library is let finish first."""
    if seconds <= 0:
        raise TooLong("there was no time left for it in this row")
    with ringing(seconds, TooLong(f"it took longer than {seconds:.0f} s to make ready")):
        yield
