"""Implements `dtpoly schedule FILE`, which chooses a schedule that is fast at given sizes."""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click

from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.algorithm.program import Directive, Program
from dtpoly.algorithm.show import show_directive
from dtpoly.amounts import duration
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.reasons import ReasonLine
from dtpoly.autoschedule.schedule_answer import (
    MOST,
    ScheduleAnswer,
    half_of,
    head_of,
    in_time,
    measured_answer,
)
from dtpoly.autoschedule.schedule_text import whole_text
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.unscheduled_source import (
    Algorithm,
    algorithm_of,
    asked_for,
    asking,
    bare,
)
from dtpoly.cli.budget_argument import BudgetType
from dtpoly.cli.device_option import device_option
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.lazy import load
from dtpoly.cli.order_option import parse_orders
from dtpoly.cli.output import write
from dtpoly.cli.plugin_files import plugin_files
from dtpoly.cli.saving import save, tell_error
from dtpoly.cli.seconds_option import limited, seconds_option
from dtpoly.cli.size_option import all_sizes
from dtpoly.explore.devices.devices import Device
from dtpoly.frontend.reading import read_file
from dtpoly.generate import outputs
from dtpoly.missing_package import first_missing, way_out
from dtpoly.plugins import with_plugins
from dtpoly.render.printable import printable
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.suggest import near
from dtpoly.targets.subject import check_dtype

VERSION = 1  # of the JSON document
PRECISIONS = ("ieee", "tf32", "tf32x3")
INTERRUPTED = 130


@click.command(
    short_help="Choose a schedule for sizes and a GPU.",
    epilog="""\b
Examples:
  dtpoly schedule matmul.dt --size m=4096,n=4096,k=4096 --dtype bf16
  dtpoly schedule softmax.dt --size x=4096,y=4096 --budget 0
  dtpoly schedule softmax.dt --size x=64,y=512 --budget 30s -o fast.dt
  dtpoly schedule softmax.dt --size x=64,y=512 --same-bits x
  dtpoly schedule sum.dt --size x=64,k=512 --plugin skew.py""",
)
@file_name
@click.option("--size", "sizes", multiple=True, metavar="x=..,y=..", help="Sizes of labels.")
@click.option(
    "--dtype",
    type=click.Choice([str(dtype) for dtype in FLOATS]),
    default=str(DType.F32),
    show_default=True,
    help="The dtype of inputs that declare none.",
)
@device_option
@click.option(
    "--budget",
    type=BudgetType(),
    default="10s",
    show_default=True,
    metavar="20|60s",
    help="How many schedules to measure, or for how long; 0 measures none, and needs no GPU.",
)
@seconds_option
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    help="How exactly 32-bit numbers are multiplied.  [default: as FILE says, else ieee]",
)
@click.option(
    "--order",
    "orders",
    multiple=True,
    metavar="A=1,0",
    help="How an input lies in memory: its axes, outermost first.  [default: as written]",
)
@click.option(
    "--same-bits",
    "rows",
    metavar="LABEL,..",
    help="Consider only schedules whose rows along these labels are proved to have the same bits in"
    " each batch.  [default: as FILE says]",
)
@click.option(
    "--list",
    "count",
    type=click.IntRange(1, 200),
    help="Print this many schedules, the best first.",
)
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    help="Write the best schedule to this .dt file.",
)
@plugin_files
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@click.option("--place", default="cuda", hidden=True)
def command(
    file: str,
    sizes: tuple[str, ...],
    dtype: str,
    device: Device,
    budget: tuple[int | None, float | None],
    seconds: float,
    precision: str | None,
    orders: tuple[str, ...],
    rows: str | None,
    count: int | None,
    output: Path | None,
    plugins: tuple[str, ...],
    as_json: bool,
    place: str,
) -> int:
    """Choose a schedule for the algorithm of FILE, and give the reason for each directive.

    dtpoly derives schedules from what the Funcs read and reduce: where each Func is computed, its
    blocks, tiles, order and warps. The cost model ranks the schedules, and the first ones are
    measured if there is a GPU. Of a schedule in FILE only compile and precision are used. --seconds
    limits all of this except the measuring, which --budget limits.
    """
    source, primitives = read_file(file), with_plugins(plugins)
    with limited(seconds):
        algorithm = algorithm_of(source, primitives)
    if not algorithm.program.funcs:
        tell_error(f"'{source.name}' has no Func, so there is nothing to schedule")
        return 1
    if algorithm.left:
        _note(f"the {algorithm.left} directives of '{source.name}' are left aside")
    call = _call(algorithm, sizes, DType(dtype), device, precision, primitives)
    asked = _asked(call.program, rows) if rows is not None else asking(algorithm, primitives)
    call = replace(call, orders=parse_orders(call.program, orders), asked=asked)
    wants = budget if place != "cuda" or _has_gpu(budget) else (0, None)
    if call.orders and wants[0] != 0:
        _note("inputs are only measured as they are written: chosen by the cost model alone")
        wants = (0, None)
    with limited(seconds):
        most = count or (1 if wants[0] == 0 else wants[0] or MOST)
        every = tuple(in_time(schedules(call), most, None if count else wants[1]))
    if not every:
        tell_error(
            f"no schedule was found for '{source.name}' that fits on {device.name}{_and(call)}"
        )
        return 1
    answer = ScheduleAnswer(call, every)
    if wants[0] != 0:
        answer = measured_answer(answer, source.name, wants, place, plugins, _note)
    text = whole_text(source, algorithm, head_of(answer), answer.best)
    if as_json:
        write(json.dumps(_document(file, answer, text), indent=2) + "\n")
    elif count is not None:
        write(_listed(answer))
    elif output is None:
        write(text)
    if output is not None and not save(output, text.encode()):
        return 1
    return INTERRUPTED if answer.is_interrupted else 0


