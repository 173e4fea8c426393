"""`python -m benchmarks evaluation` writes the tables of two pages from results that are kept."""

import json
from pathlib import Path

import click

from benchmarks import by_file
from benchmarks.evaluation import PAGE, filled, ranked, spaces_told, told
from benchmarks.files import write_whole
from benchmarks.spaces.summary import read


@click.command(short_help="Write the tables of docs/evaluation.md and docs/performance.md.")
@click.option(
    "--spaces",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Only show those of this file.",
)
def command(path: Path | None) -> int:
    """Fill docs/evaluation.md and docs/performance.md from benchmarks/results.

    What is between their marks is replaced.
    """
    if path is None:
        for page, parts in ((PAGE, told()), (by_file.PAGE, by_file.told())):
            write_whole(page, filled(page.read_text(), parts))
    else:
        every = read(json.loads(path.read_text())["questions"])
        click.echo(f"{spaces_told(every)}\n{ranked(every)}", nl=False)
    return 0
