"""Runs a process of the pruner that answers, hangs or dies, as a test asks."""

import os
import signal
import time

from dtpoly.explore.prune.prune import Call, Candidate, Outcome, Reason


def outcome(candidate: Candidate, call: Call) -> Outcome:
    """Do what the text of the candidate says."""
    match candidate.text:
        case "hang":
            time.sleep(1000)
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            os._exit(3)
        case "spill":
            return Outcome(candidate.key, Reason.SPILLS, f"for {call.target}")
        case _:
            pass
    return Outcome(candidate.key, None)
