"""Does jobs in several processes and writes rows of JSON; a job that is done is not done again."""

import faulthandler
import json
import signal
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from hashlib import sha256
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

ROOT = Path(__file__).parents[3]
Row: TypeAlias = dict[str, Any]
Job = TypeVar("Job")
# A process is replaced after this many jobs, because some caches are never emptied. A pool does not
# do that by itself: with max_tasks_per_child, Python 3.11 may wait for ever.
JOBS_A_PROCESS = 500
JOB_S = 150


def fingerprint(*parts: str) -> str:
    """Return a hash of the sources in these folders and files."""
    paths = [path for part in parts for path in _sources(ROOT / part)]
    return sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()


def _sources(path: Path) -> Sequence[Path]:
    if path.is_file():
        return [path]
    return [one for one in path.rglob("*") if one.suffix in (".py", ".dt")]


def as_rows(found: Sequence[Any]) -> list[Row]:
    """Return dataclasses as they are kept."""
    return [asdict(one) for one in found]


def streamed(
    what: str,
    work: Callable[[Job], list[Row]],
    jobs: Sequence[Job],
    kept: Path,
    mark: str,
    workers: int,
    seconds: float | None = None,
) -> dict[str, list[Row]]:
    """The rows of each job, by its name; also of those that were done before.

    What was kept of other sources does not count. When the time is over, or it is interrupted,
    what is done is kept, and is all that there is.
    """
    done = dict(_before(kept, mark))
    kept.parent.mkdir(parents=True, exist_ok=True)
    # The file is written again, because its last line may be cut off.
    before = [json.dumps({"sources": mark}), *(_line(*one) for one in done.items())]
    kept.write_text("".join(f"{line}\n" for line in before))
    rest = [job for job in jobs if str(job) not in done]
    end = None if seconds is None else time.monotonic() + seconds
    with _progress() as progress, kept.open("a") as file:
        task = progress.add_task(what, total=len(jobs), completed=len(jobs) - len(rest))
        for job, rows in _worked(work, rest, workers, end):
            done[str(job)] = rows
            file.write(f"{_line(str(job), rows)}\n")
            file.flush()
            progress.advance(task)
    return {str(job): done[str(job)] for job in jobs if str(job) in done}


def _line(job: str, rows: list[Row]) -> str:
    return json.dumps({"job": job, "rows": rows})


def _worked(
    work: Callable[[Job], list[Row]], jobs: Sequence[Job], workers: int, end: float | None
) -> Generator[tuple[Job, list[Row]]]:
    """Yield each job when it is done, until the time is over."""
    waiting: dict[Future[list[Row]], Job] = {}
    rest = iter(jobs)
    pool, left = _pool(workers), JOBS_A_PROCESS * workers
    try:
        while end is None or time.monotonic() < end:
            for job in islice(rest, min(2 * workers - len(waiting), left)):
                waiting[pool.submit(_limited, work, job)] = job
                left -= 1
            if not waiting and left:
                break
            if not waiting:
                pool.shutdown()
                pool, left = _pool(workers), JOBS_A_PROCESS * workers
                continue
            try:
                done = wait(waiting, timeout=1, return_when=FIRST_COMPLETED).done
                # A set has no order: of jobs that are done together, the one that was asked for
                # first comes first.
                for future in [one for one in waiting if one in done]:
                    rows = future.result()
                    yield waiting.pop(future), rows
            except BrokenProcessPool:
                pool.shutdown(wait=False)
                pool, left = _pool(workers), JOBS_A_PROCESS * workers
                yield from _alone(work, list(waiting.values()))
                waiting = {}
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted: the same command goes on from here")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone(
    work: Callable[[Job], list[Row]], jobs: Sequence[Job]
) -> Generator[tuple[Job, list[Row]]]:
    """Do each job in a process of its own, because one of them kills processes.

    That one has no rows.
    """
    for job in jobs:
        with _pool(1) as pool:
            try:
                yield job, pool.submit(_limited, work, job).result()
            except BrokenProcessPool:
                Console(stderr=True).print(f"{job}: given up after {JOB_S} s")
                yield job, []


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers,
        mp_context=get_context("spawn"),
        initializer=_begin,
    )


def _limited(work: Callable[[Job], list[Row]], job: Job) -> list[Row]:
    """End the process if a job hangs in a library, which sees no signal."""
    faulthandler.dump_traceback_later(JOB_S, exit=True)
    try:
        return work(job)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _begin() -> None:
    """Ignore Ctrl-C in this process, because the process that started it ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _before(kept: Path, mark: str) -> Generator[tuple[str, list[Row]]]:
    if not kept.exists():
        return
    first, *lines = kept.read_text().splitlines()
    if json.loads(first) == {"sources": mark}:
        for line in lines:
            # The last line may be cut off if a process was ended.
            if line.endswith("}"):
                row: Mapping[str, Any] = json.loads(line)
                yield row["job"], row["rows"]


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
