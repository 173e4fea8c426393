"""`python -m benchmarks evaluation`: what is kept of explorations in; their page's tables out."""

import json
from pathlib import Path

import click

from benchmarks.evaluation import PAGE, filled, ranked, spaces_told, told
from benchmarks.files import write_whole
from benchmarks.spaces.summary import read


@click.command(short_help="Write the tables of docs/evaluation.md.")
@click.option(
    "--spaces",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Only show those of this file.",
)
def command(path: Path | None) -> int:
    """Fill docs/evaluation.md from benchmarks/results; what is between its marks is replaced."""
    if path is None:
        write_whole(PAGE, filled(PAGE.read_text(), told()))
    else:
        every = read(json.loads(path.read_text())["questions"])
        click.echo(f"{spaces_told(every)}\n{ranked(every)}", nl=False)
    return 0
