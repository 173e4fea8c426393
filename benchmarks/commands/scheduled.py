"""`python -m benchmarks scheduled FILE...`: how near the autoscheduler comes to the best known."""

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from benchmarks.chosen import Reached, mean, reached, record
from benchmarks.files import write_whole
from benchmarks.terminal import console

ENOUGH = 0.9  # of the best known, in the geometric mean
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Show what the schedules that `schedule` wrote come to.")
@click.argument("results", type=FILE, nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also keep it in a JSON file, of which docs/evaluation.md is made.",
)
@click.option("--seconds", type=FILE, help="Lines of ROW<tab>MEASURED<tab>SECONDS to keep with it.")
def command(results: tuple[Path, ...], output: Path | None, seconds: Path | None) -> int:
    """Compare the schedules that were chosen for each row with the best of ours in RESULTS.

    Exit codes: 0 they reach 0.9 of it in the geometric mean; 1 they do not.
    """
    found = list(reached([record(path) for path in results]))
    out = console()
    out.print(_table(found))
    if output is not None:
        data = {"rows": [asdict(one) for one in found], "seconds": _seconds(seconds)}
        write_whole(output, json.dumps(data, indent=1) + "\n")
    shares, firsts = [one.share for one in found], [one.share_of_first for one in found]
    out.print(
        f"{len(found)} rows: {mean(shares):.3f} of the best known in the geometric mean, the first"
        f" one unmeasured {mean(firsts):.3f}; {sum(one.failed for one in found)} have no time",
        highlight=False,
        soft_wrap=True,
    )
    return 0 if mean(shares) >= ENOUGH else 1


def _seconds(path: Path | None) -> list[dict[str, object]]:
    """Return how long `dtpoly schedule` took for some rows, with so many schedules measured."""
    lines = path.read_text().splitlines() if path is not None else []
    words = (line.split("\t") for line in lines)
    return [{"row": row, "measured": int(n), "seconds": float(took)} for row, n, took in words]


def _table(found: list[Reached]) -> Table:
    made = Table(title="what the autoscheduler reaches")
    for head in ("row", "best known", "ms", "measured", "best", "place", "share", "first"):
        made.add_column(head, justify="left" if head in ("row", "best known") else "right")
    for one in sorted(found, key=lambda one: one.share):
        made.add_row(
            *(one.row, one.known_name, f"{one.known:.4g}", str(one.chosen), f"{one.best:.4g}"),
            *(str(one.place), f"{one.share:.3f}", f"{one.share_of_first:.3f}"),
        )
    return made
