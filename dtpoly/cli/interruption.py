"""What an interruption does while a process begins and ends: it is over at once, and in silence.

Until the modules of a command are loaded there is nothing to tidy up, and nobody who would catch a
KeyboardInterrupt; in the middle of a module it may come out as another exception.
"""

import os
import signal

INTERRUPTED = 130


def end_at_once() -> None:
    """Let an interruption end the process. One that the caller of the process ignores still is."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def be_raised() -> None:
    """Let an interruption be raised again, as a KeyboardInterrupt."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)
