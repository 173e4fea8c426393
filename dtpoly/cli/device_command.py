"""Implements `dtpoly device`, which measures the GPU of this machine for `dtpoly cost`."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from dtpoly.cli.file_arguments import complete_files
from dtpoly.cli.lazy import load_with_torch
from dtpoly.cli.output import write
from dtpoly.cli.saving import save, tell_error
from dtpoly.explore.devices.devices import entry_of
from dtpoly.explore.devices.probe import UnknownTarget, probed
from dtpoly.targets.target import LIMITS

NEEDED = "torch and triton measure the GPU"
WAY_OUT = """  = hint: `dtpoly cost --device` knows some GPUs by name; or run this on the machine
          that has yours, and pass the file that it writes
"""


@click.command(
    short_help="Measure the GPU of this machine.",
    epilog="""\b
Examples:
  dtpoly device -o mine.json
  dtpoly device
  dtpoly cost softmax.dt --size x=4096,y=4096 --device mine.json""",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE.json",
    shell_complete=complete_files,
    help="Where to write the numbers.  [default: standard output]",
)
def command(output: str | None) -> int:
    """Measure the GPU of this machine, for the estimates of dtpoly cost.

    Copies, products, exponentials and a launch are measured, which takes some seconds. The output
    says for each number where it is from: a number that is not measured is copied from a known GPU.
    """
    if output is not None and not output.endswith(".json"):
        raise click.BadParameter("its name must end in .json", param_hint="--output")
    module: Any = load_with_torch("dtpoly.explore.devices.probe_torch", NEEDED)
    laboratory = module.local_gpu()
    if laboratory is None:
        tell_error("no GPU that torch can use was found")
        sys.stderr.write(WAY_OUT)
        return 1
    try:
        device = probed(laboratory)
    except UnknownTarget as error:
        tell_error(f"no limits are known of {error}; they are of {', '.join(LIMITS)}")
        return 1
    text = json.dumps({device.key: entry_of(device)}, indent=2) + "\n"
    if output is None:
        write(text)
        return 0
    return 0 if save(Path(output), text.encode()) else 1
