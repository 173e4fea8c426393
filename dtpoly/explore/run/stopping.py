"""Turns Ctrl-C into an event, so that a run can keep its unfinished results before it ends."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

TICK = 0.2  # seconds until Ctrl-C is noticed


class NoWorkers(Exception):
    """Raised if no worker is left to do the work; what was stored is kept."""


@contextmanager
def stopping() -> Generator[threading.Event]:
    """Set an event at the first Ctrl-C; a second one raises KeyboardInterrupt."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = [(one, signal.signal(one, handle)) for one in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield stop
    finally:
        for one, handler in before:
            signal.signal(one, handler)
