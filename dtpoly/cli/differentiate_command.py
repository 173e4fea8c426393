"""Implements `dtpoly differentiate FILE`, which writes the gradient of an algorithm."""

import json
from collections.abc import Iterable
from pathlib import Path

import click

from dtpoly.algorithm.label_sizes import size_rules, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.autoschedule.unscheduled_source import algorithm_of
from dtpoly.cli.device_option import device_option
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.output import write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.saving import is_same_file, save
from dtpoly.cli.seconds_option import timed
from dtpoly.cli.size_option import all_sizes
from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.devices.devices import Device
from dtpoly.frontend.reading import read_file
from dtpoly.generate import outputs, results_of
from dtpoly.gradient.chosen import of_floats, tensors_of
from dtpoly.gradient.differentiate import Gradient, differentiated
from dtpoly.gradient.keeping import Speeds, worth_keeping
from dtpoly.gradient.messages import without_floats, without_inputs
from dtpoly.gradient.text import gradient_text
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.suggest import near

VERSION = 1  # of the JSON document
BF16_BYTES = 2


@click.command(
    short_help="Write the gradient of an algorithm.",
    epilog="""\b
Examples:
  dtpoly differentiate softmax.dt
  dtpoly differentiate rms_norm.dt --of rms_norm --by X,W -o gradient.dt
  dtpoly differentiate rms_norm.dt --of rms_norm --by X,W --save squares
  dtpoly differentiate softmax.dt --save-by-cost --size x=4096,y=4096""",
)
@file_name
@click.option(
    "--of",
    metavar="f,..",
    help="The Funcs that are differentiated.  [default: what the file compiles]",
)
@click.option(
    "--by",
    metavar="X,..",
    help="The inputs by which they are.  [default: all tensors that these depend on]",
)
@click.option(
    "--save",
    "saved",
    default="",
    metavar="g,..",
    help="Funcs that the caller has kept; all others are computed again.",
)
@click.option(
    "--save-by-cost",
    "is_by_cost",
    is_flag=True,
    help="Save the Funcs that cost less to keep than to compute again, by --size on --device.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="x=..,y=..",
    help="Sizes of labels, for --save-by-cost. Sizes that follow from others may be left out.",
)
@device_option
@click.option(
    "-o", "output", type=click.Path(path_type=Path), help="Write the gradient to this .dt file."
)
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@timed
def command(
    file: str,
    of: str | None,
    by: str | None,
    saved: str,
    is_by_cost: bool,
    sizes: tuple[str, ...],
    device: Device,
    output: Path | None,
    primitives: Primitives,
    as_json: bool,
) -> int:
    """Derive the gradient of Funcs by inputs, and write it as a .dt file.

    For each Func f that is named by --of, the gradient has an input d_f, which is what its result
    is given. For each input X that is named by --by, it has a Func d_X. The file has no schedule:
    write one, or ask dtpoly schedule for one. What FILE says of its own schedule is left aside.
    """
    if output is not None and is_same_file(str(output), file):
        raise click.BadParameter(f"'{output}' is the file to differentiate", param_hint="-o")
    program = algorithm_of(read_file(file), primitives).program
    funcs = [one.name for one in program.funcs]
    wanted = _results(program) if of is None else _named(of, funcs, "Func", "--of")
    known = [one.name for one in program.inputs]
    inputs = tensors_of(program, wanted) if by is None else _named(by, known, "input", "--by")
    if not wanted:
        raise DtpolyError(without_floats(program, outputs(program)))
    if not inputs:
        raise DtpolyError([without_inputs(program.func(wanted[0]))])
    kept = _named(saved, funcs, "Func", "--save") if saved else ()
    if is_by_cost:
        if saved or not sizes:
            raise click.UsageError("--save-by-cost needs --size, and stands in the place of --save")
        kept = worth_keeping(program, wanted, inputs, all_sizes(program, sizes), _speeds(device))
    elif sizes:
        raise click.UsageError("--size is for --save-by-cost: a gradient serves all sizes")
    gradient = differentiated(program, wanted, inputs, kept)
    text = gradient_text(gradient, Path(file).name if file != "-" else "a text")
    if as_json:
        write(json.dumps(_document(file, gradient, text), indent=2) + "\n")
    elif output is None:
        write(text)
    return 1 if output is not None and not save(output, text.encode()) else 0


def _speeds(device: Device) -> Speeds:
    """Return the speeds of a GPU that computes in bf16 with tensor cores, and otherwise in f32."""
    return Speeds(device.memory, device.tensor("bf16"), device["f32"], BF16_BYTES)


def _results(program: Program) -> tuple[str, ...]:
    """Return the results of floats that the file compiles; the last Func, if it compiles none."""
    made = results_of(program, outputs(program))
    return of_floats(program, (one for row in made.values() for one in row))


def _named(words: str, known: Iterable[str], kind: str, option: str) -> tuple[str, ...]:
    """Return the names of an option, each once. Raises click.BadParameter for one that is none."""
    every, names = list(known), tuple(dict.fromkeys(one.strip() for one in words.split(",")))
    for name in names:
        if name not in every:
            meant = near(name, every)
            hint = f"did you mean '{meant}'?" if meant else f"it has {', '.join(every) or 'none'}"
            raise click.BadParameter(
                f"the program has no {kind} '{name}'; {hint}", param_hint=option
            )
    return names


def _document(file: str, gradient: Gradient, text: str) -> dict[str, object]:
    return {
        "version": VERSION,
        "file": file,
        "given": gradient.given,
        "gradients": gradient.results,
        "saved": list(gradient.saved),
        "sizes": passed_sizes(gradient.program),
        "rules": list(gradient.rules),
        "text": text,
    }


def passed_sizes(program: Program) -> list[str]:
    """Return the labels whose sizes no tensor shows, so that a call must pass them."""
    used = used_labels(program)
    return [rule.label for rule in size_rules(program) if rule.is_passed and rule.label in used]
