"""`dtpoly run FILE --reference`: a file and sizes in, a summary of each Func's values out."""

import json
import os
import sys
from collections.abc import Callable
from types import ModuleType

import click

from dtpoly.algorithm.program import Program, producers
from dtpoly.cli.files import file_name
from dtpoly.cli.lazy import load
from dtpoly.cli.output import report, terminal_width, wants_colour, write
from dtpoly.cli.size_option import check_memory, parse_sizes
from dtpoly.compile import load as load_program
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.reading import read_file

VERSION = 1  # of the JSON document
HEAD = ("Func", "shape", "dtype", "min", "mean", "max", "first elements")
COMPILE = ("compile", "compile_to_kernel")


@click.command(
    short_help="Run a file on made-up inputs.",
    epilog="""\b
Examples:
  dtpoly run softmax.dt --reference --size x=4,y=1000
  dtpoly run softmax.dt --reference --size x=4 --size y=1000 --seed 7 --json""",
)
@file_name
@click.option("--reference", is_flag=True, help="Evaluate the algorithm; the schedule is not used.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="x=..,y=..",
    help="Sizes of labels; one that others decide may be left out.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="The same seed makes the same inputs.",
)
@click.option(
    "--memory",
    type=click.FloatRange(0, min_open=True),
    default=4,
    show_default=True,
    metavar="GIB",
    help="Refuse to start if more would be needed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(
    file: str, reference: bool, sizes: tuple[str, ...], seed: int, memory: float, as_json: bool
) -> int:
    """Run a .dt file on made-up inputs: f32 unless declared.

    Shows every Func that is compiled; if none is, every Func that no other reads.
    """
    if not reference:
        raise click.UsageError("only the reference can run yet; add --reference")
    program = load_program(read_file(file))
    given = parse_sizes(sizes, [label.name for label in program.labels])
    fill: Callable[..., dict[str, int]] = load("dtpoly.reference.random_inputs").filled
    try:
        known = fill(program, given)
    except DtpolyError as error:
        # Every size comes from an option, so this is about usage.
        report(error.diagnostics, sys.stderr)
        return 2
    check_memory(program, known, memory)
    summary: ModuleType = load("dtpoly.cli.summary")
    summaries = summary.summarise(program, known, seed, wanted(program))
    if as_json:
        funcs = [summary.as_data(one) for one in summaries]
        document = {"version": VERSION, "seed": seed, "sizes": known, "funcs": funcs}
        write(json.dumps(document, indent=2) + "\n")
        return 0
    rows = [summary.as_row(one) for one in summaries]
    table: Callable[..., str] = load("dtpoly.render.table").table
    colour = wants_colour(sys.stdout, os.environ)
    write(table(HEAD, rows, terminal_width(sys.stdout), colour=colour))
    return 0


def wanted(program: Program) -> tuple[str, ...]:
    """The Funcs to show: those compiled, else those that no other reads."""
    compiled = dict.fromkeys(d.func for d in program.directives if d.name in COMPILE)
    if compiled:
        return tuple(compiled)
    read = {name for names in producers(program).values() for name in names}
    return tuple(func.name for func in program.funcs if func.name not in read)
