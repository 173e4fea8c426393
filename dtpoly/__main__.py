"""`python -m dtpoly` and the `dtpoly` command: arguments in, exit code out.

What takes time is loaded when it is settled what an interruption does.
"""

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from dtpoly.cli.apart import apart, is_apart
from dtpoly.cli.interruption import end_at_once
from dtpoly.garbage import look_seldom


def entry() -> int:
    """Run the command line of the process."""
    end_at_once()
    arguments = sys.argv[1:]
    return apart(_run, partial(_late, arguments)) if is_apart(arguments) else _run()


def _run() -> int:
    look_seldom()
    code: int = import_module("dtpoly.cli.main").entry()
    end_at_once()
    return code


def _late(arguments: Sequence[str], stage: str) -> int:
    """Say that the time is over."""
    code: int = import_module("dtpoly.cli.late").tell(arguments, stage)
    return code


if __name__ == "__main__":
    sys.exit(entry())
