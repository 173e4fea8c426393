"""`python -m benchmarks compare A B`: what became slower from one file of results to another."""

from pathlib import Path

import click

from benchmarks.gpu.compare import changes, changes_table, is_regression
from benchmarks.gpu.results import read
from benchmarks.terminal import console

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Show what became slower between two files of results.")
@click.argument("before", type=FILE)
@click.argument("now", type=FILE)
@click.option(
    "--percent",
    type=click.FloatRange(0),
    default=3.0,
    show_default=True,
    help="Slower by more than that is a regression.",
)
def command(before: Path, now: Path, percent: float) -> int:
    """Compare our times of each row that BEFORE has with those of NOW.

    A row that NOW has not measured is told and is no regression, unless its .dt file is missing.

    Exit codes: 0 none is slower; 1 one is, or has failed.
    """
    one, other = read(before), read(now)
    out = console()
    differ = [name for name in one.machine if one.machine[name] != other.machine.get(name)]
    if differ:
        out.print(f"other machines: {', '.join(differ)} differ", highlight=False)
    found = [*changes(one, other)]
    out.print(changes_table(found, percent))
    slower = sum(is_regression(change, percent) for change in found)
    again = sum(change.now is not None for change in found)
    told = f"{slower} regressions; {again} of {len(found)} rows were measured again"
    out.print(told, highlight=False)
    return 1 if slower else 0
