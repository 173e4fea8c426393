"""Does jobs in several processes, of which each may crash, for as long as a time lasts."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import TimeoutError as NothingCame
from multiprocessing import get_context
from typing import TypeVar

Job = TypeVar("Job")
Found = TypeVar("Found")


class EndedEarly(Exception):
    """The time is over, or no process finished anything for too long: one may have crashed."""


def in_processes(
    function: Callable[[Job], Found],
    jobs: Sequence[Job],
    processes: int,
    seconds: float,
    patience: float,
) -> Iterator[Found]:
    """Yield what a function returns for each job, in the order in which they end.

    `patience` is how many seconds may pass in which none of them ends. Raises EndedEarly.
    """
    end = time.monotonic() + seconds
    # On leaving, what still runs is ended.
    with get_context("spawn").Pool(processes, _begin) as pool:
        found = pool.imap_unordered(function, jobs)
        for _ in jobs:
            try:
                one = found.next(timeout=max(min(patience, end - time.monotonic()), 0.0))
            except NothingCame as error:
                raise EndedEarly from error
            yield one


def _begin() -> None:
    # Ctrl-C is for the process that started this one, which then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
