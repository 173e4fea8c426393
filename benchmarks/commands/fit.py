"""`python -m benchmarks fit`: numbers of a device that are fitted to measured times."""

import click

from benchmarks.commands.cost import MEASURED
from benchmarks.files import RESULTS
from benchmarks.fitted import TRIED, Quality, fitted, quality, spreads, unseen_schedules
from benchmarks.predicted import read, schedules_of
from benchmarks.terminal import console
from dtpoly.explore.devices.devices import DEFAULT, find_device

UNSEEN = "unseen_h200.json"
LANES, LANES_ON = "lane_products_h100.json", "h100"  # exact products of f32


@click.command(short_help="Fit the numbers of the cost model's device to measured times.")
@click.option("--device", default=DEFAULT, show_default=True, help="That of the records.")
def command(device: str) -> None:
    """Say which numbers of a device predict the records of an H200 best; this changes nothing.

    Then, for each kind of kernel, between which shares of the prediction half of the times lie.

    The records are those of `python -m benchmarks cost`, and of a list of operators that nobody
    tuned for (`python -m benchmarks unseen --record`).
    """
    known = find_device(device)
    public = [one for name in MEASURED for one in schedules_of(read(RESULTS / name))]
    unseen = [*unseen_schedules(read(RESULTS / UNSEEN))]
    groups = {"the benchmarks": public, "operators that nobody tuned for": unseen}
    found = fitted(known, [*groups.values()])
    out = console()
    for name in TRIED:
        out.print(f"{name}: {known[name]:g} now, {found[name]:g} fits best", highlight=False)
    for name, group in groups.items():
        out.print(f"{name}: {_said(quality(known, group))} now", highlight=False)
        out.print(f"{name}: {_said(quality(found, group))} with what fits best", highlight=False)
    lanes = [*unseen_schedules(read(RESULTS / LANES))]
    for one in spreads([(known, public + unseen), (find_device(LANES_ON), lanes)]):
        between = f"{one.low:.2f} to {one.high:.2f} times the prediction"
        out.print(f"{one.kind}: half of {one.kernels} took {between}", highlight=False)


def _said(one: Quality) -> str:
    return f"{one.schedules} schedules, median error {one.error:.0%}, ratio {one.bias:.2f}"
