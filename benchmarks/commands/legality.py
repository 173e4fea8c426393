"""`python -m benchmarks legality`: how fast the compiler proves schedules; a table and a file."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from benchmarks import legality
from benchmarks.files import RESULTS, write_whole
from benchmarks.machine import machine
from benchmarks.pace import slowness
from benchmarks.terminal import console
from benchmarks.timing import Result


@click.command(short_help="How fast the compiler proves schedules or refuses them.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=RESULTS / "legality.json",
    help="The JSON file.  [default: benchmarks/results/legality.json]",
)
def command(output: Path) -> None:
    """Measure the compiler's own time; print a table and write it down."""
    before = slowness()
    results = [*legality.results()]
    slow = (before + slowness()) / 2
    console().print(table("legality", results))
    write_whole(output, json.dumps(as_json(("legality",), results, slow), indent=2) + "\n")


def table(group: str, results: Sequence[Result]) -> Table:
    """Return one row a benchmark, in milliseconds of processor time."""
    made = Table(title=group, caption=machine()["cpu"])
    for head in ("what", "best", "median", "limit", "counts"):
        made.add_column(head, justify="left" if head in ("what", "counts") else "right")
    for one in results:
        counts = ", ".join(f"{count} {what}" for what, count in one.counts.items())
        limit = _ms(one.limit) if one.limit is not None else ""
        made.add_row(one.what, _ms(one.best), _ms(one.median), limit, counts)
    return made


def as_json(arguments: Sequence[str], results: Sequence[Result], slow: float) -> dict[str, object]:
    """Return what was run, where, and the results, in seconds of processor time.

    Limits grow with how slow the machine was just before and after.
    """
    return {
        "command": " ".join(("python", "-m", "benchmarks", *arguments)),
        "machine": machine(),
        "slowness": round(slow, 2),
        "results": [one.as_json() for one in results],
    }


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"
