"""The name of a group of benchmarks in; a table, and a JSON file of the results, out."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import legality
from benchmarks.machine import machine
from benchmarks.timing import Result

RESULTS = Path(__file__).parent / "results"
GROUPS = {"legality": legality.results}


def main(arguments: Sequence[str]) -> None:
    """Run a group; print what was measured and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--output", type=Path, help="the JSON file (benchmarks/results/GROUP.json)")
    chosen = parser.parse_args(arguments)
    results = [*GROUPS[chosen.group]()]
    # A file has no width of its own.
    Console(width=None if sys.stdout.isatty() else 140).print(table(chosen.group, results))
    output = chosen.output or RESULTS / f"{chosen.group}.json"
    output.write_text(json.dumps(as_json(arguments, results), indent=2) + "\n")


def table(group: str, results: Sequence[Result]) -> Table:
    """One row a benchmark, in milliseconds of processor time."""
    made = Table(title=group, caption=machine()["cpu"])
    for head in ("what", "best", "median", "limit", "counts"):
        made.add_column(head, justify="left" if head in ("what", "counts") else "right")
    for one in results:
        counts = ", ".join(f"{count} {what}" for what, count in one.counts.items())
        limit = _ms(one.limit) if one.limit is not None else ""
        made.add_row(one.what, _ms(one.best), _ms(one.median), limit, counts)
    return made


def as_json(arguments: Sequence[str], results: Sequence[Result]) -> dict[str, object]:
    """What was run, where, and what came out, in seconds of processor time."""
    return {
        "command": " ".join(("python", "-m", "benchmarks", *arguments)),
        "machine": machine(),
        "results": [one.as_json() for one in results],
    }


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


if __name__ == "__main__":
    main(sys.argv[1:])
