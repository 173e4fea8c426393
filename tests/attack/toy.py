"""Attempts that fail in every way: with them the runner itself is tested."""

import os
import signal
import sys
import time

from tests.attack.outcome import Outcome, Verdict


def attempt(seed: int) -> Outcome:
    """Do what the seed says."""
    print("an attempt may write to the standard output")
    figures = {"attempts": 1, "sum of seeds": seed}
    match seed:
        case 3:
            time.sleep(3600)
        case 5:
            sys.stderr.write("these are its last words\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGSEGV)
        case 7:
            taken: list[bytes] = []
            while True:
                taken.append(b"x" * 2**26)
                time.sleep(0.02)
        case 11:
            raise ValueError("nobody catches this")
        case 13:
            sys.exit(4)
        case 17:
            return Outcome(Verdict.WRONG, "one and one is three", "assert 1 + 1 == 2", figures)
        case _:
            pass
    return Outcome(Verdict.AGREE, figures=figures)
