"""Counts what becomes of the gradients of random algorithms.

    python -m tests.gradient.record 5120 FILE --workers 8
    python -m tests.gradient.record 100000 FILE --workers 30 --seconds 500

Of so many random algorithms, of each kind as many, the gradient is derived and compared with that
of torch's autograd in 64 bits. Of some of them the gradient of the gradient is compared, too, and
of some the kernels of an operator that trains, which run in the interpreter. Each one that is wrong
is in FILE with its seed and what was said of it.

Each worker takes seeds that no other one has had. What is done is kept in FILE.jobs. So a run that
was stopped goes on where it was, if it is started by the same command again; with `--seconds` it
stops by itself, and FILE says how many algorithms were compared. `--again` compares those parts
again in which something was wrong.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from dtpoly.writing import write_atomically
from tests.gradient.outcomes import kernel_outcome, outcome, second_outcome
from tests.gradient.random_algorithms import KINDS
from tests.same.working import worked

FIRST = 10_000  # seeds from here on are in no test
AT_A_TIME = 10
# Of how many algorithms one is differentiated again, and of how many one is computed by kernels.
SECOND, KERNELS = 5, 10
WAYS: Mapping[str, Callable[[str, int], str]] = {
    "first": outcome,
    "second": second_outcome,
    "kernels": kernel_outcome,
}
EVERY = {"first": 1, "second": SECOND, "kernels": KERNELS}
MOST = 2_000  # characters that are kept of what is wrong
EACH_S = 20.0  # how often FILE is written while a run goes on
NO_END = float("inf")


class Job(NamedTuple):
    """Some seeds of a kind."""

    kind: str
    first: int
    last: int


class Found(NamedTuple):
    """How often each outcome occurred in each way, and what was wrong."""

    counts: dict[str, dict[str, int]]
    wrong: list[dict[str, Any]]


def done(job: Job, until: float = NO_END) -> tuple[Job, Found]:
    """Compare the gradients of some seeds, and say of which: at some time no other one is begun."""
    counts: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    wrong: list[dict[str, Any]] = []
    last = job.first
    while last < job.last and time.time() < until:
        for way, compared in WAYS.items():
            if last % EVERY[way]:
                continue
            try:
                counts[way][compared(job.kind, last)] += 1
            except Exception as error:  # whatever it is, it is counted
                counts[way]["wrong"] += 1
                said = f"{type(error).__name__}: {error}"[:MOST]
                wrong.append({"kind": job.kind, "seed": last, "way": way, "said": said})
        last += 1
    return job._replace(last=last), Found({way: dict(one) for way, one in counts.items()}, wrong)


def died(job: Job) -> Found:
    """Return what is kept of a seed whose process died."""
    said = {"kind": job.kind, "seed": job.first, "way": "all", "said": "the process died"}
    return Found({"first": {"wrong": 1}}, [said])


def together(every: list[tuple[Job, Found]]) -> dict[str, Any]:
    """Add up what was found."""
    ways: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    kinds: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for job, found in every:
        for way, counts in found.counts.items():
            ways[way].update(counts)
        kinds[job.kind].update(found.counts["first"])
    return {
        "ways": {way: dict(sorted(one.items())) for way, one in ways.items()},
        "kinds": {kind: dict(sorted(one.items())) for kind, one in kinds.items()},
        "wrong": [one for _, found in every for one in found.wrong],
    }


def known_jobs(kept: Path, first: int) -> dict[Job, Found]:
    """Return what an earlier run found. What was begun with another seed is another run."""
    if not kept.exists():
        return {}
    head, *lines = kept.read_text().splitlines()
    if json.loads(head) != {"first": first}:
        raise SystemExit(f"{kept} is of another run, which began with {head}: remove it")
    # The last line may be half a line, if the run was stopped while it was written.
    whole = [line for line in lines if line.endswith("]]")]
    return {Job(*job): Found(*found) for job, found in map(json.loads, whole)}


def keep_jobs(kept: Path, first: int, known: dict[Job, Found]) -> None:
    """Write what is known of all jobs, instead of what the file has."""
    lines = [json.dumps({"first": first}), *(json.dumps([*one]) for one in known.items())]
    write_atomically(kept, "".join(f"{line}\n" for line in lines).encode())


def jobs_left(first: int, end: int, known: Sequence[Job], at_a_time: int = AT_A_TIME) -> list[Job]:
    """Return jobs for all seeds that are in no known one, the kinds in turn."""
    had = {(job.kind, seed) for job in known for seed in range(job.first, job.last)}

    def of_kind(kind: str, begin: int) -> Iterator[Job]:
        start = begin
        for seed in range(begin, last := min(begin + at_a_time, end)):
            if (kind, seed) in had:
                if start < seed:
                    yield Job(kind, start, seed)
                start = seed + 1
        if start < last:
            yield Job(kind, start, last)

    begins = range(first, end, at_a_time)
    return [job for begin in begins for kind in KINDS for job in of_kind(kind, begin)]


class Run:
    """A run: what is known by now, and where it is kept."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked, self.kept, self.start = asked, kept_of(asked.file), time.time()
        self.until = NO_END if asked.seconds is None else self.start + asked.seconds
        self.end = asked.first + -(-asked.count // len(KINDS))
        self.known = known_jobs(self.kept, asked.first)
        if asked.again:
            self.known = {job: one for job, one in self.known.items() if not one.wrong}
        self.written = 0.0

    def compare(self) -> None:
        """Compare what no earlier run did; a job whose process died is done again, in parts."""
        keep_jobs(self.kept, self.asked.first, self.known)
        self._compare(jobs_left(self.asked.first, self.end, [*self.known]), is_last=False)
        if time.time() < self.until:
            rest = jobs_left(self.asked.first, self.end, [*self.known], at_a_time=1)
            self._compare(rest, is_last=True)

    def _compare(self, jobs: list[Job], *, is_last: bool) -> None:
        work = partial(done, until=self.until)
        begun = (job for job in jobs if time.time() < self.until)
        with (
            self.kept.open("a") as file,
            closing(worked(work, begun, self.asked.workers)) as results,
        ):
            for count, (asked, result) in enumerate(results, 1):
                job, found = result or (asked, died(asked))
                if (result is None and not is_last) or job.first == job.last:
                    continue
                self.known[job] = found
                file.write(f"{json.dumps([job, found])}\n")
                file.flush()
                self._say(found, len(jobs) - count)
                if time.time() - self.written > EACH_S:
                    self.write()

    def _say(self, found: Found, left: int) -> None:
        for one in found.wrong:
            print(json.dumps(one)[:300], flush=True)
        wrong = sum(len(one.wrong) for one in self.known.values())
        seconds = time.time() - self.start
        said = f"{self.compared} compared, {wrong} wrong, {left} parts left, {seconds:.0f} s"
        print(said, file=sys.stderr, flush=True)

    @property
    def compared(self) -> int:
        """Return how many algorithms have been compared."""
        return sum(job.last - job.first for job in self.known)

    def write(self) -> None:
        """Write what is known by now."""
        asked, self.written = self.asked, time.time()
        said = {
            "what": "random algorithms: gradients, gradients of gradients, and kernels that train, "
            "beside torch's autograd in 64 bits",
            "command": f"python -m tests.gradient.record {asked.count} FILE --first {asked.first}",
            "compared": self.compared,
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in ("torch", "triton")},
            },
            "seconds of the last run": round(time.time() - self.start),
            **together(sorted(self.known.items())),
        }
        write_atomically(asked.file, f"{json.dumps(said, indent=1)}\n".encode())


def kept_of(file: Path) -> Path:
    """Return the file that keeps what is done until all is."""
    return file.with_name(f"{file.name}.jobs")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare as many as are asked for, and write what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.gradient.record")
    parser.add_argument("count", type=int, help="algorithms, of all kinds together")
    parser.add_argument("file", type=Path)
    parser.add_argument("--first", type=int, default=FIRST, help="the first seed of each kind")
    parser.add_argument("--workers", type=int, default=1, help="processes (the default is 1)")
    parser.add_argument("--seconds", type=float, help="stop after so many, with what is done")
    parser.add_argument("--again", action="store_true", help="compare again what was wrong")
    asked = parser.parse_args(arguments)
    os.environ["TRITON_INTERPRET"] = "1"
    os.environ["OMP_NUM_THREADS"] = "1"  # each worker has one processor
    run = Run(asked)
    run.compare()
    run.write()
    print(f"{run.compared} compared: {json.dumps(together([*run.known.items()])['ways'])}")


if __name__ == "__main__":
    main()
