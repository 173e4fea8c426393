"""Counts what becomes of the gradients of random algorithms.

    python -m tests.gradient.record 5200 FILE --workers 8

Of so many random algorithms, of each kind as many, the gradient is derived and compared with that
of torch's autograd in 64 bits. Of some of them the gradient of the gradient is compared, too, and
of some the kernels of an operator that trains, which run in the interpreter. Each one that is wrong
is in FILE with its seed and what was said of it.
"""

import argparse
import json
import os
import platform
import time
from collections import Counter
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


def main() -> None:
    """Compare as many as are asked for, and write what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.gradient.record")
    parser.add_argument("count", type=int, help="algorithms, of all kinds together")
    parser.add_argument("file", type=Path)
    parser.add_argument("--first", type=int, default=FIRST, help="the first seed of each kind")
    parser.add_argument("--workers", type=int, default=1, help="processes (the default is 1)")
    asked = parser.parse_args()
    os.environ["TRITON_INTERPRET"] = "1"
    start = time.time()
    end = asked.first + -(-asked.count // len(KINDS))
    jobs = [
        Job(kind, first, min(first + AT_A_TIME, end))
        for first in range(asked.first, end, AT_A_TIME)
        for kind in KINDS
    ]
    every: list[tuple[Job, Found]] = []
    for job, found in worked(done, jobs, asked.workers):
        died = {"kind": job.kind, "seed": job.first, "way": "all", "said": "the process died"}
        every.append((job, Found({"first": {}}, [died]) if found is None else found))
        for one in every[-1][1].wrong:
            print(json.dumps(one)[:300], flush=True)
    every.sort()
    said = {
        "what": "random algorithms: gradients, gradients of gradients, and kernels that train, "
        "beside torch's autograd in 64 bits",
        "command": f"python -m tests.gradient.record {asked.count} FILE --first {asked.first}",
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "triton")},
        },
        "seconds": round(time.time() - start),
        **together(every),
    }
    asked.file.write_text(f"{json.dumps(said, indent=1)}\n")
    print(json.dumps(said["ways"]))


if __name__ == "__main__":
    main()
