"""Implements `dtpoly cost FILE`, which estimates how long kernels take at given sizes, and why."""

import json
import os
import sys
from collections.abc import Callable

import click

from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.checking import check
from dtpoly.cli.device_option import device_option
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.lazy import load
from dtpoly.cli.output import terminal_width, wants_colour, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.saving import tell_error
from dtpoly.cli.seconds_option import timed
from dtpoly.cli.size_option import all_sizes
from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.cost.cost import Cost, cost
from dtpoly.explore.cost.cost_table import advice, cost_data, lines_above, tables
from dtpoly.explore.devices.devices import Device
from dtpoly.frontend.reading import read_file
from dtpoly.generate import outputs
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.targets.subject import check_dtype

VERSION = 1  # of the JSON document


@click.command(
    short_help="Estimate how long a file's kernels take, and why.",
    epilog="""\b
Examples:
  dtpoly cost matmul.dt --size m=4096,n=4096,k=4096
  dtpoly cost matmul.dt --size m=4096,n=4096,k=4096 --dtype bf16 --device a100
  dtpoly cost softmax.dt --size x=8192,y=50257 --json""",
)
@file_name
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="x=..,y=..",
    help="Sizes of labels. Sizes that follow from others may be left out.",
)
@click.option(
    "--dtype",
    type=click.Choice([str(dtype) for dtype in FLOATS]),
    default=str(DType.F32),
    show_default=True,
    help="The dtype of inputs that declare none.",
)
@device_option
@click.option("--warm", is_flag=True, help="Assume warm caches, and launches that wait in a queue.")
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@timed
def command(
    file: str,
    sizes: tuple[str, ...],
    dtype: str,
    device: Device,
    warm: bool,
    primitives: Primitives,
    as_json: bool,
) -> int:
    """Estimate how long the kernels of a .dt file take on a GPU, without using it.

    Nothing is compiled or run: dtpoly counts, from the schedule, what each program loads, stores
    and computes, and how long it waits. The output says what bounds each kernel, how often each
    operand is loaded and from where, and what would make the kernel faster.
    """
    source = read_file(file)
    checked = check(source, primitives)
    if checked.program is None:
        raise DtpolyError(checked.diagnostics)
    if checked.verdict is None:
        tell_error(f"'{source.name}' has no Func, so there is nothing that costs")
        return 1
    state, program = checked.verdict.scheduled, checked.program
    known = all_sizes(program, sizes)
    check_dtype(program, DType(dtype))
    found = cost(state, known, DType(dtype), device, warm)
    if as_json:
        document = {"version": VERSION, "file": file, **cost_data(found)}
        write(json.dumps(document, indent=2) + "\n")
        return 0
    _show(found, ", ".join(outputs(program)))
    return 0


def _show(found: Cost, name: str) -> None:
    table: Callable[..., str] = load("dtpoly.render.text_table").table
    colour, width = wants_colour(sys.stdout, os.environ), terminal_width(sys.stdout)
    write(lines_above(found, name) + "\n")
    for words, rows in tables(found):
        write(table(words, rows, width, colour=colour) + "\n")
    for sentence in advice(found):
        write(f"{sentence}\n")
