"""Defines the option `--tuned FILE`, which takes the schedule that a call would get from a file."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from dtpoly.algorithm.dtypes import FLOATS
from dtpoly.algorithm.show import show
from dtpoly.cli.file_arguments import complete_files
from dtpoly.cli.lazy import load
from dtpoly.cli.size_option import all_sizes
from dtpoly.render.printable import printable
from dtpoly.source import Source

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option(
        "--tuned",
        metavar="FILE.dts",
        shell_complete=complete_files,
        help="Take the schedule of this file that a call with these sizes would use.",
    ),
    click.option(
        "--on",
        "device",
        metavar="DEVICE",
        help="With --tuned: the device, with its name in the file.",
    ),
    click.option(
        "--dtype",
        type=click.Choice([str(dtype) for dtype in FLOATS]),
        default="f32",
        show_default=True,
        help="With --tuned: the dtype of inputs that declare none.",
    ),
)


def tuned_options(command: F) -> F:
    """Add the options that describe the call."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def tuned_source(
    file: str, tuned: str, device: str | None, dtype: str, words: tuple[str, ...]
) -> Source:
    """Return the algorithm with the schedule for such a call.

    The name of the schedule goes to standard error.
    """
    found = load("dtpoly.tuned.tuned_file").read_tuned(tuned)
    if load("dtpoly.explore.space.space_file").read_space(file).program != found.program:
        message = f"the schedules of '{tuned}' are for another algorithm"
        raise click.BadParameter(message, param_hint="--tuned")
    devices = [*dict.fromkeys(one.device for one in found.entries)]
    if device is None and len(devices) == 1:
        device = devices[0]
    if device not in devices:
        known = ", ".join(f"'{one}'" for one in devices)
        raise click.BadParameter(f"'{tuned}' has schedules for {known}", param_hint="--on")
    program = found.program
    sizes = all_sizes(program, words)
    picked = load("dtpoly.tuned.tuned_entry").picked(found.entries, device, dtype, sizes)
    doubts = "".join(f"; {one}" for one in picked.doubts)
    print(printable(f"taken: {picked.entry.where}{doubts}"), file=sys.stderr)
    return Source(tuned, show(replace(program, directives=picked.entry.directives)))
