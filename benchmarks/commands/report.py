"""`python -m benchmarks report FILE`: results as tables and a picture, made again."""

from pathlib import Path

import click
from rich.console import Console

from benchmarks.gpu.plot import plot
from benchmarks.gpu.results import Results, read
from benchmarks.gpu.tables import tables
from benchmarks.terminal import console


@click.command(short_help="Print results as tables and draw them.")
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(results: Path) -> None:
    """Print what a file of results comes to, and draw it beside the file, as PNG.

    Ratios are the best peer's time divided by ours. Only texts that are proved count.
    """
    show(read(results), results, console())


def show(results: Results, path: Path, out: Console) -> None:
    """Everything that is known, in words and as a picture beside the file."""
    there = ", ".join(f"{name} {said}" for name, said in results.machine.items())
    out.print(f"{results.command}\n{results.date}; {there}", highlight=False, soft_wrap=True)
    known = results.ceilings
    rates = ", ".join(f"{name} {rate / 1e12:.0f} TFLOP/s" for name, rate in known.products.items())
    out.print(
        f"copy {known.copy / 1e12:.2f} TB/s, {rates}, a launch {1000 * known.launch:.1f} us",
        highlight=False,
    )
    for table in tables(results):
        out.print(table)
    out.print(plot(results, path.with_suffix(".png")), highlight=False, soft_wrap=True)
