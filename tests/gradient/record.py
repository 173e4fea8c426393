"""Counts what becomes of the gradients of random algorithms.

    python -m tests.gradient.record 5200 FILE --workers 8

Of so many random algorithms, of each kind as many, the gradient is derived and compared with that
of torch's autograd in 64 bits. Of some of them the gradient of the gradient is compared, too, and
of some the kernels of an operator that trains, which run in the interpreter. Each one that is wrong
is in FILE with its seed and what was said of it.

What is done is kept in FILE.jobs. So a run that was stopped goes on where it was, if it is started
by the same command again; with `--minutes` it stops by itself, and FILE says how many algorithms
were compared. `--again` compares those parts again in which something was wrong.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from tests.gradient.outcomes import kernel_outcome, outcome, second_outcome
from tests.gradient.random_algorithms import KINDS
from tests.same.working import worked

FIRST = 10_000  # seeds from here on are in no test
AT_A_TIME = 10
# Of how many algorithms one is differentiated again, and of how many one is computed by kernels.
SECOND, KERNELS = 5, 10
WAYS = {"first": outcome, "second": second_outcome, "kernels": kernel_outcome}
EVERY = {"first": 1, "second": SECOND, "kernels": KERNELS}
MOST = 2_000  # characters that are kept of what is wrong


class Job(NamedTuple):
    """Some seeds of a kind."""

    kind: str
    first: int
    last: int


class Found(NamedTuple):
    """How often each outcome occurred in each way, and what was wrong."""

    counts: dict[str, dict[str, int]]
    wrong: list[dict[str, Any]]


def done(job: Job) -> Found:
    """Compare the gradients of some seeds."""
    counts: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    wrong: list[dict[str, Any]] = []
    for seed in range(job.first, job.last):
        for way, compared in WAYS.items():
            if seed % EVERY[way]:
                continue
            try:
                counts[way][compared(job.kind, seed)] += 1
            except Exception as error:  # whatever it is, it is counted
                counts[way]["wrong"] += 1
                said = f"{type(error).__name__}: {error}"[:MOST]
                wrong.append({"kind": job.kind, "seed": seed, "way": way, "said": said})
    return Found({way: dict(one) for way, one in counts.items()}, wrong)


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
    kept.write_text("".join(f"{line}\n" for line in lines))


def compared(asked: argparse.Namespace) -> dict[Job, Found]:
    """Do the jobs that no earlier run did, and return what was found in all of them."""
    kept, end = kept_of(asked.file), asked.first + -(-asked.count // len(KINDS))
    known = known_jobs(kept, asked.first)
    if asked.again:
        known = {job: found for job, found in known.items() if not found.wrong}
    keep_jobs(kept, asked.first, known)
    every = [
        Job(kind, first, min(first + AT_A_TIME, end))
        for first in range(asked.first, end, AT_A_TIME)
        for kind in KINDS
    ]
    jobs, start = [one for one in every if one not in known], time.monotonic()
    with kept.open("a") as file, closing(worked(done, jobs, asked.workers)) as results:
        for count, (job, found) in enumerate(results, 1):
            if found is None:
                died = {"kind": job.kind, "seed": job.first, "way": "all"}
                found = Found({"first": {}}, [{**died, "said": "the process died"}])
            known[job] = found
            file.write(f"{json.dumps([job, found])}\n")
            file.flush()
            for one in found.wrong:
                print(json.dumps(one)[:300], flush=True)
            minutes = (time.monotonic() - start) / 60
            wrong = sum(len(one.wrong) for one in known.values())
            left = minutes / count * (len(jobs) - count)
            print(
                f"{len(known)} of {len(every)} parts, {wrong} wrong, {left:.0f} minutes left",
                file=sys.stderr,
                flush=True,
            )
            if asked.minutes is not None and minutes > asked.minutes:
                break
    return known


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
    parser.add_argument("--minutes", type=float, help="stop after so many, with what is done")
    parser.add_argument("--again", action="store_true", help="compare again what was wrong")
    asked = parser.parse_args(arguments)
    os.environ["TRITON_INTERPRET"] = "1"
    start = time.monotonic()
    known = compared(asked)
    said = {
        "what": "random algorithms: gradients, gradients of gradients, and kernels that train, "
        "beside torch's autograd in 64 bits",
        "command": f"python -m tests.gradient.record {asked.count} FILE --first {asked.first}",
        "compared": sum(job.last - job.first for job in known),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "triton")},
        },
        "seconds of the last run": round(time.monotonic() - start),
        **together(sorted(known.items())),
    }
    asked.file.write_text(f"{json.dumps(said, indent=1)}\n")
    print(json.dumps(said["ways"]))


if __name__ == "__main__":
    main()
