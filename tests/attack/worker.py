"""A process that makes attempts: it reads a seed a line, and writes an outcome a line.

    python -m tests.attack.worker MODULE

What attempts print goes to the standard error, since the standard output carries the outcomes.
"""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, TextIO

from tests.attack.outcome import Outcome, Verdict

READY = "ready"


def as_data(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as JSON has it."""
    return {
        "verdict": outcome.verdict.value,
        "what": outcome.what,
        "case": outcome.case,
        "figures": dict(outcome.figures),
    }


def of_data(data: dict[str, Any]) -> Outcome:
    """Return the outcome that JSON says."""
    figures = {str(one): int(value) for one, value in data.get("figures", {}).items()}
    verdict = Verdict(data["verdict"])
    return Outcome(verdict, str(data.get("what", "")), str(data.get("case", "")), figures)


def attempted(attempt: Callable[[int], Outcome], seed: int) -> Outcome:
    """Make one attempt; an exception that leaves it is an outcome, too."""
    try:
        return attempt(seed)
    except MemoryError:
        return Outcome(Verdict.LARGE, "a MemoryError was raised", traceback.format_exc())
    except (Exception, SystemExit) as error:
        first = f"{type(error).__name__}: {error}".splitlines()[0]
        return Outcome(Verdict.CRASH, first, traceback.format_exc())


def attempt_of(module: str) -> Callable[[int], Outcome]:
    """Return the function `attempt` of a campaign's module."""
    found: Callable[[int], Outcome] = vars(importlib.import_module(module))["attempt"]
    return found


def main() -> None:
    """Make an attempt for each seed that is asked for, until nobody asks."""
    # The outcomes keep the standard output for themselves; all else is written to the other one.
    outcomes: TextIO = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    attempt = attempt_of(sys.argv[1])
    outcomes.write(f"{READY}\n")
    outcomes.flush()
    for line in sys.stdin:
        outcomes.write(json.dumps(as_data(attempted(attempt, int(line)))) + "\n")
        outcomes.flush()


if __name__ == "__main__":
    main()