def _call(
    algorithm: Algorithm,
    words: tuple[str, ...],
    dtype: DType,
    device: Device,
    exact: str | None,
    primitives: Primitives,
) -> PricedCall:
    program = bare(algorithm)
    known = all_sizes(program, words)
    check_dtype(program, dtype)
    precision = exact or algorithm.precision
    if nothing := [label for label, size in known.items() if size < 1]:
        raise click.BadParameter(
            f"'{nothing[0]}' is {known[nothing[0]]}: then there is nothing to do, and no schedule "
            "is better than another",
            param_hint="--size",
        )
    return PricedCall(
        program, known, dtype, device, primitives, "" if precision == "ieee" else precision
    )


def _asked(program: Program, words: str) -> tuple[Directive, ...]:
    """Return the directives that ask for rows with the same bits. Raises click.BadParameter."""
    labels = list(dict.fromkeys(one.strip() for one in words.split(",")))
    found: list[Directive] = []
    results = {one: program.func(one).labels for one in outputs(program)}
    for func, own in results.items():
        mine = [one for one in labels if one in own]
        found += [asked_for(func, mine)] if mine else []
    for label in labels:
        if all(label not in own for own in results.values()):
            known = list(dict.fromkeys(one for own in results.values() for one in own))
            meant = near(label, known)
            hint = f"did you mean '{meant}'?" if meant else f"it has {', '.join(known) or 'none'}"
            raise click.BadParameter(
                f"no result has a label '{label}'; {hint}", param_hint="--same-bits"
            )
    return tuple(found)


def _and(call: PricedCall) -> str:
    """Return what else was asked of a schedule."""
    labels = ", ".join(dict.fromkeys(label for _, label in call.rows))
    return f", and whose rows along {labels} are proved to have the same bits" if labels else ""


def _has_gpu(budget: tuple[int | None, float | None]) -> bool:
    """Return whether this machine can measure, and say why it cannot."""
    if budget[0] == 0:
        return True
    found: bool = load("dtpoly.system.drivers").has_driver()
    package = first_missing()
    if not found:
        _note("there is no GPU here: chosen by the cost model alone")
    elif package is not None:
        _note(f"{package} is not installed: chosen by the cost model alone; {way_out(package)}")
    return found and package is None


def _listed(answer: ScheduleAnswer) -> str:
    """List the schedules, one in a line: place, expected time, measured time, directives."""
    lines: list[str] = []
    for at, one in enumerate(answer.every):
        took = answer.milliseconds[at] if answer.milliseconds else None
        measured = "" if took is None else f"  {duration(took / 1e3):>8}"
        words = " ".join(show_directive(line.directive) for line in one.lines)
        lines.append(f"{at + 1:3}  {duration(one.seconds):>8}{measured}  {words}\n")
    return "".join(lines)


def _document(file: str, answer: ScheduleAnswer, text: str) -> dict[str, object]:
    call = answer.call
    times, outcomes = answer.milliseconds, answer.outcomes
    return {
        "version": VERSION,
        "file": file,
        "sizes": dict(call.sizes),
        "dtype": str(call.dtype),
        "device": call.device.key,
        "measured_on": answer.device or None,
        "chosen": answer.place,
        "candidates": [
            {
                "predicted_ms": 1e3 * one.seconds,
                "half_within_ms": [1e3 * seconds for seconds in half_of(one)],
                "kind": one.spread.kind,
                "measured_ms": times[at] if times else None,
                "outcome": (outcomes[at] or None) if outcomes else None,
                "schedule": _directives(one.lines),
            }
            for at, one in enumerate(answer.every)
        ],
        "same_bits": _bits(answer),
        "text": text,
    }


def _directives(lines: Iterable[ReasonLine]) -> list[dict[str, str]]:
    return [{"directive": show_directive(line.directive), "why": line.why} for line in lines]


def _bits(answer: ScheduleAnswer) -> dict[str, object] | None:
    """Return which rows are proved to have the same bits, and what is given up; None without."""
    if not answer.call.rows:
        return None
    first = answer.every[0]
    lost = first.given_up
    return {
        "rows": [{"function": func, "label": label} for func, label in answer.call.rows],
        "predicted_ms": 1e3 * first.seconds,
        "given_up": lost
        and {
            "predicted_ms": 1e3 * lost.seconds,
            "schedule": _directives(lost.lines),
            "why_not_proved": lost.why,
            "schedules_not_proved": lost.refused,
        },
    }


def _note(message: str) -> None:
    print(printable(f"note: {message}"), file=sys.stderr)
