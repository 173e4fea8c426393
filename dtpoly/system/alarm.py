"""Interrupts code when its seconds are over, and lets Ctrl-C wait while it must not come."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

HAS_CLOCK = hasattr(signal, "setitimer")


@contextmanager
def ringing(seconds: float | None, error: Exception) -> Generator[None]:
    """Raise the error inside after so many seconds; a call into a library is let finish first.

    Only the main thread can be interrupted, and Windows has no such clock. There, and without
    seconds, the code is never interrupted.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if seconds is None or not is_main or not HAS_CLOCK:
        yield
        return

    def ring(_number: int, _frame: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def uninterrupted() -> Generator[None]:
    """Let Ctrl-C wait, and keep it from processes that start here: this process ends them.

    A terminal sends it to all of them, also before they can say that they do not want it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield  # there is no such thing on Windows
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
