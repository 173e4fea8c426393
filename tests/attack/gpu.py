"""Check the cases of a folder on a GPU: what each kernel does, against what the verifier read.

    python -m tests.attack.gpu FOLDER [--workers W] [--seconds N]

`python -m tests.attack.prepare FOLDER` makes such a folder, on a machine that has dtpoly. Here it
needs torch, Triton, NumPy and rich. The exit code is 1 if something differs.
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import count
from pathlib import Path

from rich.console import Console

from tests.attack.campaign import Campaign
from tests.attack.prepared import FOLDER, lines
from tests.attack.record import Entry, record_at
from tests.attack.running import Limits, run
from tests.attack.summary import as_json, found_any, save_finding, summary_of, table_of

PREPARED = Campaign(
    "prepared",
    "What the verifier read of kernels elsewhere, against a GPU here.",
    "tests.attack.prepared",
    seconds=240.0,
    bytes=10 * 2**30,
    is_interpreted=False,
)


def main() -> int:
    """Check the folder."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.gpu", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=540.0)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    os.environ[FOLDER] = str(folder)
    console = Console()
    record = record_at(folder / "prepared.jsonl")

    def seen(entry: Entry) -> None:
        if entry.outcome.is_finding:
            path = save_finding(folder / "findings", PREPARED.name, entry)
            said = f"case {entry.seed}: {entry.outcome.verdict.value}: {entry.outcome.what}"
            console.print(f"{said} ({path})", markup=False, soft_wrap=True)

    total = len(lines(folder))
    left = [seed for seed in range(total) if seed not in record.entries]
    limits = Limits(asked.seconds, len(left))
    if left:
        run(PREPARED, record, iter([*left, *count(total)]), limits, asked.workers, seen)
    summary = summary_of(PREPARED.name, record)
    (folder / "summary.json").write_text(as_json([summary]))
    console.print(table_of([summary]))
    return int(found_any([summary]))


if __name__ == "__main__":
    sys.exit(main())
