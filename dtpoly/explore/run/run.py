"""A space, a strategy and workers in; results in a store until the budget is spent, out.

One thread asks, keeps and tells; workers answer it through a queue. Nothing that a candidate does
ends a run: it becomes a result. What is stored is never asked of a device again.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import field, replace
from hashlib import sha256
from queue import Empty, SimpleQueue

from dtpoly.algorithm.show import show
from dtpoly.explore.bench.bench import Candidate
from dtpoly.explore.run.emission import keep_text
from dtpoly.explore.run.progress import Snapshot, Tally
from dtpoly.explore.run.stopping import TICK, NoWorkers, stopping
from dtpoly.explore.space.field import Field, Point
from dtpoly.explore.store.question import Question
from dtpoly.explore.store.results import Outcome, Refused, Result, Text
from dtpoly.explore.store.store import Store
from dtpoly.explore.strategies.strategy import Strategy
from dtpoly.explore.workers.crew import MEASURING, Crew, Done, Event, GaveUp
from dtpoly.explore.workers.process import Gone, How
from dtpoly.explore.workers.servants import job_of, result_of
from dtpoly.frozen import dataclass

ELSEWHERE = 1.0  # seconds until a point that another run measures is looked up again
CLAIM = 900.0

Tell = Callable[[Snapshot], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is explored, of what, and for how long."""

    question: Question
    space: Field
    most: int | None = None  # candidates that a device is given, those of earlier runs included
    seconds: float | None = None
    slow: float | None = 3.0  # so many times the best time, and a candidate is stopped early


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended."""

    snapshot: Snapshot
    is_interrupted: bool = False
    is_whole: bool = False  # the strategy has no more points


@dataclass(slots=True)
class Exploration:
    """One run: what is on its way, and what came of the rest."""

    plan: Plan
    strategy: Strategy
    store: Store
    number: int  # of the question, in the store
    emitters: Crew
    measuring: Crew
    events: SimpleQueue[Event]
    tally: Tally
    stop: threading.Event
    # Points on their way by their short forms, in the order in which they were asked for.
    open: dict[str, Point] = field(default_factory=dict[str, Point])
    elsewhere: dict[str, Point] = field(default_factory=dict[str, Point])
    looked: float = 0.0
    is_whole: bool = False

    def explore(self, tell: Tell) -> Ended:
        """Until the budget is spent, the strategy has no more points, or somebody stops it."""
        try:
            while not self.stop.is_set():
                self._look_elsewhere()
                self._fill()
                if not self.open and not self.elsewhere:
                    break
                self._wait()
                tell(self.tally.snapshot())
        finally:
            self.emitters.end()
            self.measuring.end()
            # What was done by then is kept.
            while not self.events.empty():
                self._take(self.events.get())
        tell(self.tally.snapshot())
        return Ended(self.tally.snapshot(), self.stop.is_set(), self.is_whole)

    def _fill(self) -> None:
        """Ask for as many points as keep all workers busy."""
        room = 2 * len(self.measuring.workers) + len(self.emitters.workers)
        while not self.is_whole and not self.stop.is_set():
            waiting = len(self.open) + len(self.elsewhere)
            wanted = room - waiting
            if self.plan.most is not None:
                wanted = min(wanted, self.plan.most - self.tally.tried - waiting)
            if wanted <= 0 or self.tally.is_spent(waiting):
                return
            points = self.strategy.ask(wanted)
            for point in points:
                self._begin(point)
            if not points:
                # Either it waits for what it asked for, or there is no more.
                self.is_whole = not waiting
                return

    def _begin(self, point: Point) -> None:
        """What is known is told, the rest is on its way."""
        short = self.plan.space.short(point)
        known = self.store.result(self.number, short)
        if known is not None:
            self._tell(short, point, known, is_known=True)
        elif short in self.open or short in self.elsewhere:
            return
        elif self.store.claim(self.number, short, CLAIM):
            self._send(short, point)
        else:
            self.elsewhere[short] = point

    def _send(self, short: str, point: Point) -> None:
        self.open[short] = point
        made = self.store.emitted(self.plan.question.asked.program_hash, short)
        if made is None:
            text = show(self.plan.space.program_of(point))
            self.emitters.give(short, {"name": self.plan.question.asked.name, "text": text})
        else:
            self._made(short, made)

    def _made(self, short: str, made: Text | Refused) -> None:
        if isinstance(made, Refused):
            self._keep(short, Result(Outcome.REFUSED, made.kind, made.reason))
            return
        parameters = dict(self.plan.space.parameters(self.open[short]))
        text_hash = sha256(made.text.encode()).hexdigest()
        candidate = Candidate(short, parameters, made.text, text_hash, made.call)
        best = self.tally.best
        bound = best * self.plan.slow if best is not None and self.plan.slow else None
        self.measuring.give(short, *job_of(candidate, bound))

    def _wait(self) -> None:
        try:
            self._take(self.events.get(timeout=TICK))
        except Empty:
            return

    def _take(self, event: Event) -> None:
        if isinstance(event, GaveUp):
            if not event.left:
                raise NoWorkers(f"there is no worker left: {event.reason}")
            return
        if event.job not in self.open:
            return
        if event.crew == MEASURING:
            self._keep(event.job, _result(event))
        else:
            asked = self.plan.question.asked
            self._made(event.job, keep_text(self.store, asked, event.job, event.answer))

    def _keep(self, short: str, result: Result) -> None:
        point = self.open.pop(short)
        self.store.keep(self.number, short, self.plan.space.parameters(point), result)
        self._tell(short, point, result)

    def _tell(self, short: str, point: Point, result: Result, is_known: bool = False) -> None:
        self.tally.add(short, result, is_known)
        self.strategy.tell(point, result.median)

    def _look_elsewhere(self) -> None:
        """What another run measured meanwhile is told; what it left undone is done here."""
        if not self.elsewhere or time.monotonic() - self.looked < ELSEWHERE:
            return
        self.looked = time.monotonic()
        waiting, self.elsewhere = self.elsewhere, {}
        for point in waiting.values():
            self._begin(point)


def explore(
    plan: Plan,
    strategy: Strategy,
    store: Store,
    crews: Callable[[SimpleQueue[Event]], tuple[Crew, Crew]],
    tell: Tell = lambda _: None,
) -> Ended:
    """Explore a space. Raises StoreError and NoWorkers; what is stored is kept.

    `crews` makes those who emit and those who measure.
    """
    events: SimpleQueue[Event] = SimpleQueue()
    emitters, measuring = crews(events)
    number = store.ask(plan.question)
    tally = Tally(plan.space.count, plan.most, plan.seconds)
    with stopping() as stop:
        crew = (emitters, measuring)
        run = Exploration(plan, strategy, store, number, *crew, events, tally, stop)
        emitters.begin()
        measuring.begin()
        try:
            return run.explore(tell)
        finally:
            store.release(number)


def _result(event: Done) -> Result:
    if isinstance(event.answer, Gone):
        return _unanswered(event.answer, event.seconds)
    return replace(result_of(event.answer), seconds=event.seconds)


def _unanswered(gone: Gone, seconds: float) -> Result:
    match gone.how:
        case How.HUNG:
            return Result(Outcome.HUNG, "no answer in time", gone.reason, seconds=seconds)
        case How.CRASHED:
            return Result(Outcome.CRASHED, "ended its process", gone.reason, seconds=seconds)
        case How.KILLED:
            return Result(Outcome.CRASHED, "killed twice", gone.reason, seconds=seconds)
        case How.FAILED:
            kind = gone.reason.partition(":")[0]
            return Result(Outcome.FAILED, kind, gone.reason, seconds=seconds)
