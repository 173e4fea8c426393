"""Makes the workers of this machine for a place to measure."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field
from queue import SimpleQueue
from typing import Any

from dtpoly.explore.store.measured_question import SetupFacts, UserQuestion
from dtpoly.explore.workers.crew import MEASURING, PREPARING, Crew, Event, JobLimits
from dtpoly.explore.workers.process import NotOpened, Process, Worker
from dtpoly.explore.workers.socket_messages import Message
from dtpoly.explore.workers.turn import turn_of
from dtpoly.frozen import dataclass

MOST_PREPARING = 16
# Triton reads this variable once, when it is imported. If it is 1, nothing can be compiled.
COMPILES = {"TRITON_INTERPRET": "0"}
EACH = 4  # workers of a GPU, since compiling takes longer than measuring


@dataclass(frozen=True, slots=True)
class RunPlace:
    """The place where candidates run: `cuda`, `cpu` in Triton's interpreter, or `simulated`."""

    kind: str
    asked: UserQuestion
    baselines: str = ""  # a file of the user
    each: float = 100.0  # milliseconds of the device for a candidate
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of a simulated device

    @property
    def opening(self) -> Message:
        """Return the message that opens a worker there."""
        if self.kind == "simulated":
            return {"kind": "simulated", "settings": dict(self.settings)}
        asked = asdict(self.asked)
        about = {"place": self.kind, "baselines": self.baselines, "each": self.each}
        return {"kind": "torch", "asked": asked, **about}

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a worker; Triton reads it once, when it is imported."""
        return {"TRITON_INTERPRET": "1" if self.kind == "cpu" else "0"}


@dataclass(frozen=True, slots=True)
class Opened:
    """The facts that workers report of themselves, and baselines that cannot be used."""

    facts: SetupFacts
    failed: Mapping[str, str]


def local(place: RunPlace, count: int | None, gpus: Callable[[], Sequence[str]]) -> list[Process]:
    """Return workers on this machine: this many, or some for each GPU.

    The workers of one GPU take turns in measuring, also with those of other runs on this machine.
    While one of them measures, the others compile.
    """
    if place.kind != "cuda":
        return [Process(place.opening, place.environment) for _ in range(count or 1)]
    found = gpus()
    if not found:
        raise NotOpened("torch finds no GPU here")
    each = max(1, min(EACH, (os.cpu_count() or 1) // len(found)))
    turns = {number: turn_of(number) for number in found}
    numbers = [found[at % len(found)] for at in range(count or each * len(found))]
    return [
        Process(
            place.opening,
            {**place.environment, "CUDA_VISIBLE_DEVICES": number},
            turn=turns[number],
        )
        for number in numbers
    ]


def visible(count: Callable[[], int], environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the GPUs that this process may use, by their names in CUDA."""
    words = environment.get("CUDA_VISIBLE_DEVICES")
    if words is not None:
        return [word.strip() for word in words.split(",") if word.strip()]
    return [str(at) for at in range(count())]


def opened(workers: Sequence[Worker]) -> Opened:
    """Open the first worker, and require that the others report the same facts.

    Raises NotOpened.
    """
    said = workers[0].open()
    for worker in workers:
        worker.wanted = said["facts"]
    return Opened(SetupFacts(**said["facts"]), said["failed"])


def crews_of(
    benches: Sequence[Worker],
    model: Mapping[str, Any],
    floor: float,
    count: int | None = None,
    plugins: Sequence[str] = (),
) -> Callable[[SimpleQueue[Event]], tuple[Crew, Crew]]:
    """Return a function that makes two crews: one that prepares here, and one that measures."""
    prepare = preparing(model, count, plugins)

    def crews(events: SimpleQueue[Event]) -> tuple[Crew, Crew]:
        return prepare(events), Crew(MEASURING, benches, events, JobLimits(floor))

    return crews


def preparing(
    model: Mapping[str, Any], count: int | None = None, plugins: Sequence[str] = ()
) -> Callable[[SimpleQueue[Event]], Crew]:
    """Return a function that makes the crew that emits, compiles and proves.

    If there is a model, the crew also predicts times. Each process loads the plugins, which are
    files, for itself.
    """
    many = count or min(os.cpu_count() or 1, MOST_PREPARING)

    def crew(events: SimpleQueue[Event]) -> Crew:
        opening = {
            "kind": "prepare",
            "model": dict(model),
            "plugins": [*map(os.path.abspath, plugins)],
        }
        return Crew(PREPARING, [Process(opening, COMPILES) for _ in range(many)], events)

    return crew
