"""Does the different kinds of work of a worker process; jobs and answers are plain data."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from typing import Any

from dtpoly.explore.bench.bench import Bench, Candidate, measured, prepared
from dtpoly.explore.bench.simulated import SimulatedBench
from dtpoly.explore.store.measured_question import UserQuestion
from dtpoly.explore.store.results import (
    EmittedText,
    Fit,
    FunctionCall,
    Outcome,
    Proven,
    RefusedPoint,
    Result,
    TextProof,
)
from dtpoly.explore.workers.socket_messages import Message
from dtpoly.frozen import dataclass
from dtpoly.garbage import look_seldom

Job = Callable[[Message], Message]


@dataclass(frozen=True, slots=True)
class Servant:
    """A function that does one kind of job, and the report before the first job."""

    said: Message
    do: Job


def load(kind: str) -> None:
    """Import the packages that load slowly, if they are installed."""
    with suppress(ImportError):
        if kind == "torch":
            import_module("dtpoly.explore.bench.on_torch")


def opened(opening: Message) -> Servant:
    """Return the servant that a first message asks for; packages for one kind are imported now."""
    match opening["kind"]:
        case "prepare":
            return _preparing(opening["model"], opening["plugins"])
        case "simulated":
            return _measuring(SimulatedBench(**opening["settings"]), {})
        case _:
            asked = UserQuestion(**opening["asked"])
            baselines = import_module("dtpoly.explore.bench.baselines").load(opening["baselines"])
            module: Any = import_module("dtpoly.explore.bench.on_torch")
            bench = module.TorchBench(asked, opening["place"], baselines, opening["each"])
            return _measuring(bench, bench.failed)


def _preparing(model: Mapping[str, Any], plugins: Sequence[str]) -> Servant:
    module: Any = import_module("dtpoly.explore.prune.steps")
    look_seldom()
    do: Job = module.preparing(model, plugins)
    return Servant({}, do)


def _measuring(bench: Bench, failed: Mapping[str, str]) -> Servant:
    return Servant({"facts": asdict(bench.facts()), "failed": dict(failed)}, Measuring(bench).do)


@dataclass(slots=True)
class Measuring:
    """A bench, and the candidate that is ready on it."""

    bench: Bench
    candidate: Candidate | None = None

    def do(self, job: Message) -> Message:
        """Do one of the two steps of a job: prepare a candidate, or measure it."""
        if "candidate" in job:
            fields: dict[str, Any] = {"call": call_of(job["candidate"]["call"])}
            self.candidate = Candidate(**{**job["candidate"], **fields})
            found = prepared(self.bench, self.candidate)
            return {"is_ready": True} if found is None else asdict(found)
        assert self.candidate is not None
        return asdict(measured(self.bench, self.candidate, job["bound"]))


def job_of(candidate: Candidate, bound: float | None) -> tuple[Message, Message]:
    """Make the two messages to a device: prepare, then measure; `bound` is in milliseconds."""
    return {"candidate": asdict(candidate)}, {"bound": bound}


def result_of(answer: Message) -> Result:
    """Read the answer of a device."""
    fields: dict[str, Any] = {**answer, "outcome": Outcome(answer["outcome"])}
    return Result(**fields)


def call_of(answer: Message) -> FunctionCall:
    """Read how a function is called; JSON has no tuples."""
    fields: dict[str, Any] = {**answer, "others": tuple(answer["others"])}
    return FunctionCall(**fields)


def made_of(answer: Message) -> EmittedText | RefusedPoint:
    """Read the answer of an emitter."""
    if "text" in answer:
        return EmittedText(answer["text"], call_of(answer["call"]))
    return RefusedPoint(answer["kind"], answer["reason"])


def fit_of(answer: Message) -> Fit:
    """Read the answer of a compiler."""
    return Fit(**answer)


def proof_of(answer: Message) -> TextProof:
    """Read the answer of a process that proves."""
    return TextProof(**{**answer, "verdict": Proven(answer["verdict"])})


def flush() -> None:
    """Flush the output of a job, so that it is kept if the next job ends the process."""
    sys.stdout.flush()
    sys.stderr.flush()
