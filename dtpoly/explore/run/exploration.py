"""Asks a strategy for points and keeps their results until the budget is used up.

One thread asks, stores and reports; workers answer it through a queue. A failure of a candidate
never ends a run: it becomes a result. A device is never asked again for a result that is stored.
"""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import field
from queue import Empty, SimpleQueue
from typing import assert_never

from dtpoly.explore.bench.bench import Candidate
from dtpoly.explore.run.outcomes import answered, awaited, judged, waiting
from dtpoly.explore.run.preparation import (
    News,
    Out,
    Preparation,
    PreparedProof,
    Ready,
    Wants,
    hash_of,
    prepares,
)
from dtpoly.explore.run.progress import ResultTally, Snapshot
from dtpoly.explore.run.stopping import TICK, NoWorkers, stopping
from dtpoly.explore.space.search_view import Field, Point
from dtpoly.explore.store.measured_question import Question
from dtpoly.explore.store.result_store import WAITING, ResultStore
from dtpoly.explore.store.results import EmittedText, Outcome, Proven, Result, TextProof
from dtpoly.explore.strategies.strategy import Strategy
from dtpoly.explore.workers.crew import MEASURING, Crew, Event, GaveUp
from dtpoly.explore.workers.servants import job_of
from dtpoly.frozen import dataclass

ELSEWHERE = 1.0  # seconds until a point that another run measures is looked up again
CLAIM = 900.0
AHEAD = 2  # points for each worker, so that none has to wait for the next one

Tell = Callable[[Snapshot], None]


@dataclass(frozen=True, slots=True)
class ExplorationPlan:
    """The space and the question of an exploration, and its budget."""

    question: Question
    space: Field
    most: int | None = None  # candidates that a device is given, with those of earlier runs
    seconds: float | None = None
    # A candidate is stopped early if it takes this many times the best time.
    slow: float | None = 3.0


@dataclass(frozen=True, slots=True)
class Ended:
    """The way in which an exploration ended."""

    snapshot: Snapshot
    is_interrupted: bool = False
    is_whole: bool = False  # the strategy has no more points


@dataclass(slots=True)
class _OpenPoint:
    """A point that is being worked on, and what is known about it so far."""

    point: Point
    text: EmittedText | None = None
    proof: TextProof | None = None
    result: Result | None = None
    is_given: bool = False  # to a worker that measures
    is_unprovable: bool = False  # here


