"""Gives tests a space of softmax, workers on simulated devices, and a store with its texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue

from dtpoly.algorithm.show import show
from dtpoly.explore.bench.simulated import MEASURED
from dtpoly.explore.run.exploration import Ended, ExplorationPlan, Tell, explore
from dtpoly.explore.run.preparation import Wants
from dtpoly.explore.space.search_view import Point
from dtpoly.explore.store.measured_question import Question, SetupFacts, UserQuestion
from dtpoly.explore.store.result_store import ResultStore, open_store
from dtpoly.explore.store.results import EmittedText, FunctionCall, Result
from dtpoly.explore.strategies.choice import chosen
from dtpoly.explore.strategies.strategy import Strategy, StrategySetting
from dtpoly.explore.workers.crew import MEASURING, PREPARING, Crew, Event, JobLimits
from dtpoly.explore.workers.process import Process, Worker
from tests.explore.fields import Template, softmax

# A file without kernels, in the form that dtpoly writes: other texts of a store are never run.
HARMLESS = """\
import triton
import triton.language as tl
from dtpoly.runtime import dt_function
"""


def question_of(space: Template) -> Question:
    """Return the question that all tests ask."""
    program = space.program_of(tuple(0 for _ in space.axes))
    text = show(replace(program, directives=()))
    return Question(
        UserQuestion("softmax.dt", text, "softmax", {"x": 64}), SetupFacts("simulated", {})
    )


def points_of(space: Template) -> list[Point]:
    return [p for p in map(space.at, range(space.count)) if p is not None]


def simulated(faults: dict[str, str], folder: Path, pause: float = 0.0) -> Process:
    """Return a worker on a device that makes the faults that it is told to make."""
    settings = {"faults": faults, "folder": str(folder), "pause": pause}
    return Process({"kind": "simulated", "settings": settings})


def few() -> Template:
    """Return a space of 18 points, which is enough for most tests."""
    return softmax(x=("4", "8"), y=("32", "64", "128"))


@dataclass
class Simulation:
    """A file of results in a folder, and runs on it."""

    folder: Path
    space: Template = field(default_factory=few)
    faults: dict[str, str] = field(default_factory=dict[str, str])
    limits: JobLimits = field(default_factory=lambda: JobLimits(floor=1.5))
    workers: Sequence[Worker] = ()
    wants: Wants = field(default_factory=Wants)

    @property
    def path(self) -> Path:
        return self.folder / "run.sqlite"

    def store(self, emits: bool = True) -> ResultStore:
        """Return the open file, with the texts of all points.

        To make them takes time, and is tested elsewhere.
        """
        store = open_store(self.path)
        if emits:
            text = EmittedText(HARMLESS, FunctionCall("softmax", "softmax"))
            shorts = map(self.space.short, points_of(self.space))
            program = question_of(self.space).asked.program_hash
            store.emit(program, dict.fromkeys(shorts, text))
        return store

    def run(
        self,
        strategy: str | Strategy = "exhaustive",
        tell: Tell = lambda _: None,
        emits: bool = True,
        most: int | None = None,
        slow: float | None = None,
    ) -> Ended:
        """Do one run, as the command does it."""
        store = self.store(emits)
        plan = ExplorationPlan(question_of(self.space), self.space, most, slow=slow)
        made = (
            chosen(strategy)(StrategySetting(self.space)) if isinstance(strategy, str) else strategy
        )
        try:
            return explore(plan, made, store, self._crews(), self.wants, tell)
        finally:
            store.close()

    def results(self) -> dict[str, Result]:
        store = open_store(self.path)
        found = {row.point: row.result for row in store.results(1)}
        store.close()
        return found

    def measured(self) -> list[str]:
        """Return the points that a device has timed, in that order."""
        path = self.folder / MEASURED
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.partition(" ")[2] for line in lines]

    def _crews(self) -> Callable[[SimpleQueue[Event]], tuple[Crew, Crew]]:
        workers = self.workers or [simulated(self.faults, self.folder)]

        def crews(events: SimpleQueue[Event]) -> tuple[Crew, Crew]:
            emitters = Crew(
                PREPARING, [Process({"kind": "prepare", "model": {}, "plugins": []})], events
            )
            return emitters, Crew(MEASURING, workers, events, self.limits)

        return crews
