"""`python -m benchmarks schedule FOLDER`: what the autoscheduler would measure, as variants."""

from pathlib import Path

import click

from benchmarks.files import ROOT, write_whole
from benchmarks.gpu.rows import GROUPS, rows
from benchmarks.scheduled import chosen
from benchmarks.terminal import console
from dtpoly.explore.devices.devices import DEFAULT, find_device


@click.command(short_help="Write the schedules that the autoscheduler would measure.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--examples",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=ROOT / "examples",
    help="Where the .dt files are.  [default: examples/]",
)
@click.option("--kernels", multiple=True, help="Only this kernel, or file; may be given again.")
@click.option("--most", default=20, show_default=True, help="Of each row.")
@click.option("--device", default=DEFAULT, show_default=True, help="That they are for.")
def command(folder: Path, examples: Path, kernels: tuple[str, ...], most: int, device: str) -> int:
    """Write KERNEL__CASE__PLACE.dt into FOLDER for each row of the table.

    Schedules in the examples do not count. `prepare --variants FOLDER` takes them, `run` times
    each in its row alone, and `scheduled` says what comes of them.
    """
    groups = [g for g in GROUPS if not kernels or {g.kernel, *g.files} & {*kernels}]
    if not groups:
        raise click.UsageError(f"no kernel is called {', '.join(kernels)}")
    out = console()
    for row in rows(groups):
        found = list(chosen(row, examples, find_device(device), most))
        for one in found:
            write_whole(folder / f"{one.name}.dt", one.text)
        first = f", the first one {found[0].milliseconds:.4g} ms by prediction" if found else ""
        out.print(f"{row.name}: {len(found)}{first}", highlight=False)
    return 0
