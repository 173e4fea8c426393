"""`python -m benchmarks bits STEP FOLDER`: what rows with the same bits cost in speed."""

import sys
from pathlib import Path
from typing import Any

import click

from benchmarks.files import RESULTS
from dtpoly.cli.lazy import load

STEPS = ("prepare", "run", "report")
KEPT = RESULTS / "batches_h200.json"


@click.command(short_help="Time schedules with the same bits in each batch beside the best ones.")
@click.argument("step", type=click.Choice(STEPS))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=KEPT,
    help="The JSON file of results; what it has is not measured again."
    "  [default: benchmarks/results/batches_h200.json]",
)
@click.option("--seconds", type=float, default=80.0, show_default=True, help="To begin cases in.")
@click.option("--device", type=click.Choice(("cuda", "cpu")), default="cuda", show_default=True)
@click.option("--target", default="h200", show_default=True, help="What prepare schedules for.")
@click.option("--tiny", is_flag=True, help="Tiny shapes instead, to see that all runs.")
def command(
    step: str, folder: Path, output: Path, seconds: float, device: str, target: str, *, tiny: bool
) -> int:
    """Measure one schedule for batches of all sizes beside the best one for each size.

    prepare chooses and proves the schedules, where there is isl, and needs no GPU; run measures
    them, and compares the bits of one row in all batches; report writes a table. Each step goes on
    where it was stopped.
    """
    if step == "prepare":
        cases: Any = load("benchmarks.batches.batch_cases")
        found: Any = load("dtpoly.explore.devices.devices").find_device(target)
        for one in cases.prepare(folder, cases.TINY if tiny else cases.CASES, found):
            proved = "proved" if not one.why_not_proved else "not proved"
            print(f"{one.file}: {one.predicted_ms:.4f} ms predicted, {proved}", file=sys.stderr)
        return 0
    if step == "run":
        runs: Any = load("benchmarks.batches.batch_runs")
        said = " ".join(["python -m benchmarks", *sys.argv[1:]])
        is_good = True
        for one in runs.measure(folder, output, device, seconds, said):
            print(f"{one['name']}: {one.get('failed', 'measured')}", file=sys.stderr)
            is_good = is_good and "failed" not in one
        return 0 if is_good else 1
    table: Any = load("benchmarks.batches.batch_table")
    print(table.table(output), end="")
    return 0
