"""`python -m dtpoly` and the `dtpoly` command: arguments in, exit code out.

What takes time is loaded when it is settled what an interruption does.
"""

import gc
import sys
from importlib import import_module

from dtpoly.cli.interruption import end_at_once


def entry() -> int:
    """Run the command line of the process."""
    end_at_once()
    # Most commands end before there is much garbage: looking for it takes a tenth of the time,
    # and all that was loaded is looked at, too.
    gc.set_threshold(500_000, 50, 50)
    code: int = import_module("dtpoly.cli.main").entry()
    end_at_once()
    return code


if __name__ == "__main__":
    sys.exit(entry())