@dataclass(slots=True)
class Exploration:
    """A run: the points that are being worked on, and the results of the others."""

    plan: ExplorationPlan
    strategy: Strategy
    store: ResultStore
    number: int  # of the question, in the store
    preparation: Preparation
    measuring: Crew
    events: SimpleQueue[Event]
    tally: ResultTally
    stop: threading.Event
    # The points that are being worked on by their short forms, in the order in which they were
    # asked.
    open: dict[str, _OpenPoint] = field(default_factory=dict[str, _OpenPoint])
    elsewhere: dict[str, Point] = field(default_factory=dict[str, Point])
    given: int = 0  # candidates that workers have not answered yet
    looked: float = 0.0
    is_whole: bool = False

    def explore(self, tell: Tell) -> Ended:
        """Explore until the budget is used up, no points are left, or somebody stops the run."""
        try:
            while not self.stop.is_set():
                self._look_elsewhere()
                self._fill()
                if not self.open and not self.elsewhere:
                    break
                self._wait()
                tell(self.tally.snapshot())
        finally:
            self.preparation.crew.end()
            self.measuring.end()
            # Results that were finished by then are kept.
            while not self.events.empty():
                self._take(self.events.get())
            self._keep_waiting()
        tell(self.tally.snapshot())
        return Ended(self.tally.snapshot(), self.stop.is_set(), self.is_whole)

    def _fill(self) -> None:
        """Ask for enough points to keep all workers busy."""
        room = AHEAD * (len(self.measuring.workers) + len(self.preparation.crew.workers))
        while not self.is_whole and not self.stop.is_set():
            waiting = len(self.open) + len(self.elsewhere)
            # A device does not wait for proofs of candidates that it has measured.
            measured = sum(one.result is not None for one in self.open.values())
            wanted = room - waiting + measured
            if self.plan.most is not None:
                wanted = min(wanted, self.plan.most - self.tally.tried - waiting)
            if wanted <= 0 or self.tally.is_spent(waiting):
                return
            points = self.strategy.ask(wanted)
            for point in points:
                self._begin(point)
            if not points:
                # The strategy waits for results of earlier points, or it has no more points.
                self.is_whole = not waiting
                return

    def _begin(self, point: Point) -> None:
        """Begin a point: a known result is told to the strategy, otherwise work is started."""
        short = self.plan.space.short(point)
        known = self.store.result(self.number, short)
        if known is not None and known.kind != WAITING:
            self._tell(short, point, known, is_known=True)
        elif short in self.open or short in self.elsewhere:
            return
        elif known is not None or self.store.claim(self.number, short, CLAIM):
            # A known result can only lack its proof.
            result = None if known is None else awaited(known)
            self.open[short] = _OpenPoint(point, result=result, is_given=known is not None)
            self._hear(self.preparation.begin(short, point))
        else:
            self.elsewhere[short] = point

    def _hear(self, news: Iterable[News]) -> None:
        """Take the news about points before they are measured."""
        for one in news:
            mine = self.open.get(one.short)
            if mine is None:
                continue
            match one:
                case Out(short, refused, is_kept):
                    result = Result(Outcome.REFUSED, refused.kind, refused.reason)
                    self._keep(short, result, is_kept)
                case PreparedProof(short, None):
                    mine.is_unprovable = True
                    self._settle(short)
                case PreparedProof(short, proof):
                    mine.proof = proof
                    if proof is not None and proof.verdict is Proven.REFUTED:
                        self._keep(short, judged(Result(Outcome.BUG), proof))
                    else:
                        self._settle(short)
                case Ready(_, text):
                    mine.text = text
                case _:
                    assert_never(one)
        self._feed()

    def _feed(self) -> None:
        """Give workers their next candidates: those that are proved come first.

        A candidate without a proof is measured before a worker would be idle. Its time counts when
        the proof has come.
        """
        workers = len(self.measuring.workers)
        proves = self.preparation.wants.proves
        ready = [short for short, one in self.open.items() if one.text and not one.is_given]
        ready.sort(key=lambda short: proves and self.open[short].proof is None)
        for short in ready:
            mine = self.open[short]
            is_sure = not proves or mine.proof is not None or mine.is_unprovable
            if self.given >= (AHEAD if is_sure else 1) * workers:
                return
            self._give(short)

    def _give(self, short: str) -> None:
        mine = self.open[short]
        assert mine.text is not None
        mine.is_given = True
        self.given += 1
        parameters = dict(self.plan.space.parameters(mine.point))
        text = mine.text
        candidate = Candidate(short, parameters, text.text, hash_of(text), text.call)
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
        elif event.crew == MEASURING:
            self.given -= 1
            mine = self.open.get(event.job)
            # A refuted candidate may have a result already.
            if mine is not None:
                mine.result = answered(event)
                self._settle(event.job)
            self._feed()
        else:
            self._hear(self.preparation.take(event))

    def _settle(self, short: str) -> None:
        """Keep a result, if everything that it needs is known."""
        mine = self.open[short]
        if mine.result is None:
            return
        is_waiting = self.preparation.wants.proves and mine.proof is None and mine.result.is_timed
        if not is_waiting:
            self._keep(short, judged(mine.result, mine.proof))
        elif mine.is_unprovable:
            self._keep(short, waiting(mine.result))

    def _keep(self, short: str, result: Result, is_kept: bool = True) -> None:
        point = self.open.pop(short).point
        if is_kept:
            self.store.keep(self.number, short, self.plan.space.parameters(point), result)
        self._tell(short, point, result)

    def _keep_waiting(self) -> None:
        """Keep points that were measured and are not yet proved; their times do not count yet."""
        for short, one in [*self.open.items()]:
            if one.result is not None:
                self._keep(short, waiting(one.result))

    def _tell(self, short: str, point: Point, result: Result, is_known: bool = False) -> None:
        self.tally.add(short, result, is_known)
        self.strategy.tell(point, result.median if result.is_timed else None)

    def _look_elsewhere(self) -> None:
        """Take over the results that another run stored meanwhile; measure those it left undone."""
        if not self.elsewhere or time.monotonic() - self.looked < ELSEWHERE:
            return
        self.looked = time.monotonic()
        waiting, self.elsewhere = self.elsewhere, {}
        for point in waiting.values():
            self._begin(point)


def explore(
    plan: ExplorationPlan,
    strategy: Strategy,
    store: ResultStore,
    crews: Callable[[SimpleQueue[Event]], tuple[Crew, Crew]],
    wants: Wants,
    tell: Tell = lambda _: None,
) -> Ended:
    """Explore a space. Raises StoreError, NoWorkers and Disagreement; what is stored is kept.

    `crews` makes the crew that prepares and the crew that measures.
    """
    events: SimpleQueue[Event] = SimpleQueue()
    preparing, measuring = crews(events)
    number = store.ask(plan.question)
    tally = ResultTally(plan.space.count, plan.most, plan.seconds)
    preparation = prepares(plan.question.asked, plan.space, store, preparing, wants)
    with stopping() as stop:
        made = (plan, strategy, store, number, preparation, measuring, events, tally, stop)
        run = Exploration(*made)
        preparing.begin()
        measuring.begin()
        try:
            return run.explore(tell)
        finally:
            store.release(number)
