"""Runs an exploration, or only emits texts, as a user wishes."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from dtpoly.explore.devices.devices import devices, find_device
from dtpoly.explore.run.emission import Emission, emit
from dtpoly.explore.run.exploration import Ended, ExplorationPlan, explore
from dtpoly.explore.run.preparation import Wants
from dtpoly.explore.run.progress import Snapshot
from dtpoly.explore.space.search_view import Field, Point
from dtpoly.explore.store.measured_question import Question
from dtpoly.explore.store.result_store import ResultStore, open_store
from dtpoly.explore.store.results import Outcome
from dtpoly.explore.strategies.choice import chosen
from dtpoly.explore.strategies.random_order import random_points
from dtpoly.explore.strategies.strategy import Strategy, StrategySetting
from dtpoly.explore.workers.process import Worker
from dtpoly.explore.workers.workers import (
    Opened,
    RunPlace,
    crews_of,
    local,
    opened,
    preparing,
    visible,
)
from dtpoly.frozen import dataclass

# The outcomes that another attempt may change.
AGAIN = (Outcome.HUNG, Outcome.CRASHED, Outcome.FAILED, Outcome.UNPROVED, Outcome.BUG)
COST = "cost"  # the strategy that needs predicted times
HINT = "take another strategy, or say with --model which device is like it"
MOST_EXPECTED = 4_000  # points whose time a model predicts before anything is measured


class NoModel(Exception):
    """Raised if a strategy needs predicted times, and no model can predict them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The user's wishes: which space, where, for how long, and in which file results are kept."""

    space: Field
    place: RunPlace
    path: Path
    strategy: str = "random"
    seed: int = 0
    most: int | None = None  # candidates
    seconds: float | None = None
    slow: float | None = 3.0
    limit: float = 60.0  # seconds for a candidate
    workers: int | None = None
    preparing: int | None = None  # processes that emit, compile and prove
    address: str | None = None  # of a Ray cluster
    model: str = ""  # a device that the cost model knows; if empty, the device of the measurements
    prunes: bool = False  # by compiling for the device of the model
    proves: bool = True
    again: bool = False
    command: str = ""
    plugins: tuple[str, ...] = ()  # files with directives of the user's own


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run, and the baselines that were left out, each with the reason."""

    question: Question
    ended: Ended
    failed: Mapping[str, str] = field(default_factory=dict[str, str])


def session(
    wanted: Wanted,
    tell: Callable[[Snapshot | Emission], None],
    begun: Callable[[Opened], None],
) -> Finished:
    """Explore. Raises StoreError, NoWorkers, NotOpened, NoStrategy, NoModel, MissingExtra.

    `begun` gets the facts that the workers report of themselves. Raises KeyboardInterrupt if it is
    interrupted before anything is measured.
    """
    make = chosen(wanted.strategy)
    store = open_store(wanted.path)
    try:
        with _devices(wanted) as workers:
            said = opened(workers)
            begun(said)
            question = Question(wanted.place.asked, said.facts)
            number = store.ask(question)
            if wanted.again:
                store.forget(number, AGAIN)
                store.forget_proofs(question.asked.program_hash)
            model = _model(wanted, wanted.model or known_device(said.facts.device))
            expected: Mapping[Point, float] = {}
            if wanted.strategy == COST:
                if not model:
                    raise NoModel(f"no cost model is known of '{said.facts.device}': {HINT}")
                expected = _expected(wanted, model, store, tell)
            made = make(StrategySetting(wanted.space, wanted.seed, expected))
            about = (wanted.command, wanted.strategy, wanted.seed, wanted.space.count)
            run = store.begin(number, *about)
            plan = ExplorationPlan(question, wanted.space, wanted.most, wanted.seconds, wanted.slow)
            crews = crews_of(workers, model, wanted.limit, wanted.preparing, wanted.plugins)
            ended = explore(plan, made, store, crews, _wants(wanted, model), tell)
            store.end(run)
            return Finished(question, ended, said.failed)
    finally:
        store.close()


def emit_only(wanted: Wanted, tell: Callable[[Emission], None]) -> Emission:
    """Emit the texts of as many points as the budget allows; no device is needed.

    A machine that has a device and the file then needs no packages that make texts. Raises
    StoreError, NoWorkers.
    """
    store = open_store(wanted.path)
    try:
        points = chosen(wanted.strategy)(StrategySetting(wanted.space, wanted.seed))
        asked = islice(_all(points), wanted.most)
        model = _model(wanted, wanted.model)
        return _emitted(wanted, model, store, asked, _wants(wanted, model), tell)
    finally:
        store.close()


def _all(strategy: Strategy) -> Iterator[Point]:
    """Yield all points for which a strategy asks without any results."""
    while found := strategy.ask(1):
        yield from found


def known_device(name: str) -> str:
    """Return the device of the cost model that has such a name, or ""."""
    letters = "".join(filter(str.isalnum, name.lower()))
    return next((key for key in devices() if key in letters), "")


def _emitted(
    wanted: Wanted,
    model: Mapping[str, Any],
    store: ResultStore,
    points: Iterator[Point],
    wants: Wants,
    tell: Callable[[Emission], None],
) -> Emission:
    """Prepare points, and keep what is known about them."""
    crew = preparing(model, wanted.preparing, wanted.plugins)
    return emit(points, wanted.space, crew, store, wanted.place.asked, wants, tell)


def _wants(wanted: Wanted, model: Mapping[str, Any]) -> Wants:
    """Choose the steps that points go through before they are measured."""
    target = str(find_device(model["device"]).target) if model and wanted.prunes else ""
    return Wants(bool(model), target, wanted.proves)


def _expected(
    wanted: Wanted,
    model: Mapping[str, Any],
    store: ResultStore,
    tell: Callable[[Emission], None],
) -> dict[Point, float]:
    """Predict the time of all points by a model, or of many points of a large space."""
    points = [*islice(random_points(wanted.space, wanted.seed), MOST_EXPECTED)]
    if _emitted(wanted, model, store, iter(points), Wants(expects=True), tell).is_interrupted:
        raise KeyboardInterrupt
    known = store.predictions(wanted.place.asked.key)
    shorts = ((point, wanted.space.short(point)) for point in points)
    return {point: known[short] for point, short in shorts if short in known}


def _model(wanted: Wanted, device: str) -> dict[str, Any]:
    """Return the data from which emitters predict times; {} without a device."""
    asked = wanted.place.asked
    return {"device": device, "sizes": dict(asked.sizes), "dtype": asked.dtype} if device else {}


@contextmanager
def _devices(wanted: Wanted) -> Generator[Sequence[Worker]]:
    """Open workers on this machine or on a cluster, and leave the cluster afterwards."""
    cluster: Any = import_module("dtpoly.explore.workers.on_ray") if wanted.address else None
    workers: Sequence[Worker] = ()
    try:
        if cluster is None:
            workers = local(wanted.place, wanted.workers, lambda: visible(_count_gpus))
        else:
            workers = cluster.on_ray(wanted.place, wanted.workers, wanted.address)
        yield workers
    finally:
        for worker in workers:
            worker.end()
            worker.close()
        if cluster is not None:
            cluster.leave()


def _count_gpus() -> int:
    torch: Any = import_module("torch")
    count: int = torch.cuda.device_count()
    return count
