"""`dtpoly schedule FILE`: an algorithm and sizes in; a schedule that is fast for them, out."""

import json
from pathlib import Path

import click

from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.show import show_directive
from dtpoly.autoschedule.algorithm import algorithm_of, bare
from dtpoly.autoschedule.amounts import duration
from dtpoly.autoschedule.pricing import Call
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled
from dtpoly.autoschedule.text import whole_text
from dtpoly.cli.device_option import device_option
from dtpoly.cli.files import file_name
from dtpoly.cli.output import write
from dtpoly.cli.saving import save, tell_error
from dtpoly.cli.size_option import parse_sizes
from dtpoly.explore.devices import Device
from dtpoly.frontend.reading import read_file
from dtpoly.targets.subject import check_dtype

VERSION = 1  # of the JSON document
MOST = 20  # candidates that are worth a measurement
PRECISIONS = ("ieee", "tf32", "tf32x3")


@click.command(
    short_help="Choose a schedule for sizes and a GPU.",
    epilog="""\b
Examples:
  dtpoly schedule matmul.dt --size m=4096,n=4096,k=4096 --dtype bf16
  dtpoly schedule softmax.dt --size x=4096,y=4096 -o fast_softmax.dt""",
)
@file_name
@click.option("--size", "sizes", multiple=True, metavar="x=..,y=..", help="Sizes of labels.")
@click.option(
    "--dtype",
    type=click.Choice([str(dtype) for dtype in FLOATS]),
    default=str(DType.F32),
    show_default=True,
    help="Of inputs that declare none.",
)
@device_option
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    help="How exact products of 32-bit numbers are.  [default: as FILE says, else ieee]",
)
@click.option("-o", "output", type=click.Path(path_type=Path), help="Write the .dt file.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(
    file: str,
    sizes: tuple[str, ...],
    dtype: str,
    device: Device,
    precision: str | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Choose a schedule for the algorithm of FILE, and say of each directive why.

    A schedule in FILE does not count, but for what is compiled and how exact products are.
    """
    source = read_file(file)
    algorithm = algorithm_of(source)
    program = bare(algorithm)
    given = parse_sizes(sizes, [label.name for label in program.labels])
    check_dtype(program, DType(dtype))
    known = filled(program, given)
    exact = precision or algorithm.precision
    call = Call(program, known, DType(dtype), device, "" if exact == "ieee" else exact)
    best = next(schedules(call), None)
    if best is None:
        tell_error(f"no schedule was found for '{source.name}' that fits on {device.name}")
        return 1
    text = whole_text(source, algorithm.program, _head(call, best), best.lines)
    if as_json:
        write(json.dumps(_document(file, call, best, text), indent=2) + "\n")
    elif output is None:
        write(text)
    if output is not None and not save(output, text.encode()):
        return 1
    return 0


def _head(call: Call, best: Settled) -> str:
    sizes = ", ".join(f"{label}={size}" for label, size in call.sizes.items())
    about = duration(best.seconds)
    return f"For {sizes} in {call.dtype} on {call.device.name}: about {about}, not measured."


def _document(file: str, call: Call, best: Settled, text: str) -> dict[str, object]:
    return {
        "version": VERSION,
        "file": file,
        "sizes": dict(call.sizes),
        "dtype": str(call.dtype),
        "device": call.device.key,
        "seconds": best.seconds,
        "schedule": [
            {"directive": show_directive(one.directive), "why": one.why} for one in best.lines
        ],
        "text": text,
    }
