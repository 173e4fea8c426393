"""`python -m dtpoly` and the `dtpoly` command: they run the command line and give its exit code.

The first thing is to settle what an interruption does. All that takes time is loaded after that.
"""

import os
import sys
from importlib import import_module

try:
    from dtpoly.cli.interruption import end_at_once
except KeyboardInterrupt:
    os._exit(130)


def entry() -> int:
    """Run the command line of the process."""
    end_at_once()
    try:
        return _entry(sys.argv[1:])
    except (EOFError, ValueError, TypeError) as error:
        said: str | None = import_module("dtpoly.cli.bytecode").damaged(error)
        if said is None:
            raise
        print(said, file=sys.stderr)
        return 1


def _entry(arguments: list[str]) -> int:
    if not import_module("dtpoly.cli.commands_apart").is_apart(arguments):
        return _run()
    code: int = import_module("dtpoly.system.apart").apart(_run, _late)
    return code


def _run() -> int:
    import_module("dtpoly.garbage").look_seldom()
    code: int = import_module("dtpoly.cli.main").entry()
    end_at_once()
    return code


def _late(stage: str, limit: str) -> int:
    """Say that the time or the memory is over."""
    code: int = import_module("dtpoly.cli.late").tell(sys.argv[1:], stage, limit)
    return code


if __name__ == "__main__":
    sys.exit(entry())
