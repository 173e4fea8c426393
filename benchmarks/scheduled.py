"""Writes what the autoscheduler would measure for a row, as files of variants."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from benchmarks.gpu.rows import DERIVED, REPEATED, Row, tag
from benchmarks.predicted import sizes_of
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.show import show
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedule_text import schedule_text
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled
from dtpoly.autoschedule.unscheduled_source import algorithm_of, bare
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.devices.devices import Device
from dtpoly.frontend.reading import read_file


@dataclass(frozen=True, slots=True)
class Chosen:
    """One schedule for a row, by its place; the first one is that which is taken unmeasured."""

    name: str  # KERNEL__CASE__PLACE
    text: str
    milliseconds: float  # as predicted


def call_of(row: Row, examples: Path, device: Device) -> PricedCall:
    """Return the task of a row, for the algorithm of the file that counts."""
    derived = {one.name: one.of for one in DERIVED}
    file = derived.get(row.files[0], row.files[0])
    algorithm = algorithm_of(read_file(str(examples / f"{file}.dt")), DIRECTIVES)
    program = bare(algorithm)
    dtype = DType("f32" if row.dtype == "tf32" else row.dtype)
    sizes = filled(program, sizes_of(row, program))
    is_warm = row.way == REPEATED
    return PricedCall(program, sizes, dtype, device, DIRECTIVES, algorithm.precision, is_warm)


def chosen(row: Row, examples: Path, device: Device, most: int) -> Iterator[Chosen]:
    """At most so many, in the order in which they would be measured."""
    call = call_of(row, examples, device)
    for place, one in enumerate(islice(schedules(call), most), 1):
        name = f"{row.files[0]}__{tag(row.case)}__{place:02}"
        yield Chosen(name, _text(call, one), 1e3 * one.seconds)


def _text(call: PricedCall, one: Settled) -> str:
    algorithm = show(replace(call.program, directives=()))
    return f"{algorithm}\n{schedule_text(one.lines)}"
