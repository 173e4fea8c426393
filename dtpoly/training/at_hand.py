"""Chooses a schedule for an algorithm without one, for the sizes of the call at hand."""

from collections.abc import Mapping
from itertools import islice

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.api import Scheduled
from dtpoly.autoschedule.plans import with_directives
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.unscheduled_source import Algorithm, algorithm_of, bare
from dtpoly.explore.devices.devices import DEFAULT, Device, find_device
from dtpoly.explore.run.session import known_device
from dtpoly.runtime.cache import remembered
from dtpoly.source import Source
from dtpoly.training.gradient_schedules import like


def is_unscheduled(scheduled: Scheduled) -> bool:
    """Return whether a file says nothing of how it is computed."""
    of_result = {
        x for one in scheduled.primitives if one.is_of_result for x in (one.name, *one.aliases)
    }
    return all(one.name in of_result for one in scheduled.program.directives)


def scheduled_for(
    scheduled: Scheduled, sizes: Mapping[str, int], dtype: DType, device: str
) -> Scheduled:
    """Return an algorithm with the schedule that seems fastest at some sizes on a GPU.

    The schedule is kept on disk. What has none that fits is computed as without a schedule.
    """
    found = find_device(known_device(device) or DEFAULT)
    # Nothing is to be computed for a size of 0, and a schedule for 1 serves it.
    known = {label: max(size, 1) for label, size in sizes.items()}
    words = [f"{label}={size}" for label, size in sorted(known.items())]

    def make() -> str:
        return _schedule_text(scheduled, known, dtype, found)

    text = remembered(["schedule", str(scheduled), *words, str(dtype), found.key], make)
    return like(scheduled, text, scheduled.name)


def _schedule_text(
    scheduled: Scheduled, sizes: Mapping[str, int], dtype: DType, device: Device
) -> str:
    text = str(scheduled)
    algorithm = algorithm_of(Source(scheduled.name, text), scheduled.primitives)
    call = _call(algorithm, sizes, dtype, device, scheduled)
    best = next(islice(schedules(call), 1), None)
    if best is None:
        return text
    return show(with_directives(best.program, [one.directive for one in best.lines]))


def _call(
    algorithm: Algorithm,
    sizes: Mapping[str, int],
    dtype: DType,
    device: Device,
    scheduled: Scheduled,
) -> PricedCall:
    program: Program = bare(algorithm)
    precision = "" if algorithm.precision == "ieee" else algorithm.precision
    return PricedCall(program, dict(sizes), dtype, device, scheduled.primitives, precision)
