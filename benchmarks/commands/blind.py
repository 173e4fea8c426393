"""`python -m benchmarks blind`: what the autoscheduler chooses beside what was measured by hand."""

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from benchmarks.blind import Blind, blind
from benchmarks.chosen import mean
from benchmarks.files import RESULTS, write_whole
from benchmarks.gpu.rows import GROUPS, rows
from benchmarks.predicted import read
from benchmarks.terminal import console
from dtpoly.explore.devices.devices import DEFAULT, find_device

MEASURED = ("kernels_h200.json", "variants_h200.json")


@click.command(short_help="Hold what the autoscheduler chooses against what was measured.")
@click.option("--kernels", multiple=True, help="Only this kernel, or file; may be given again.")
@click.option("--most", default=20, show_default=True, help="Schedules of each row.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=RESULTS / "autoschedule_h200.json",
    help="The JSON file.  [default: benchmarks/results/autoschedule_h200.json]",
)
def command(kernels: tuple[str, ...], most: int, output: Path) -> None:
    """Choose schedules for all rows without a GPU, and look for those in the records of an H200."""
    device, out = find_device(DEFAULT), console()
    records = [read(RESULTS / name) for name in MEASURED]
    groups = [g for g in GROUPS if not kernels or {g.kernel, *g.files} & {*kernels}]
    found: list[Blind] = []
    for row in rows(groups):
        found.append(blind(row, records, device, most))
        out.print(f"{row.name}: {found[-1].first:.4g} us by prediction", highlight=False)
    out.print(table(found))
    shares = [one.share for one in found if one.reached]
    out.print(
        f"{len(found)} rows; in {len(shares)} something chosen was measured, and reaches at the"
        f" least {mean(shares):.3f} of the best known; the example's own schedule is chosen in"
        f" {sum(one.is_hand for one in found)}, and by prediction behind the first in"
        f" {sum(one.place > 1 for one in found)}",
        highlight=False,
        soft_wrap=True,
    )
    text = {"command": "python -m benchmarks blind", "device": device.key, "most": most}
    data = {**text, "rows": [{**asdict(one), "share": one.share} for one in found]}
    write_whole(output, json.dumps(data, indent=1) + "\n")


def table(found: list[Blind]) -> Table:
    """Return a line for each row."""
    made = Table(title="chosen without a GPU, in microseconds")
    for head in ("row", "chosen", "first", "by hand", "place", "is chosen", "known", "reached"):
        made.add_column(head, justify="left" if head == "row" else "right")
    for one in found:
        made.add_row(
            *(one.row, str(one.chosen), f"{one.first:.4g}", f"{one.hand:.4g}", str(one.place)),
            *("yes" if one.is_hand else "", f"{one.known:.4g}" if one.known else ""),
            f"{one.reached:.4g}" if one.reached else "",
        )
    return made
