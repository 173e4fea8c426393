"""`python -m benchmarks cost`: what the cost model says of schedules that were measured."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from benchmarks.files import RESULTS, write_whole
from benchmarks.predicted import Point, Ranked, as_json, points, ranked, read, summary
from benchmarks.predicted_plot import plot
from benchmarks.terminal import console
from dtpoly.explore.devices.devices import DEFAULT, find_device

MEASURED = ("kernels_h200.json", "variants_h200.json")


@click.command(short_help="How well the cost model predicts what was measured.")
@click.option("--device", default=DEFAULT, show_default=True, help="That of the records.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=RESULTS / "cost_h200.json",
    help="The JSON file; a picture comes beside it.  [default: benchmarks/results/cost_h200.json]",
)
@click.argument("records", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(records: tuple[Path, ...], device: str, output: Path) -> None:
    """Predict the time of every schedule in RECORDS, and say how well that ranks them.

    Without RECORDS those of an H200: the examples, and many schedules of some of them. Texts that
    have changed since they were measured are left out.
    """
    chosen = find_device(device)
    out, found, data = console(), list[Point](), dict[str, object]()
    for record in records or tuple(RESULTS / name for name in MEASURED):
        mine = list(points(read(record), chosen))
        said = summary(mine)
        out.print(
            f"{record.name}: {said.points} schedules, rank correlation {said.rank:.3f};"
            f" predicted / measured: median {said.middle:.2f}, off by {said.error:.2f} in the mean,"
            f" from {said.worst[0]:.2f} to {said.worst[1]:.2f}",
            highlight=False,
            soft_wrap=True,
        )
        if said.rows:
            out.print(table(ranked(mine)))
            out.print(
                f"{said.rows} rows: the one predicted best reaches {said.first:.3f} of the best,"
                f" the best three {said.first_few:.3f}, by chance {said.chance:.3f} and"
                f" {said.chance_few:.3f}; rank correlation within a row"
                f" {said.rank_in_rows:.2f}, of {said.spread_rows} rows whose times differ by 10 %",
                highlight=False,
                soft_wrap=True,
            )
        data[record.stem] = as_json(mine)
        found += mine
    text = {"command": "python -m benchmarks cost", "device": chosen.key, **data}
    write_whole(output, json.dumps(text, indent=1) + "\n")
    out.print(plot(found, output.with_suffix(".png"), chosen.name), highlight=False)


def table(lines: Sequence[Ranked]) -> Table:
    """Return a row for each kernel and shape of which several schedules were measured."""
    made = Table(title="schedules of one kernel, ranked")
    for head in ("kernel", "case", "schedules", "slowest / best", "rank", "first", "first three"):
        made.add_column(head, justify="left" if head in ("kernel", "case") else "right")
    for one in lines:
        numbers = (one.spread, one.rank, one.first, one.first_few)
        made.add_row(
            one.kernel, one.case, str(one.schedules), *(f"{number:.2f}" for number in numbers)
        )
    return made
