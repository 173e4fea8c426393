"""Finds the strategy that a user names: a built-in one, one in a file, or one of a package."""

import runpy
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import cast

from dtpoly.explore.strategies.bayes import bayes
from dtpoly.explore.strategies.by_cost import by_cost
from dtpoly.explore.strategies.evolution import evolution
from dtpoly.explore.strategies.exhaustive import exhaustive
from dtpoly.explore.strategies.random_order import random_order
from dtpoly.explore.strategies.strategy import Make, Strategy, StrategySetting
from dtpoly.suggest import near

GROUP = "dtpoly.strategies"
STRATEGIES: Mapping[str, Make] = {
    "exhaustive": exhaustive,
    "random": random_order,
    "cost": by_cost,
    "evolution": evolution,
    "bayes": bayes,
}


class NoStrategy(Exception):
    """Raised if there is no strategy of that name, or none in that file."""


def chosen(word: str) -> Make:
    """Return the strategy for a name of ours, a path `FILE.py`, or an installed entry point.

    A file defines `strategy(setting)`. Raises NoStrategy, and the exceptions of the file.
    """
    if word in STRATEGIES:
        return STRATEGIES[word]
    if word.endswith(".py"):
        return _of_file(word)
    installed = {point.name: point for point in entry_points(group=GROUP)}
    if word in installed:
        return _made(installed[word].load(), f"the entry point '{word}'")
    meant = near(word, [*STRATEGIES, *installed])
    hint = f"did you mean '{meant}'?" if meant else f"there are {', '.join(STRATEGIES)}"
    raise NoStrategy(f"there is no strategy '{word}'; {hint}")


def _of_file(path: str) -> Make:
    if not Path(path).is_file():
        raise NoStrategy(f"there is no file '{path}'")
    found = runpy.run_path(path, run_name="strategy")
    if "strategy" not in found:
        raise NoStrategy(f"'{path}' does not define 'strategy'")
    return _made(found["strategy"], f"'strategy' of '{path}'")


def _made(value: object, what: str) -> Make:
    if not callable(value):
        raise NoStrategy(f"{what} is no function")
    function = cast("Callable[[StrategySetting], object]", value)

    def make(setting: StrategySetting) -> Strategy:
        made = function(setting)
        if not (hasattr(made, "ask") and hasattr(made, "tell")):
            raise NoStrategy(f"{what} returns no object with 'ask' and 'tell'")
        return cast("Strategy", made)

    return make
