"""Computes the evidence for each construct, and keeps it in `benchmarks/results/constructs.json`.

    python -m tests.evidence agreement 170   # random programs: what the oracle and isl say of them
    python -m tests.evidence compiled 10     # random programs: compiled, run and verified
    python -m tests.evidence mutants 50      # mistakes in emitted kernels

The number is that of the programs of each kind, or of the mistakes of each construct. What has been
computed for this number is kept; `--again` computes all anew.
"""

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.evidence.agreement import CASES, compared, compiled
from tests.evidence.mutants import MUTANTS, counted

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "constructs.json"
# Seeds that no test has.
FIRST = 3000


def computed(part: str, name: str, count: int) -> dict[str, Any]:
    """Compute the evidence of a part for a kind of programs, or for a construct."""
    match part:
        case "agreement":
            return {"count": count, "found": dict(compared(name, FIRST, FIRST + count))}
        case "compiled":
            found, reasons = compiled(name, FIRST, FIRST + count)
            return {"count": count, "found": dict(found), "why": dict(reasons)}
        case _:
            construct = next(one for one in MUTANTS if one == name)
            return {"count": count, "found": dict(counted(construct, count))}


def keep(part: str, name: str, found: Mapping[str, Any]) -> None:
    """Write the evidence of a kind or of a construct beside what is there already."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known.setdefault(part, {})[name] = found
    ordered = {part: dict(sorted(known[part].items())) for part in sorted(known)}
    RESULTS.write_text(f"{json.dumps(ordered, indent=1)}\n")


def main() -> None:
    """Compute the evidence of one part, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m tests.evidence")
    parser.add_argument("part", choices=("agreement", "compiled", "mutants"))
    parser.add_argument("count", type=int)
    parser.add_argument("--only", nargs="*", help="kinds of programs, or constructs")
    parser.add_argument("--again", action="store_true", help="compute what is there already, too")
    asked = parser.parse_args()
    os.environ["TRITON_INTERPRET"] = "1"
    every = [*(map(str, MUTANTS) if asked.part == "mutants" else CASES)]
    for name in asked.only or every:
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        if known.get(asked.part, {}).get(name, {}).get("count") == asked.count and not asked.again:
            continue
        found = computed(asked.part, name, asked.count)
        keep(asked.part, name, found)
        print(name, found["found"], flush=True)


if __name__ == "__main__":
    main()
