"""Schedules the cases of a seed, and emits and proves the texts: all that needs no GPU."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import process_time

from benchmarks.gpu.manifest import Prepared
from benchmarks.gpu.prepare import Wanted, prepare
from benchmarks.unseen.cases import Case
from benchmarks.unseen.fillings import sizes_of
from benchmarks.unseen.orders import orders_of
from benchmarks.unseen.records import Choice, PreparedCase
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.show import show
from dtpoly.autoschedule.operand_copies import sizes_with_copies
from dtpoly.autoschedule.plans import with_directives
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedule_text import schedule_text
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled
from dtpoly.autoschedule.unscheduled_source import algorithm_of, bare
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.cost.cost import cost
from dtpoly.explore.devices.devices import Device
from dtpoly.schedule.legality import judge
from dtpoly.source import Source


@dataclass(frozen=True, slots=True)
class Preparing:
    """How cases are prepared: into which folder, for which device, how many schedules of each."""

    folder: Path
    device: Device
    choices: int


def prepared_case(wanted: Preparing, case: Case) -> PreparedCase:
    """Return a case with its schedules. What cannot be scheduled is a case with a failure."""
    program = bare(algorithm_of(case.source, DIRECTIVES))
    sizes = sizes_of(case, program, is_tiny=False)
    refused: Counter[str] = Counter()
    call = PricedCall(
        *(program, sizes, DType(case.dtype), wanted.device, DIRECTIVES, case.drawn.precision),
        orders=orders_of(case),
        tell_refused=lambda code: refused.update((code,)),
    )
    began, failure, choices, floor, seconds = process_time(), "", list[Choice](), 0.0, 0.0
    try:
        for place, one in enumerate(islice(schedules(call), wanted.choices), 1):
            seconds = seconds or process_time() - began
            floor = floor or _floor(call, one)
            choices.append(_choice(wanted, case, place, one))
    except DtpolyError as error:
        failure = "; ".join(f"{d.code}: {d.title}" for d in error.diagnostics)
    if not choices:
        seconds, failure = process_time() - began, failure or "no schedule was found"
    words = (case.name, case.family, case.is_held_out, case.drawn.text, case.dtype)
    return PreparedCase(*words, sizes, floor, seconds, tuple(choices), dict(refused), failure)


def _choice(wanted: Preparing, case: Case, place: int, one: Settled) -> Choice:
    name = f"{case.name}__{place:02}"
    algorithm = show(with_directives(one.program, ()))
    text = f"{algorithm}\n{schedule_text(one.lines)}"
    made: Prepared = prepare(Wanted(name, Source(f"{name}.dt", text)), wanted.folder)
    return Choice(1e3 * one.seconds, made)


def _floor(call: PricedCall, one: Settled) -> float:
    """Return the milliseconds that memory and products take, whatever the schedule is."""
    scheduled = judge(one.program, call.primitives).scheduled
    sizes = sizes_with_copies(call, one.program)
    return 1e3 * cost(scheduled, sizes, call.dtype, call.device, False).floor
