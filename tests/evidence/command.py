"""Computes the evidence for each construct, and keeps it in `benchmarks/results/constructs.json`.

    python -m tests.evidence agreement 170   # random programs: what the oracle and isl say of them
    python -m tests.evidence compiled 10     # random programs: compiled, run and verified
    python -m tests.evidence mutants 50      # mistakes in emitted kernels

The number is that of the programs of each kind, or of the mistakes of each construct. What has been
computed for this number is kept; `--again` computes all anew. `--workers` is the number of
processes: they share the programs of a kind, and the mistakes of a construct.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.evidence.agreement import CASES, compared, compiled
from tests.evidence.mutants import MUTANTS, counted
from tests.same.working import worked

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "constructs.json"
# Seeds that no test has.
FIRST = 3000
# How many programs a process computes at a time, and into how many shares mistakes are divided.
AT_A_TIME, SHARES = {"agreement": 5, "compiled": 1}, 10
Found = Mapping[str, Mapping[str, int]]
# The part, the name of a kind or of a construct, how many are asked, and the number of the share.
Job = tuple[str, str, int, int]


def share(job: Job) -> Found:
    """Compute one share of the evidence of a part for a kind of programs, or for a construct."""
    part, name, count, at = job
    if part == "mutants":
        construct = next(one for one in MUTANTS if one == name)
        return {"found": counted(construct, count, at, SHARES)}
    first = FIRST + at * AT_A_TIME[part]
    last = min(first + AT_A_TIME[part], FIRST + count)
    if part == "agreement":
        return {"found": compared(name, first, last)}
    found, why = compiled(name, first, last)
    return {"found": found, "why": why}


def shares(part: str, count: int) -> range:
    """Return the numbers of the shares of a kind, or of a construct."""
    return range(SHARES if part == "mutants" else -(-count // AT_A_TIME[part]))


def together(count: int, found: Sequence[Found]) -> dict[str, Any]:
    """Add up what shares have found."""
    sums: dict[str, Counter[str]] = {word: Counter() for word in found[0]}
    for one in found:
        for word, counts in one.items():
            sums[word].update(counts)
    return {
        "count": count,
        **{word: dict(sorted(counts.items())) for word, counts in sums.items()},
    }


def known() -> dict[str, Any]:
    """Return what is kept."""
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return found


def keep(part: str, name: str, found: Mapping[str, Any]) -> None:
    """Write the evidence of a kind or of a construct beside what is there already."""
    kept = known()
    kept.setdefault(part, {})[name] = found
    ordered = {part: dict(sorted(kept[part].items())) for part in sorted(kept)}
    RESULTS.write_text(f"{json.dumps(ordered, indent=1)}\n")


def computed(
    part: str, names: Sequence[str], count: int, workers: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is found for each name, as soon as all of its shares are there."""
    got: dict[str, list[Found]] = {name: [] for name in names}
    jobs = [(part, name, count, at) for name in names for at in shares(part, count)]
    for job, found in worked(share, jobs, workers):
        name = job[1]
        assert found is not None, f"the process that computed {job} died"
        got[name].append(found)
        if len(got[name]) == len(shares(part, count)):
            yield name, together(count, got[name])


def main() -> None:
    """Compute the evidence of one part, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m tests.evidence")
    parser.add_argument("part", choices=("agreement", "compiled", "mutants"))
    parser.add_argument("count", type=int)
    parser.add_argument("--only", nargs="*", help="kinds of programs, or constructs")
    parser.add_argument("--again", action="store_true", help="compute what is there already, too")
    parser.add_argument("--workers", type=int, default=1, help="processes (the default is 1)")
    asked = parser.parse_args()
    os.environ["TRITON_INTERPRET"] = "1"
    every = [*(map(str, MUTANTS) if asked.part == "mutants" else CASES)]
    kept = known().get(asked.part, {})
    names = [
        name
        for name in asked.only or every
        if asked.again or kept.get(name, {}).get("count") != asked.count
    ]
    for name, found in computed(asked.part, names, asked.count, asked.workers):
        keep(asked.part, name, found)
        print(name, found["found"], flush=True)
