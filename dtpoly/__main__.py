"""`python -m dtpoly` and the `dtpoly` command: arguments in, exit code out.

What takes time is loaded when it is settled what an interruption does.
"""

import sys
from importlib import import_module

from dtpoly.cli.interruption import end_at_once
from dtpoly.garbage import look_seldom


def entry() -> int:
    """Run the command line of the process."""
    end_at_once()
    look_seldom()
    code: int = import_module("dtpoly.cli.main").entry()
    end_at_once()
    return code


if __name__ == "__main__":
    sys.exit(entry())
