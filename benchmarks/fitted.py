"""Fits numbers of a device to measured times, those that nobody can read from a data sheet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import mean, median, quantiles
from typing import Any

from benchmarks.predicted import MeasuredSchedule
from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import check
from dtpoly.explore.cost.sureness import Spread
from dtpoly.explore.devices.devices import Device
from dtpoly.source import Source

# The numbers that are fitted, with the values that are tried. The latency of memory is not among
# them: it hardly changes how far times are off, but it orders the schedules of a kernel.
TRIED: Mapping[str, Sequence[float]] = {
    "launch": (3.6e-6, 4.0e-6, 4.5e-6, 5.0e-6, 5.5e-6),
    "l2_rate": (5.5e12, 7e12, 9e12),
}
SWEEPS = 2
# A schedule that is further off counts no more than one that is twice too fast or too slow: what is
# wrong there is no number.
MOST = log(2)


@dataclass(frozen=True, slots=True)
class Quality:
    """How far predictions are off: in the mean, as logarithms, and in the median, as shares."""

    schedules: int
    mean: float
    error: float
    bias: float  # median of predicted over measured


def unseen_schedules(record: Mapping[str, Any]) -> Iterator[MeasuredSchedule]:
    """Yield the schedules of a record of `python -m benchmarks unseen`.

    Cases whose inputs lie otherwise than they are written are left out: their schedules were chosen
    as if that were not so.
    """
    for case in record["cases"]:
        if case["orders"]:
            continue
        for at, one in enumerate(case["schedules"], 1):
            name = f"{case['name']}__{at:02}"
            text = "\n".join((case["algorithm"], *one["schedule"], ""))
            verdict = check(Source(f"{name}.dt", text)).verdict
            if verdict is not None and verdict.is_legal:
                words = (case["name"], "", name, one["median"], verdict.scheduled, case["sizes"])
                yield MeasuredSchedule(*words, DType(case["dtype"]), is_warm=False)


def fitted(device: Device, groups: Sequence[Sequence[MeasuredSchedule]]) -> Device:
    """Return the device with numbers that make the mean error of all groups together least.

    One number after the other takes the value that is best with the others as they are.
    """
    best = sum(quality(device, group).mean for group in groups)
    for _ in range(SWEEPS):
        before = device
        for name, values in TRIED.items():
            for value in values:
                other = replace(device, values={**device.values, name: value})
                error = sum(quality(other, group).mean for group in groups)
                if error < best:
                    best, device = error, other
        if device == before:
            break
    return device


def quality(device: Device, group: Sequence[MeasuredSchedule]) -> Quality:
    """Compare the predicted times of schedules with the measured ones."""
    ratios = [1e3 * one.cost(device).seconds / one.milliseconds for one in group]
    off = mean(min(abs(log(one)), MOST) for one in ratios)
    error = median(abs(one - 1) for one in ratios)
    return Quality(len(ratios), off, error, median(ratios))


def spreads(groups: Iterable[tuple[Device, Sequence[MeasuredSchedule]]]) -> list[Spread]:
    """Return for each kind of kernel between which shares of the prediction half of them lie.

    Each group was measured on a device of its own.
    """
    ratios: dict[str, list[float]] = {}
    for device, group in groups:
        for one in group:
            found = one.cost(device)
            share = one.milliseconds / (1e3 * found.seconds)
            ratios.setdefault(found.spread.kind, []).append(share)
    return [Spread(kind, *_quarters(some), len(some)) for kind, some in sorted(ratios.items())]


def _quarters(some: Sequence[float]) -> tuple[float, float]:
    low, _, high = quantiles(some, n=4)
    return round(low, 2), round(high, 2)
