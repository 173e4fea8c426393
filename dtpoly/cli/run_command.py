"""Implements `dtpoly run FILE`, which runs a file on made-up inputs and shows the results."""

import json
import os
import sys
from collections.abc import Callable
from types import ModuleType

import click

from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.algorithm.program import Program, producers
from dtpoly.checking import Checked, check
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.lazy import load, load_with_torch
from dtpoly.cli.output import terminal_width, wants_colour, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.saving import tell_error
from dtpoly.cli.size_option import all_sizes, check_memory
from dtpoly.diagnostics import DtpolyError
from dtpoly.missing_package import require
from dtpoly.schedule.bound_primitives import Primitives

VERSION = 1  # of the JSON document
HEAD = ("Func", "shape", "dtype", "min", "mean", "max", "first elements")
COMPILE = ("compile", "compile_to_kernel")
RUN_BY = "kernels run on tensors of torch, and triton compiles or interprets them"
REFERENCE_BY = "the reference computes with torch"


@click.command(
    short_help="Run a file on made-up inputs.",
    epilog="""\b
Examples:
  dtpoly run softmax.dt --size x=4,y=1000
  dtpoly run softmax.dt --size x=4,y=1000 --device cpu --dtype bf16
  dtpoly run softmax.dt --reference --size x=4 --size y=1000 --seed 7 --json""",
)
@file_name
@click.option(
    "--reference", is_flag=True, help="Only evaluate the algorithm, without the schedule."
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="x=..,y=..",
    help="Sizes of labels. Sizes that follow from others may be left out.",
)
@click.option(
    "--device",
    type=click.Choice(["cuda", "cpu"]),
    help="Where kernels run; cpu is Triton's interpreter.  [default: a GPU if there is one]",
)
@click.option(
    "--dtype",
    type=click.Choice([str(dtype) for dtype in FLOATS]),
    help="The dtype of inputs that declare none.  [default: f32]",
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
    help="Refuse to start if the run needs more memory.",
)
@point_option
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(
    file: str,
    reference: bool,
    sizes: tuple[str, ...],
    device: str | None,
    dtype: str | None,
    seed: int,
    memory: float,
    point: str | None,
    primitives: Primitives,
    as_json: bool,
) -> int:
    """Run a .dt file on made-up inputs, and compare the results with its reference.

    The kernels run on a GPU, or on the CPU in Triton's interpreter, which is slow: use small sizes.
    The reference evaluates the algorithm in f64. If they differ by more than rounding can explain,
    the exit code is 1.

    With --reference, only the reference is evaluated. The command shows every Func that is
    compiled, or every Func that no other Func reads, if none is compiled.
    """
    if reference and (device or dtype):
        raise click.UsageError("--device and --dtype are for kernels, not for the reference")
    checked = check(read_source(file, point), primitives)
    program = checked.program
    if program is None:
        raise DtpolyError(checked.diagnostics)
    known = all_sizes(program, sizes)
    check_memory(program, known, memory)
    if not reference:
        return _run(checked, known, device, DType(dtype or DType.F32), seed, as_json)
    summary: ModuleType = load_with_torch("dtpoly.cli.summary", REFERENCE_BY)
    summaries = summary.summarise(program, known, seed, wanted(program), checked.primitives)
    if as_json:
        funcs = [summary.as_data(one) for one in summaries]
        document = {"version": VERSION, "seed": seed, "sizes": known, "funcs": funcs}
        write(json.dumps(document, indent=2) + "\n")
        return 0
    rows = [summary.as_row(one) for one in summaries]
    table: Callable[..., str] = load("dtpoly.render.text_table").table
    colour = wants_colour(sys.stdout, os.environ)
    write(table(HEAD, rows, terminal_width(sys.stdout), colour=colour))
    return 0


def _run(
    checked: Checked,
    sizes: dict[str, int],
    device: str | None,
    dtype: DType,
    seed: int,
    as_json: bool,
) -> int:
    """Run the kernels on the device that the user wants, or on one that can run them."""
    if checked.verdict is None:
        name = checked.file.source.name
        tell_error(f"'{name}' has no Func, so there is nothing to run")
        return 1
    require(why=RUN_BY)
    torch: ModuleType = load("torch")
    has_gpu = torch.cuda.is_available()
    if device == "cuda" and not has_gpu:
        raise click.BadParameter("torch finds no GPU here; take cpu", param_hint="--device")
    place = device or ("cuda" if has_gpu else "cpu")
    # Triton reads this variable only once, when it is imported.
    if place == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"
    else:
        os.environ.pop("TRITON_INTERPRET", None)
    executed: ModuleType = load("dtpoly.cli.executed_kernels")
    answer: int = executed.run(checked, sizes, seed, dtype, place, as_json)
    return answer


def wanted(program: Program) -> tuple[str, ...]:
    """Return the Funcs to show: those that are compiled, else those that no other reads."""
    compiled = dict.fromkeys(d.func for d in program.directives if d.name in COMPILE)
    if compiled:
        return tuple(compiled)
    read = {name for names in producers(program).values() for name in names}
    return tuple(func.name for func in program.funcs if func.name not in read)
