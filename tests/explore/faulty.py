"""Runs a process of the pruner that answers, hangs or dies, as a test asks."""

import os
import signal
import time

from dtpoly.explore.prune.prune import CompiledCall, KeyedSchedule, PruneOutcome, Reason


def outcome(candidate: KeyedSchedule, call: CompiledCall) -> PruneOutcome:
    """Do what the text of the candidate says."""
    match candidate.text:
        case "hang":
            time.sleep(1000)
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            os._exit(3)
        case "spill":
            return PruneOutcome(candidate.key, Reason.SPILLS, f"for {call.target}")
        case _:
            pass
    return PruneOutcome(candidate.key, None)
