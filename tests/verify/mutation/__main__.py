"""`python -m tests.verify.mutation`: mistakes in every emitted file, and what is said of each."""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tests.codegen.listings import FILES
from tests.verify.mutation.judging import Job, RanJob, executed, verified
from tests.verify.mutation.operators import NAMED, OPERATORS
from tests.verify.mutation.recording import versions
from tests.verify.mutation.streaming import ROOT, fingerprint, streamed
from tests.verify.mutation.telling import Mutant, table, told

RESULTS = ROOT / "benchmarks" / "results" / "verify_mutants.json"
RUN_BY = (
    *("codegen", "frontend", "dtpoly/poly", "dtpoly/schedule", "dtpoly/algorithm"),
    *("tests/codegen", "tests/verify/mutation", "tests/data", "examples"),
)
WIDTH = 150
JUDGED_BY = (*RUN_BY, "dtpoly/verify", "dtpoly/ring")


def measured(
    jobs: Sequence[Job], output: Path, workers: int, seconds: float | None
) -> list[Mutant]:
    """Return every mutant that was both run and verified."""
    began = time.monotonic()
    first = streamed(
        "run     ", executed, jobs, output.with_suffix(".run.part"), fingerprint(*RUN_BY),
        workers, seconds,
    )  # fmt: skip
    ran = [
        RanJob(job, tuple(row["outcome"] for row in first[str(job)]))
        for job in jobs
        if str(job) in first
    ]
    left = None if seconds is None else max(seconds - (time.monotonic() - began), 0)
    second = streamed(
        "verified", verified, ran, output.with_suffix(".verified.part"), fingerprint(*JUDGED_BY),
        workers, left,
    )  # fmt: skip
    return [
        Mutant(one.job.file, one.job.operator, row, judged)
        for one in ran
        # A job that was given up has no rows.
        if len(second.get(str(one), ())) == len(one.outcomes)
        for row, judged in zip(first[str(one)], second.get(str(one), ()), strict=True)
    ]


def main() -> None:
    """Run, verify, print and record."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.mutation")
    parser.add_argument("--operators", nargs="*", default=list(NAMED), choices=list(NAMED))
    parser.add_argument("--files", nargs="*", default=list(FILES), choices=list(FILES))
    parser.add_argument("--each", type=int, default=2, help="of each operator and file (2)")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    os.environ["TRITON_INTERPRET"] = "1"
    jobs = [
        Job(file, operator.name, chosen.each)
        for file in chosen.files
        for operator in OPERATORS
        if operator.name in chosen.operators
    ]
    found = measured(jobs, chosen.output, chosen.workers, chosen.seconds)
    console = Console()
    # The table needs this width, also where the output goes to a file.
    console.width = max(console.width, WIDTH)
    if not found:
        console.print("nothing was verified in that time: the same command goes on")
        sys.exit(1)
    command = " ".join(("python -m tests.verify.mutation", *sys.argv[1:]))
    result = told(command, versions(), found)
    chosen.output.write_text(f"{json.dumps(result, indent=1)}\n")
    console.print(table(found))
    for name, value in result["figures"].items():
        console.print(f"{value:>7} {name}", highlight=False)


if __name__ == "__main__":
    main()
