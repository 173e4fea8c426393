"""Implements `dtpoly ship RESULTS -o FILE`, which writes the fastest schedules as .dts text."""

from pathlib import Path
from types import ModuleType

import click

from dtpoly.cli.lazy import load
from dtpoly.cli.saving import tell_error
from dtpoly.explore.store.database import StoreError


@click.command(
    short_help="Write the fastest schedules into a file to keep.",
    epilog="""\b
Examples:
  dtpoly ship softmax.sqlite -o softmax.tuned.dts --algorithm softmax.dt
  dtpoly ship softmax.sqlite -o softmax.tuned.dts""",
)
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "output", type=click.Path(path_type=Path), required=True, metavar="FILE.dts")
@click.option(
    "--algorithm",
    type=click.Path(path_type=Path),
    metavar="FILE.dt",
    help="The algorithm that a new FILE.dts names, by its path from the folder of FILE.dts.",
)
def command(results: Path, output: Path, algorithm: Path | None) -> int:
    """Write the fastest schedules of a file of results into a file of tuned schedules.

    Each schedule is written with its device, dtype and sizes; schedules in the file for other ones
    stay. Only schedules whose kernels are proved are written. At each call,
    dtpoly.load(FILE.dt, tuned=FILE.dts) uses the schedule whose sizes are nearest.
    """
    if not output.exists() and algorithm is None:
        raise click.UsageError(f"there is no '{output}' yet: say with --algorithm what it is about")
    shipping: ModuleType = load("dtpoly.cli.shipped_file")
    try:
        done: int = shipping.ship(results, output, algorithm)
    except StoreError as error:
        tell_error(str(error))
        return 1
    return done
