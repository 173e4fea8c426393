"""Gives jobs to workers that may hang or die, with a thread for each worker."""

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import field
from queue import PriorityQueue, SimpleQueue
from statistics import median

from dtpoly.explore.workers.process import Gone, NoAnswer, NotOpened, Worker
from dtpoly.explore.workers.socket_messages import Message
from dtpoly.frozen import dataclass

# The names of the two crews, which say what they do.
PREPARING, MEASURING = "preparing", "measuring"

TRIES = 3  # to open a worker, one after the other


@dataclass(slots=True)
class JobLimits:
    """The time that a job may take: a multiple of what others took, but not less than a minimum."""

    floor: float = 60.0  # seconds; the first job of a worker loads and compiles a lot
    factor: float = 10.0
    took: deque[float] = field(default_factory=lambda: deque[float](maxlen=101))

    def now(self) -> float:
        """Return the seconds for the next job."""
        return max(self.floor, self.factor * median(self.took)) if self.took else self.floor


@dataclass(frozen=True, slots=True)
class Done:
    """A finished job: its answer, or the reason why there is none."""

    crew: str
    job: str
    answer: Message | Gone
    seconds: float


@dataclass(frozen=True, slots=True)
class GaveUp:
    """A worker that can no longer be opened."""

    crew: str
    reason: str
    left: int


Event = Done | GaveUp
Steps = tuple[Message, ...]


@dataclass(frozen=True, slots=True, order=True)
class GivenJob:
    """A job, in the order in which jobs are done; without steps it ends a worker."""

    is_late: bool
    number: int
    job: str = field(compare=False)
    steps: Steps = field(compare=False)


@dataclass(slots=True)
class Crew:
    """Workers of one kind, which put their results into `events` in the order in which they finish.

    A job has steps. The answer to a step may be that the worker is ready for the next one, which it
    does when it has its turn: only one of the workers that share a device has it. The time of
    waiting for the turn does not count for the limit of a job. If a worker was killed from outside,
    its job is done once more, since that need not be the job's fault.
    """

    name: str
    workers: Sequence[Worker]
    events: SimpleQueue[Event]
    limits: JobLimits = field(default_factory=JobLimits)
    left: int = 0
    is_over: bool = False
    jobs: PriorityQueue[GivenJob] = field(default_factory=PriorityQueue["GivenJob"])
    count: int = 0
    threads: list[threading.Thread] = field(default_factory=list[threading.Thread])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Let the workers wait for jobs."""
        self.left = len(self.workers)
        for worker in self.workers:
            # The end of the program does not wait for a thread whose worker is on a machine that is
            # silent.
            thread = threading.Thread(target=self._serve, args=(worker,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def give(self, job: str, *steps: Message, is_urgent: bool = True) -> None:
        """Give a job to the next free worker; a job that is not urgent waits for all that are."""
        self.count += 1
        self.jobs.put(GivenJob(not is_urgent, self.count, job, steps))

    def end(self) -> None:
        """End all workers, whatever they are doing."""
        self.is_over = True
        for _ in self.threads:
            self.give("")
        for worker in self.workers:
            worker.end()
        for thread in self.threads:
            thread.join(2.0)

    def _serve(self, worker: Worker) -> None:
        try:
            self._work(worker)
        finally:
            worker.close()

    def _work(self, worker: Worker) -> None:
        while (given := self.jobs.get()).steps and not self.is_over:
            try:
                done = self._done(worker, given.job, given.steps)
            except NotOpened as error:
                if self.is_over:
                    return
                # Another worker may do the job.
                self.jobs.put(given)
                with self.lock:
                    self.left -= 1
                    self.events.put(GaveUp(self.name, str(error), self.left))
                return
            if self.is_over and isinstance(done.answer, Gone):
                return  # the worker was ended, and did nothing wrong
            self.events.put(done)

    def _done(self, worker: Worker, job: str, steps: Steps) -> Done:
        answer, seconds = self._answer(worker, steps)
        if isinstance(answer, Gone) and answer.how is NoAnswer.KILLED and not self.is_over:
            answer, seconds = self._answer(worker, steps)
        if not isinstance(answer, Gone):
            self.limits.took.append(seconds)
        return Done(self.name, job, answer, seconds)

    def _answer(self, worker: Worker, steps: Steps) -> tuple[Message | Gone, float]:
        """Return the answer to the last step that was done, and the seconds of all steps."""
        self._open(worker)
        seconds, answer = self._step(worker, steps[0])
        for step in steps[1:]:
            if isinstance(answer, Gone) or "is_ready" not in answer:
                break
            with worker.turn:
                more, answer = self._step(worker, step)
            seconds += more
        return answer, seconds

    def _step(self, worker: Worker, step: Message) -> tuple[float, Message | Gone]:
        begin = time.monotonic()
        answer = worker.do(step, self.limits.now())
        return time.monotonic() - begin, answer

    def _open(self, worker: Worker) -> None:
        """Open a worker in a few attempts; a process that is ending may hold its resources."""
        for left in reversed(range(TRIES)):
            if worker.is_open:
                return
            try:
                worker.open()
            except NotOpened:
                if not left or self.is_over:
                    raise
                time.sleep(1.0)
