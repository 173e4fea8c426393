"""A campaign run by several workers at once, each of which may hang, die or eat memory."""

import json
import math
import os
import selectors
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.attack.campaign import Campaign
from tests.attack.outcome import Outcome, Verdict
from tests.attack.processes import Worker, asked, ended, last_words, memory_by_group, started
from tests.attack.record import Entry, Record
from tests.attack.worker import READY, of_data

# What a worker may take before its first attempt: it imports torch and Triton.
SECONDS_TO_START = 180.0
# How often it is looked at what memory workers have, and whether the time is over.
TICK = 0.25
CHUNK = 1 << 16


@dataclass(frozen=True)
class Limits:
    """The end of a run: after so many seconds, or so many attempts, whichever comes first.

    Attempts that have begun when the time is over are finished, unless it is the very end: then
    they are given up, and are made when the run goes on.
    """

    seconds: float | None = None
    attempts: int | None = None
    is_very_end: bool = False


class StartError(Exception):
    """A worker ended before its first attempt: the campaign cannot run here at all."""


Seen = Callable[[Entry], None]


@dataclass
class Run:
    """One run of a campaign: its workers, and which seeds are still to be tried."""

    campaign: Campaign
    record: Record
    seeds: Iterator[int]
    limits: Limits
    seen: Seen
    began: float = field(default_factory=time.monotonic)
    workers: list[Worker] = field(default_factory=list[Worker])
    selector: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)
    asked_for: int = 0
    # How many workers there are to be, of a campaign that starts them one after the other.
    most_workers: int = 0
    has_started: bool = False

    def is_at_very_end(self) -> bool:
        """Return whether all that goes on is given up."""
        is_late = time.monotonic() - self.began >= (self.limits.seconds or math.inf)
        return self.limits.is_very_end and is_late

    def is_over(self) -> bool:
        """Return whether no more attempts are to begin."""
        seconds, attempts = self.limits.seconds, self.limits.attempts
        if attempts is not None and self.asked_for >= attempts:
            return True
        return seconds is not None and time.monotonic() - self.began >= seconds

    def add_worker(self) -> None:
        """Start one more process."""
        worker = started(self.campaign, time.monotonic())
        assert worker.process.stdout is not None
        os.set_blocking(worker.process.stdout.fileno(), False)
        self.selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        self.workers.append(worker)

    def drop(self, worker: Worker) -> None:
        """End a process."""
        assert worker.process.stdout is not None
        self.selector.unregister(worker.process.stdout)
        self.workers.remove(worker)
        ended(worker)

    def replace(self, worker: Worker) -> None:
        """End a process, and start another one if there is more to do."""
        self.drop(worker)
        if not self.is_over():
            self.add_worker()

    def go_on(self, worker: Worker) -> None:
        """Give a worker its next seed; without one it is not needed any more."""
        if self.is_over():
            self.drop(worker)
        elif worker.attempts >= self.campaign.attempts_per_worker:
            self.replace(worker)
        else:
            worker.attempts += 1
            self.asked_for += 1
            asked(worker, next(self.seeds), time.monotonic())

    def note(self, worker: Worker, outcome: Outcome) -> None:
        """Keep what a worker's attempt came to."""
        assert worker.seed is not None
        entry = Entry(worker.seed, outcome, time.monotonic() - worker.began)
        worker.seed = None
        self.record.add(entry)
        self.seen(entry)

    def lost(self, worker: Worker, verdict: Verdict, what: str) -> None:
        """A worker died, or must be ended: what it was at is an outcome."""
        if not worker.is_ready:
            words = last_words(worker)
            if not self.has_started or len(self.workers) == 1:
                raise StartError(f"{self.campaign.name} cannot start: {what}\n{words}")
            # There is no room for so many: the others go on.
            self.most_workers = len(self.workers) - 1
            self.drop(worker)
            return
        if worker.seed is not None:
            self.note(worker, Outcome(verdict, what, last_words(worker)))
        self.replace(worker)

    def read(self, worker: Worker) -> None:
        """Take what a worker wrote; nothing at all says that it has died."""
        assert worker.process.stdout is not None
        try:
            data = os.read(worker.process.stdout.fileno(), CHUNK)
        except BlockingIOError:
            return
        if not data:
            code = worker.process.wait()
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            self.lost(worker, Verdict.CRASH, f"the process died with {how}")
            return
        worker.unread += data
        while (end := worker.unread.find(b"\n")) >= 0:
            line = bytes(worker.unread[:end]).decode()
            del worker.unread[: end + 1]
            if worker.is_ready:
                self.note(worker, of_data(json.loads(line)))
            elif line == READY:
                worker.is_ready = self.has_started = True
                if len(self.workers) < self.most_workers and not self.is_over():
                    self.add_worker()
            self.go_on(worker)

    def check(self) -> None:
        """End workers that take too long, or have too much memory."""
        now, memory = time.monotonic(), memory_by_group()
        for worker in list(self.workers):
            limit = self.campaign.seconds if worker.is_ready else SECONDS_TO_START
            used = memory.get(worker.process.pid, 0)
            if now - worker.began > limit:
                self.lost(worker, Verdict.SLOW, f"it took longer than {limit:g} s")
            elif used > self.campaign.bytes:
                most = self.campaign.bytes >> 20
                self.lost(worker, Verdict.LARGE, f"it took more than {most} MiB of memory")


def run(
    campaign: Campaign,
    record: Record,
    seeds: Iterator[int],
    limits: Limits,
    workers: int,
    seen: Seen,
    tick: Callable[[], None] = lambda: None,
) -> None:
    """Run attempts until a limit is reached; each one is in the record as soon as it is over.

    Raises StartError.
    """
    count = workers if limits.attempts is None else min(workers, limits.attempts)
    going = Run(campaign, record, seeds, limits, seen)
    try:
        if campaign.is_started_slowly:
            going.most_workers, count = count, 1
        for _ in range(count):
            going.add_worker()
        while going.workers and not going.is_at_very_end():
            for key, _ in going.selector.select(TICK):
                going.read(key.data)
            going.check()
            tick()
    finally:
        for worker in list(going.workers):
            going.drop(worker)
        going.selector.close()


def only(seeds: Sequence[int]) -> tuple[Iterator[int], Limits]:
    """These seeds and no others."""
    return iter(seeds), Limits(attempts=len(seeds))
