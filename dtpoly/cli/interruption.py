"""Ends a process at once and without a message if it is interrupted while it begins or ends.

Until the modules of a command are loaded there is nothing to tidy up, and nobody would catch a
KeyboardInterrupt. In the middle of a module it may come out as another exception.
"""

import os
from importlib import import_module

INTERRUPTED = 130

# Python's own `signal` takes a millisecond to load, and an interruption in that time would print a
# traceback. The module `_signal` is part of the interpreter.
_signal = import_module("_signal")


def end_at_once() -> None:
    """Let an interruption end the process, unless the caller of the process ignores it."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)


def be_raised() -> None:
    """Let an interruption raise KeyboardInterrupt again."""
    if _signal.getsignal(_signal.SIGINT) is _end:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _end(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)
