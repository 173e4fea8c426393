"""Puts a finished file into its place in one step."""

import os
import sys
import time
from pathlib import Path

TRIES, PAUSE = 20, 0.05  # a second in all
IS_WINDOWS = sys.platform == "win32"


def put_in_place(beside: Path, target: Path) -> None:
    """Let a file take the place of another one, or of none. Raises OSError.

    Windows refuses that while another process has the target open, as scanners of viruses and
    editors do for a moment. So it is tried again there for a second.
    """
    for left in reversed(range(TRIES if IS_WINDOWS else 1)):
        try:
            os.replace(beside, target)
        except PermissionError:
            if not left:
                raise
            time.sleep(PAUSE)
        else:
            return


def claim(beside: Path, path: Path) -> None:
    """Let a file have a second name, unless that is taken. Raises FileExistsError, OSError.

    Where the disk knows no second names, the file gets the name instead of its first one. On
    Windows that fails if the name is taken. Elsewhere, two processes that do it at once may both
    believe that they were first, and the later one is right.
    """
    try:
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError:
        if path.exists():
            raise FileExistsError(str(path)) from None
        os.rename(beside, path)
