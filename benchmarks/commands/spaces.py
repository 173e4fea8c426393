"""`python -m benchmarks spaces STEP FOLDER`: spaces of schedules, prepared, measured and told."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from benchmarks.files import RESULTS, write_whole
from benchmarks.spaces.studies import (
    EXAMPLES,
    POINTS,
    SMALLER,
    STUDIES,
    Explored,
    How,
    chosen,
    drawing,
    measuring,
    preparing,
)
from benchmarks.spaces.summary import summaries
from benchmarks.spaces.table import table

TABLE = "spaces.md"
KEPT = RESULTS / "spaces_h200.json"
STEPS = ("prepare", "run", "report", "keep")


@click.command(
    short_help="Explore spaces of schedules: prepare, run, report, keep.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("step", type=click.Choice(STEPS))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("more", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--space",
    "words",
    multiple=True,
    type=click.Choice([one.name for one in STUDIES]),
    help="Only this one; may be given again.",
)
@click.option("--whole", is_flag=True, help="The spaces of examples/, which take hours.")
@click.option("--others", is_flag=True, help="At the other sizes, where nothing is compared.")
@click.option(
    "--together",
    type=click.IntRange(1, 16),
    default=1,
    show_default=True,
    help="So many spaces at once: while one compiles, another measures.",
)
@click.option("--points", type=click.IntRange(1), default=POINTS, show_default=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=KEPT,
    help="What `keep` writes.  [default: benchmarks/results/spaces_h200.json]",
)
def command(
    step: str,
    folder: Path,
    more: tuple[str, ...],
    words: tuple[str, ...],
    whole: bool,
    others: bool,
    together: int,
    points: int,
    output: Path,
) -> int:
    """Explore spaces of the thesis's kernels at sizes for an H200.

    prepare makes, compiles and proves all texts, where there is isl; run does that too, where it
    is not done, and measures them on a GPU; report writes a table, and for each space a page and
    pictures; keep writes what docs/evaluation.md is made of. Each step goes on where it was
    stopped. What follows -- is given to `dtpoly explore`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    there = [path for one in chosen(words) if (path := one.results(folder)).exists()]
    if step == "keep":
        write_whole(output, json.dumps({"questions": summaries(there)}, indent=1) + "\n")
        return 0
    if step == "report":
        write_whole(folder / TABLE, table(summaries(there)))
        return max([_dtpoly(one) for one in _drawn(words, folder)], default=0)
    how = How(EXAMPLES if whole else SMALLER, points, more)
    make = preparing if step == "prepare" else measuring

    def explored(one: Explored) -> int:
        every = one.others if others else ("",)
        return max([_dtpoly(make(one, folder, how, sizes)) for sizes in every], default=0)

    with ThreadPoolExecutor(together) as pool:
        return max(pool.map(explored, chosen(words)), default=0)


def _drawn(words: Sequence[str], folder: Path) -> Iterator[list[str]]:
    for one in chosen(words):
        if one.results(folder).exists():
            yield from (drawing(one, folder, suffix) for suffix in (".html", ".png"))


def _dtpoly(arguments: Sequence[str]) -> int:
    """A process of its own: what one space does wrong is no matter of the next."""
    return subprocess.run([sys.executable, "-m", "dtpoly", *arguments], check=False).returncode
