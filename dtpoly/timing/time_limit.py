"""Stops a block of code when its seconds are over."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


class TooLong(Exception):
    """The time for something is over."""


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """Raise TooLong in the block; a call into a library is let finish first."""
    if seconds <= 0:
        raise TooLong("there was no time left for it in this row")
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):
        yield  # Only the main thread is stopped, and Windows has no such clock.
        return

    def stop(_: int, __: FrameType | None) -> None:
        raise TooLong(f"it took longer than {seconds:.0f} s to make ready")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
