"""Models the times that it was told with optuna, and asks for promising points."""

from collections.abc import Iterator
from math import log
from typing import Any

from dtpoly.explore.extras import extra
from dtpoly.explore.space.search_view import Point, SpaceAxis
from dtpoly.explore.strategies.evolution import is_ordered
from dtpoly.explore.strategies.learning import Batches, Learning
from dtpoly.explore.strategies.random_order import random_points
from dtpoly.explore.strategies.strategy import Strategy, StrategySetting

BATCH = 8
TRIES = 3  # for each point of a batch, until it is a new one; each takes some milliseconds
# A point without a time counts as the worst one plus this much, in logarithms.
PENALTY = 1.0


def bayes(setting: StrategySetting) -> Strategy:
    """Return a tree-structured Parzen estimator over the axes. Raises MissingExtra."""
    optuna = extra("optuna", "explore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # The sampler assumes the worst of the points that are being measured, so that a batch does not
    # become a cluster.
    sampler = optuna.samplers.TPESampler(seed=setting.seed, multivariate=True, constant_liar=True)
    return Learning(_batches(setting, optuna.create_study(sampler=sampler), optuna))


def _batches(setting: StrategySetting, study: Any, optuna: Any) -> Batches:
    others = random_points(setting.space, setting.seed)
    seen: set[Point] = set()
    worst = 0.0
    while True:
        trials = dict(_asked(setting, study, optuna, seen))
        # If the sampler repeats itself, or its points break rules, random points complete the
        # batch.
        while len(trials) < BATCH and (point := next(others, None)) is not None:
            if point not in seen:
                seen.add(point)
                trials[point] = None
        if not trials:
            return
        told = yield [*trials]
        worst = max([worst, *(log(time) for _, time in told if time is not None)])
        for point, time in told:
            value = worst + PENALTY if time is None else log(time)
            if (trial := trials[point]) is not None:
                study.tell(trial, value)
            else:
                study.add_trial(_trial(setting, point, value, optuna))


def _asked(
    setting: StrategySetting, study: Any, optuna: Any, seen: set[Point]
) -> Iterator[tuple[Point, Any]]:
    axes = setting.space.axes
    full = len(seen) + BATCH
    for _ in range(TRIES * BATCH):
        if len(seen) >= full:
            return
        trial = study.ask()
        wanted = tuple(_suggested(trial, axis) for axis in axes)
        point = setting.space.settled(wanted)
        if point is None or point in seen:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        seen.add(point)
        yield point, trial


def _suggested(trial: Any, axis: SpaceAxis) -> int:
    """Return the number of an option; numbers are sampled in their order, words without one."""
    last = len(axis.options) - 1
    if is_ordered(axis):
        return int(trial.suggest_int(axis.name, 0, last))
    return int(trial.suggest_categorical(axis.name, [*range(last + 1)]))


def _trial(setting: StrategySetting, point: Point, value: float, optuna: Any) -> Any:
    """Return a trial for a point that the sampler did not ask for."""
    spread = optuna.distributions
    known: dict[str, Any] = {
        axis.name: spread.IntDistribution(0, len(axis.options) - 1)
        if is_ordered(axis)
        else spread.CategoricalDistribution([*range(len(axis.options))])
        for axis in setting.space.axes
    }
    params = {axis.name: at for axis, at in zip(setting.space.axes, point, strict=True)}
    return optuna.trial.create_trial(params=params, distributions=known, value=value)
