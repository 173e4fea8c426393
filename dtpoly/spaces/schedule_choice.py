"""Offers to Python what `dtpoly schedule` does: it chooses a schedule for sizes and a GPU."""

import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from dtpoly.algorithm.show import show_directive
from dtpoly.amounts import budget_of, duration
from dtpoly.api import Scheduled, parse
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedule_answer import (
    MOST,
    ScheduleAnswer,
    head_of,
    in_time,
    measured_answer,
)
from dtpoly.autoschedule.schedule_text import whole_text
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.unscheduled_source import Algorithm, algorithm_of, asking, bare
from dtpoly.estimated_cost import device_named, dtype_named, sizes_named
from dtpoly.frontend.reading import read_file
from dtpoly.frozen import dataclass
from dtpoly.plugins import with_plugins
from dtpoly.python_errors import told
from dtpoly.render.html import block, boxed, word_table
from dtpoly.source import Source
from dtpoly.system.drivers import has_driver
from dtpoly.targets.subject import check_dtype

CUDA = "cuda"


@dataclass(frozen=True, repr=False, eq=False)
class ScheduleChoice:
    """A schedule that was chosen, with the reason for each directive. `print` shows its text."""

    name: str  # of the file
    text: str  # the algorithm with the schedule, as `dtpoly schedule` writes it
    answer: ScheduleAnswer
    plugins: tuple[str, ...] = ()

    @cached_property
    def schedule(self) -> Scheduled:
        """Return the schedule, to be looked at, changed and called."""
        return parse(self.text, self.plugins, self.name)

    @property
    def reasons(self) -> dict[str, str]:
        """Return each directive with the reason why it is there."""
        return {show_directive(one.directive): one.why for one in self.answer.best.lines}

    @property
    def seconds(self) -> float:
        """Return how long it takes: measured, or by the cost model where nothing was measured."""
        return self._seconds_of(self.answer.place)

    @property
    def is_measured(self) -> bool:
        """Return whether the time was measured on a GPU of this machine."""
        times = self.answer.milliseconds
        return bool(times) and times[self.answer.place] is not None

    @property
    def considered(self) -> list[tuple[float, str]]:
        """Return what was considered, the likeliest first: the seconds, and the directives."""
        found = [
            [show_directive(line.directive) for line in one.lines] for one in self.answer.every
        ]
        return [(self._seconds_of(at), " ".join(words)) for at, words in enumerate(found)]

    def _seconds_of(self, at: int) -> float:
        times = self.answer.milliseconds
        taken = times[at] if times else None
        return self.answer.every[at].seconds if taken is None else taken / 1e3

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        on = self.answer.device if self.is_measured else self.answer.call.device.name
        how = "measured" if self.is_measured else "by the cost model"
        count = len(self.answer.best.lines)
        took = f"{duration(self.seconds)} {how}"
        plural = "" if count == 1 else "s"
        return f"<ScheduleChoice {self.name} on {on}: {took}, {count} directive{plural}>"

    def _repr_html_(self) -> str:
        """Show a notebook the time, each directive with its reason, and the text folded away."""
        table = word_table(("directive", "why"), list(self.reasons.items()))
        folded = f"<details><summary>text</summary>{block(self.text)}</details>"
        return boxed(self.name, head_of(self.answer), table, folded)


def choose_schedule(
    algorithm: str | Path | Scheduled,
    sizes: Mapping[str, int],
    *,
    device: str = "h200",
    dtype: str = "f32",
    budget: int | str = 0,
    precision: str | None = None,
    plugins: Iterable[str | Path] = (),
) -> ScheduleChoice:
    """Choose a schedule for an algorithm, and give the reason for each directive.

    The algorithm is a .dt text, the path of a file (a text without a `;` is a path), or what `load`
    and `parse` return; its schedule is left aside, apart from `compile` and `precision`. Without a
    budget the cost model decides, which needs no GPU. With one, such as 20 or "30s", the first ones
    are measured on the GPU of this machine, if there is one. Raises DtpolyError for a text or sizes
    that are wrong, ValueError for a word that is not known, and if no schedule fits on the device.
    """
    files, wants = tuple(map(str, plugins)), _budget(budget)
    with told():
        source = _source_of(algorithm)
        own = algorithm.primitives if isinstance(algorithm, Scheduled) else with_plugins(files)
        given = algorithm_of(source, own)
        if not given.program.funcs:
            raise ValueError(f"{source.name} has no Func, so there is nothing to schedule")
        program, of = bare(given), dtype_named(dtype)
        known = sizes_named(program, sizes)
        check_dtype(program, of)
        exact = precision or given.precision
        call = PricedCall(
            *(program, known, of, device_named(device), own, "" if exact == "ieee" else exact),
            asked=asking(given, own),
        )
        return _chosen(call, source, given, wants, files)


def _chosen(
    call: PricedCall,
    source: Source,
    given: Algorithm,
    wants: tuple[int | None, float | None],
    plugins: tuple[str, ...],
) -> ScheduleChoice:
    for label, size in call.sizes.items():
        if size < 1:
            raise ValueError(f"'{label}' is {size}: no schedule of nothing is better than another")
    if wants[0] != 0 and not has_driver():
        _warn("there is no GPU here: chosen by the cost model alone")
        wants = (0, None)
    most = 1 if wants[0] == 0 else wants[0] or MOST
    every = tuple(in_time(schedules(call), most, wants[1]))
    if not every:
        raise ValueError(
            f"no schedule was found for '{source.name}' that fits on {call.device.name}"
        )
    answer = ScheduleAnswer(call, every)
    if wants[0] != 0:
        answer = measured_answer(answer, source.name, wants, CUDA, plugins, _warn)
    text = whole_text(source, given, head_of(answer), answer.best)
    return ScheduleChoice(source.name, text, answer, plugins)


def _source_of(algorithm: str | Path | Scheduled) -> Source:
    if isinstance(algorithm, Path) or (isinstance(algorithm, str) and ";" not in algorithm):
        return read_file(str(algorithm))
    if isinstance(algorithm, Scheduled):
        return Source(algorithm.name, str(algorithm))
    return Source("<text>", algorithm)


def _budget(budget: int | str) -> tuple[int | None, float | None]:
    """Return how many schedules to measure, or for how many seconds. Raises ValueError."""
    found = (0, None) if str(budget) == "0" else budget_of(str(budget))
    if found is None:
        raise ValueError(f"budget={budget!r} is no budget: take 0, 20, '30s' or '10min'")
    return found


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=4)
