"""`python -m benchmarks spaces STEP FOLDER`: the example spaces, prepared, measured and told."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from benchmarks.files import write_whole
from benchmarks.spaces.studies import (
    POINTS,
    STUDIES,
    Explored,
    chosen,
    drawing,
    measuring,
    preparing,
)
from benchmarks.spaces.table import table

TABLE = "spaces.md"


@click.command(short_help="Explore the example spaces: prepare, run, report.")
@click.argument("step", type=click.Choice(["prepare", "run", "report"]))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--space",
    "words",
    multiple=True,
    type=click.Choice([one.name for one in STUDIES]),
    help="Only this one; may be given again.",
)
@click.option("--points", type=click.IntRange(1), default=POINTS, show_default=True)
def command(step: str, folder: Path, words: tuple[str, ...], points: int) -> int:
    """Explore the spaces of examples/spaces at sizes for an H200.

    prepare makes, compiles and proves all texts, where there is isl; run measures them on a GPU,
    where isl is not needed; report writes a table, and for each space a page and pictures. Each
    step goes on where it was stopped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    codes = [_done(step, one, folder, points) for one in chosen(words)]
    if step == "report":
        there = [path for one in chosen(words) if (path := one.results(folder)).exists()]
        write_whole(folder / TABLE, table(there))
    return max(codes)


def _done(step: str, one: Explored, folder: Path, points: int) -> int:
    match step:
        case "prepare":
            return _dtpoly(preparing(one, folder, points))
        case "run":
            return _dtpoly(measuring(one, folder, points))
        case _:
            if not one.results(folder).exists():
                return 0
            return max(_dtpoly(drawing(one, folder, suffix)) for suffix in (".html", ".png"))


def _dtpoly(arguments: Sequence[str]) -> int:
    """A process of its own: what one space does wrong is no matter of the next."""
    return subprocess.run([sys.executable, "-m", "dtpoly", *arguments], check=False).returncode
