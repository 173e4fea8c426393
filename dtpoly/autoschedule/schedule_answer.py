"""The schedules that were considered for a call, the one that is chosen, and what is said of it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from itertools import islice
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from dtpoly.amounts import duration
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.settle import Settled
from dtpoly.frozen import dataclass

MOST = 20  # schedules that are worth a measurement
# Of the time to measure, that in which they may be made; and how many are made in any case.
PREPARING, FEWEST = 0.3, 4


@dataclass(frozen=True)
class ScheduleAnswer:
    """The schedules that were considered, the one that is chosen, and the known times."""

    call: PricedCall
    every: tuple[Settled, ...]
    place: int = 0
    milliseconds: tuple[float | None, ...] = ()  # measured
    outcomes: tuple[str, ...] = ()
    device: str = ""  # the device of the measurements
    is_interrupted: bool = False

    @property
    def best(self) -> Settled:
        """Return the schedule that is chosen."""
        return self.every[self.place]


def in_time(found: Iterator[Settled], most: int, seconds: float | None) -> Iterator[Settled]:
    """Yield so many schedules; with a time to measure, no more than are made in a part of it.

    Each is proved and generated before the next one, and the first ones are the most likely.
    """
    end = monotonic() + (PREPARING * seconds if seconds is not None else inf)
    for number, one in enumerate(islice(found, most), 1):
        yield one
        if number >= FEWEST and monotonic() > end:
            return


def measured_answer(
    answer: ScheduleAnswer,
    name: str,
    budget: tuple[int | None, float | None],
    place: str,
    plugins: Sequence[str],
    note: Callable[[str], None],
) -> ScheduleAnswer:
    """Return the answer with measured times, or unchanged if no device could be opened.

    `note` is told what the user should know.
    """
    measure: Any = import_module("dtpoly.autoschedule.measured_schedules")
    with TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        path = Path(folder) / "results.sqlite"
        wanted = measure.MeasureBudget(*budget)
        try:
            asked = (answer.call, name, answer.every)
            found = measure.measured(*asked, wanted, path, place, tuple(plugins))
        except measure.NothingMeasured as error:
            note(f"nothing was measured: {error}: chosen by the cost model alone")
            return answer
    times = tuple(one.median if one else None for one in found.results)
    outcomes = tuple(str(one.outcome) if one else "" for one in found.results)
    best = found.best
    if found.nearer not in ("", answer.call.device.key):
        note(f"ranked as if for {answer.call.device.name}: say --device {found.nearer}")
    if best is None:
        note("no schedule could be measured: chosen by the cost model alone")
    more = (times, outcomes, found.device, found.is_interrupted)
    return ScheduleAnswer(answer.call, answer.every, best or 0, *more)


def head_of(answer: ScheduleAnswer) -> str:
    """Return what is said of the schedule that is chosen, and of what was given up for it."""
    return " ".join((_time_of(answer), *_price_of(answer)))


def _price_of(answer: ScheduleAnswer) -> Iterator[str]:
    """Yield what rows with the same bits cost, if they are asked for."""
    if not answer.call.rows:
        return
    labels = ", ".join(dict.fromkeys(label for _, label in answer.call.rows))
    yield f"Rows along {labels} have the same bits in each batch: that is proved."
    first = answer.every[0]
    if first.given_up is None:
        yield "It costs nothing: of all schedules, the first one is proved."
        return
    took, least = duration(first.seconds), duration(first.given_up.seconds)
    word = _cost(first.seconds, first.given_up.seconds)
    yield f"It costs {word}: about {took}, and {least} without. That one is not proved:"
    yield f"{first.given_up.why}."


def _cost(seconds: float, least: float) -> str:
    """Return by how much a schedule is slower."""
    more = round(100 * (seconds / least - 1))
    return f"{more} %" if more > 0 else "less than 1 %"


def _time_of(answer: ScheduleAnswer) -> str:
    call, at = answer.call, answer.place
    sizes = ", ".join(f"{label}={size}" for label, size in call.sizes.items())
    taken = answer.milliseconds[at] if answer.milliseconds else None
    if taken is None:
        best = answer.best
        about, low, high = map(duration, (best.seconds, *half_of(best)))
        sure = f"{low} to {high} for half of the {best.spread.kind} that were measured"
        where = f"For {sizes} in {call.dtype} on {call.device.name}"
        return f"{where}: about {about}, not measured ({sure})."
    timed = sum(one is not None for one in answer.milliseconds)
    took = duration(taken / 1e3)
    return f"For {sizes} in {call.dtype} on {answer.device}: {took}, the best of {timed} measured."


def half_of(one: Settled) -> tuple[float, float]:
    """Return the seconds between which half of the kernels lie of which so much was predicted."""
    return one.spread.low * one.seconds, one.spread.high * one.seconds
