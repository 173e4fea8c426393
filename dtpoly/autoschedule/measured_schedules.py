"""Measures schedules on the GPU of this machine, as far as a budget goes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show, show_directive
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.settle import Settled
from dtpoly.explore.run.session import Wanted, known_device, session
from dtpoly.explore.run.stopping import NoWorkers
from dtpoly.explore.space.search_view import Point, SpaceAxis
from dtpoly.explore.store.measured_question import UserQuestion
from dtpoly.explore.store.result_store import open_store
from dtpoly.explore.store.results import Result
from dtpoly.explore.workers.process import NotOpened
from dtpoly.explore.workers.workers import RunPlace
from dtpoly.frozen import dataclass
from dtpoly.generate import outputs


class NothingMeasured(Exception):
    """There is no device that candidates could run on."""


@dataclass(frozen=True)
class Listed:
    """Schedules as a space of one axis: their places."""

    every: tuple[Settled, ...]

    @property
    def axes(self) -> tuple[SpaceAxis, ...]:
        """Return the places, from 1."""
        return (SpaceAxis("place", tuple(str(at + 1) for at in range(self.count))),)

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self.every)

    def at(self, index: int) -> Point | None:
        """Return the point of a place."""
        return (index,)

    def settled(self, point: Point) -> Point | None:
        """Itself, if there is such a place."""
        return point if 0 <= point[0] < self.count else None

    def short(self, point: Point) -> str:
        """Write all directives of a point; this text names the same schedule in any space."""
        return " ".join(show_directive(one) for one in self.program_of(point).directives)

    def parameters(self, point: Point) -> Mapping[str, str]:
        """Return its place."""
        return {"place": str(point[0] + 1)}

    def program_of(self, point: Point) -> Program:
        """Return the Program with that schedule."""
        return self.every[point[0]].program


@dataclass(frozen=True)
class Measured:
    """The results of the schedules that were tried, and the device that they ran on."""

    device: str
    results: tuple[Result | None, ...]
    is_interrupted: bool

    @property
    def nearer(self) -> str:
        """Return the device of the cost model that it is; nothing where that knows none such."""
        return known_device(self.device)

    @property
    def best(self) -> int | None:
        """Return the place of the fastest, from 0."""
        timed = [(one.median, at) for at, one in enumerate(self.results) if one and one.median]
        return min(timed)[1] if timed else None


@dataclass(frozen=True, slots=True)
class MeasureBudget:
    """The limit of a measurement: a number of schedules, or of seconds."""

    count: int | None = None
    seconds: float | None = None

    @property
    def is_nothing(self) -> bool:
        """Return whether nothing is measured."""
        return self.count == 0 or self.seconds == 0.0


def measured(
    call: PricedCall,
    name: str,
    every: Sequence[Settled],
    budget: MeasureBudget,
    path: Path,
    kind: str = "cuda",
    plugins: tuple[str, ...] = (),
    tell: Callable[[object], None] = lambda _: None,
) -> Measured:
    """Check and time schedules, the first ones first, each in a process that may die.

    These processes load the plugins, which are files, for themselves. Raises NothingMeasured where
    there is no device.
    """
    bare = replace(call.program, directives=())
    func = outputs(call.program)[-1]
    asked = UserQuestion(name, show(bare), func, dict(call.sizes), str(call.dtype))
    space = Listed(tuple(every))
    wanted = Wanted(
        *(space, RunPlace(kind, asked), path, "exhaustive"),
        most=budget.count,
        seconds=budget.seconds,
        command="dtpoly schedule",
        plugins=plugins,
    )
    try:
        finished = session(wanted, tell, lambda _: None)
    except (NotOpened, NoWorkers) as error:
        raise NothingMeasured(str(error)) from error
    store = open_store(path)
    try:
        number = store.ask(finished.question)
        shorts = [space.short((at,)) for at in range(space.count)]
        results = tuple(store.result(number, short) for short in shorts)
    finally:
        store.close()
    return Measured(finished.question.facts.device, results, finished.ended.is_interrupted)
