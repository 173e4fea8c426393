"""`python -m benchmarks registers`: the estimate of registers beside the compiler's."""

from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import click

from benchmarks.files import RESULTS
from benchmarks.terminal import console
from benchmarks.unseen.cases import cases
from dtpoly.cli.lazy import load
from dtpoly.explore.devices.devices import DEFAULT, find_device

RECORD = RESULTS / "registers_sm90.json"


@click.command(short_help="Compare estimated registers with the compiler's.")
@click.option("--seed", "seeds", type=int, multiple=True, help="Compile this list, too.")
@click.option("--cases", "count", default=40, show_default=True, help="How many of each list.")
@click.option("--choices", default=3, show_default=True, help="Schedules of each case.")
@click.option("--device", default=DEFAULT, show_default=True, help="What is compiled for.")
@click.option("--record", type=click.Path(path_type=Path), default=RECORD, show_default=True)
def command(seeds: tuple[int, ...], count: int, choices: int, device: str, record: Path) -> None:
    """Compile schedules of unseen lists without a GPU, and say how far the estimate is off.

    The record goes on where it was. Without --seed nothing is compiled: what the record has is
    compared with the estimate when a line was made, and with the estimate as it is now.
    """
    known = find_device(device)
    needs: ModuleType = load("benchmarks.compiled_needs")
    lines = needs.known_lines(record)
    out = console()
    for seed in seeds:
        drawn = cases(seed, count)
        for line in needs.lines_of(f"seed {seed}", drawn, known, lines, choices):
            lines.append(line)
            needs.written(record, lines, {"triton": version("triton"), "target": str(known.target)})
            out.print(f"{line['list']} {line['name']}", highlight=False)
    errors: ModuleType = load("benchmarks.estimate_errors")
    for when in ("then", "now"):
        if when == "now":
            needs.estimate_again(lines, known)
        out.print(errors.told(errors.groups(lines, when)), highlight=False, soft_wrap=True)
