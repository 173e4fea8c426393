"""Makes the result that is kept from the answer of a worker and the proof of its text."""

from dataclasses import replace

from dtpoly.explore.store.result_store import WAITING
from dtpoly.explore.store.results import Outcome, Proven, Result, TextProof
from dtpoly.explore.workers.crew import Done
from dtpoly.explore.workers.process import Gone, NoAnswer
from dtpoly.explore.workers.servants import result_of


def answered(event: Done) -> Result:
    """Return the result of a candidate, from its worker's answer or from its silence."""
    if isinstance(event.answer, Gone):
        return _unanswered(event.answer, event.seconds)
    return replace(result_of(event.answer), seconds=event.seconds)


def _unanswered(gone: Gone, seconds: float) -> Result:
    match gone.how:
        case NoAnswer.HUNG:
            return Result(Outcome.HUNG, "no answer in time", gone.reason, seconds=seconds)
        case NoAnswer.CRASHED:
            return Result(Outcome.CRASHED, "ended its process", gone.reason, seconds=seconds)
        case NoAnswer.KILLED:
            return Result(Outcome.CRASHED, "killed twice", gone.reason, seconds=seconds)
        case NoAnswer.FAILED:
            kind = gone.reason.partition(":")[0]
            return Result(Outcome.FAILED, kind, gone.reason, seconds=seconds)


def judged(result: Result, proof: TextProof | None) -> Result:
    """Return a result changed by the proof of its text.

    A time counts if everything is proved, or if nobody asked for a proof.
    """
    if proof is None:
        return result
    match proof.verdict:
        case Proven.REFUTED:
            # The time of a refuted text would be that of another algorithm.
            return Result(Outcome.BUG, f"refuted: {proof.layer}", proof.reason)
        case Proven.UNKNOWN if result.is_timed:
            kind = f"not proved: {proof.layer}" if proof.layer else "not proved"
            return replace(result, outcome=Outcome.UNPROVED, kind=kind, reason=proof.reason)
        case Proven.PROVED if result.outcome is Outcome.WRONG:
            return replace(result, kind=f"{result.kind}, though proved")
        case _:
            return result


def waiting(result: Result) -> Result:
    """Return the result of a measured candidate whose proof is no longer awaited."""
    if not result.is_timed:
        return result
    return replace(result, outcome=Outcome.UNPROVED, kind=WAITING, reason=result.outcome)


def awaited(result: Result) -> Result:
    """Restore a result. Law: `awaited(waiting(r))` is r, but for the reason why it was slow."""
    assert result.kind == WAITING
    outcome = Outcome(result.reason)
    kind = "stopped early" if outcome is Outcome.SLOW else ""
    return replace(result, outcome=outcome, kind=kind, reason="")
