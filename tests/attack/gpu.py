"""Check the cases of a folder on a GPU: what each kernel does, against what the verifier read.

    python -m tests.attack.gpu FOLDER [--record R] [--workers W] [--seconds N]

`python -m tests.attack.prepare FOLDER` makes such a folder, on a machine that has dtpoly. Here it
needs torch, Triton, NumPy and rich. It ends after N seconds, and goes on where it ended when it is
called again: what each case came to is in R/prepared.jsonl as soon as it is known. The exit code is
1 if something differs, and 3 if the time did not do for all cases.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tests.attack.campaign import Campaign
from tests.attack.folder import FOLDER, numbers_in
from tests.attack.record import Entry, record_at
from tests.attack.running import Limits, run
from tests.attack.summary import as_json, found_any, save_finding, summary_of, table_of

PREPARED = Campaign(
    "prepared",
    "What the verifier read of kernels elsewhere, against a GPU here.",
    "tests.attack.prepared",
    # Each process has a CUDA context, which takes some GiB of its own.
    bytes=8 * 2**30,
    is_interpreted=False,
    is_started_slowly=True,
)
# A machine may give its memory slowly, so that many processes at once find none.
WORKERS = 6
UNFINISHED = 3


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.gpu", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--record", type=Path, help="where to write; the folder, if nothing is said"
    )
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--seconds", type=float, default=480.0)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None, campaign: Campaign = PREPARED) -> int:
    """Check the folder."""
    asked = arguments(words)
    folder = asked.folder.resolve()
    kept = folder if asked.record is None else asked.record.resolve()
    kept.mkdir(parents=True, exist_ok=True)
    os.environ[FOLDER] = str(folder)
    console = Console()
    record = record_at(kept / "prepared.jsonl")

    def seen(entry: Entry) -> None:
        if entry.outcome.is_finding:
            path = save_finding(kept / "findings", campaign.name, entry)
            said = f"case {entry.seed}: {entry.outcome.verdict.value}: {entry.outcome.what}"
            console.print(f"{said} ({path})", markup=False, soft_wrap=True)

    every = numbers_in(folder)
    left = [number for number in every if number not in record.entries]
    limits = Limits(asked.seconds, len(left), is_very_end=True)
    if left:
        run(campaign, record, iter(left), limits, asked.workers, seen)
    summary = summary_of(campaign.name, record)
    (kept / "summary.json").write_text(as_json([summary]))
    console.print(table_of([summary]))
    left = [number for number in every if number not in record.entries]
    console.print(f"{len(every) - len(left)} of {len(every)} cases are checked")
    return int(found_any([summary])) or (UNFINISHED if left else 0)


if __name__ == "__main__":
    sys.exit(main())
