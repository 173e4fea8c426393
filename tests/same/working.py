"""Does jobs in several processes, any of which may hang or die."""

import signal
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

# The processor's time that a job may take. Jobs take seconds at most, so only a job that hangs
# reaches it.
JOB_S = 300.0
# The caches of dtpoly take more and more memory.
JOBS_A_PROCESS = 1_000


def worked(
    work: Callable[[Job], Result], jobs: Iterable[Job], workers: int, seconds: float = JOB_S
) -> Generator[tuple[Job, Result | None]]:
    """Yield each job with its result when it is done, or with None if its process died.

    If the caller stops asking, for example because of Ctrl-C, the processes are ended.
    """
    waiting: dict[Future[Result], Job] = {}
    rest = iter(jobs)
    pool = _pool(workers)
    try:
        while True:
            for job in islice(rest, 2 * workers - len(waiting)):
                waiting[pool.submit(_limited, work, job, seconds)] = job
            if not waiting:
                pool.shutdown()
                return
            done = wait(waiting, return_when=FIRST_COMPLETED).done
            try:
                for future in [one for one in waiting if one in done]:
                    result = future.result()
                    yield waiting.pop(future), result
            except BrokenProcessPool:
                _end(pool)
                with closing(_alone(work, list(waiting.values()), workers, seconds)) as found:
                    yield from found
                waiting, pool = {}, _pool(workers)
    finally:
        _end(pool)


def _alone(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, seconds: float
) -> Generator[tuple[Job, Result | None]]:
    """Yield each job, done in a process of its own, because one of them kills processes.

    So many as there are workers are done at the same time.
    """
    waiting: dict[Future[Result], tuple[Job, ProcessPoolExecutor]] = {}
    rest = iter(jobs)
    try:
        while True:
            for job in islice(rest, workers - len(waiting)):
                pool = _pool(1)
                waiting[pool.submit(_limited, work, job, seconds)] = job, pool
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                job, pool = waiting.pop(future)
                died = isinstance(future.exception(), BrokenProcessPool)
                _end(pool)
                yield job, None if died else future.result()
    finally:
        for _, pool in waiting.values():
            _end(pool)


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers,
        mp_context=get_context("spawn"),
        initializer=_begin,
        max_tasks_per_child=JOBS_A_PROCESS,
    )


def _end(pool: ProcessPoolExecutor) -> None:
    """Stop the pool: no job is begun, and running jobs end within seconds or by their own limit."""
    pool.shutdown(wait=False, cancel_futures=True)


def _limited(work: Callable[[Job], Result], job: Job, seconds: float) -> Result:
    """Do a job, and let the system end the process if the job hangs.

    A job that hangs in a library runs no handler of Python. The limit counts the processor's time,
    so that a machine that is busy or sleeps ends nothing.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return work(job)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _begin() -> None:
    """Ignore Ctrl-C in this process, because the process that started it ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
