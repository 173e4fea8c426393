"""What an interruption does while a process begins and ends: it is over at once, and in silence.

Until the modules of a command are loaded there is nothing to tidy up, and nobody who would catch a
KeyboardInterrupt; in the middle of a module it may come out as another exception.
"""

import os
from importlib import import_module

INTERRUPTED = 130

# Python's own `signal` takes a millisecond to load, in which an interruption would be told at
# length. What it is built on is part of the interpreter.
_signal = import_module("_signal")


def end_at_once() -> None:
    """Let an interruption end the process. One that the caller of the process ignores still is."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)


def be_raised() -> None:
    """Let an interruption be raised again, as a KeyboardInterrupt."""
    if _signal.getsignal(_signal.SIGINT) is _end:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _end(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)
