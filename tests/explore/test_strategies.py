"""Each strategy asks for points of the space, none twice, the same for the same seed."""

from collections.abc import Mapping
from math import exp, log2
from pathlib import Path

import pytest

from dtpoly.explore.bench.simulated import simulated_time
from dtpoly.explore.space.search_view import Point
from dtpoly.explore.strategies.choice import NoStrategy, chosen
from dtpoly.explore.strategies.evolution import crossed, mutated
from dtpoly.explore.strategies.random_order import permuted
from dtpoly.explore.strategies.strategy import Strategy, StrategySetting
from tests.explore.fields import SOFTMAX, Template, softmax

NAMES = ("exhaustive", "random", "cost", "evolution", "bayes")


def in_rows(parameters: Mapping[str, str]) -> bool:
    return int(parameters["x"]) * int(parameters["y"]) <= 256


SPACE = Template(SOFTMAX, softmax().given, in_rows)
ALL = {p for p in map(SPACE.at, range(SPACE.count)) if p is not None}


def searched(
    strategy: Strategy, space: Template, most: int, width: int = 5, late: bool = False
) -> list[Point]:
    """The points in the order in which they are asked for, of several workers at a time."""
    asked: list[Point] = []
    waiting: list[Point] = []
    while len(asked) < most:
        points = strategy.ask(min(width, most - len(asked)))
        asked.extend(points)
        waiting.extend(points)
        if not waiting:
            break
        while waiting and (len(waiting) >= width or not points):
            point = waiting.pop(-1 if late else 0)
            strategy.tell(point, time_of(space, point))
    return asked


def time_of(space: Template, point: Point) -> float | None:
    parameters = space.parameters(point)
    return None if parameters["x"] == "2" else simulated_time(parameters)


@pytest.mark.parametrize("name", NAMES)
def test_all_points_are_asked_for_once(name: str) -> None:
    asked = searched(chosen(name)(StrategySetting(SPACE, 1)), SPACE, 1000)
    assert len(asked) == len(set(asked)) == len(ALL) == 39
    assert set(asked) == ALL


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_an_order_whichever_worker_is_faster(name: str) -> None:
    def order(seed: int, width: int, late: bool) -> list[Point]:
        return searched(chosen(name)(StrategySetting(SPACE, seed)), SPACE, 24, width, late)

    first = order(1, 5, late=False)
    assert order(1, 5, late=True) == first
    assert order(1, 2, late=False) == first
    assert (order(2, 5, late=False) == first) is (name == "exhaustive")


def bowl(parameters: Mapping[str, str]) -> float:
    """One valley in a large space: what learning is for."""
    best = {"x": 3, "y": 7, "warps": 2, "stages": 1, "group": 4}
    return exp(0.4 * sum(abs(log2(int(parameters[n])) - b) for n, b in best.items()))


@pytest.mark.parametrize(("name", "most"), [("evolution", 150), ("bayes", 48)])
def test_what_learns_is_better_than_chance(name: str, most: int) -> None:
    powers = {"x": 8, "y": 10, "warps": 5, "stages": 3, "group": 7}
    given = {n: tuple(str(2**p) for p in range(count)) for n, count in powers.items()}
    large = Template(SOFTMAX, given)

    def best(word: str, seed: int) -> float:
        strategy = chosen(word)(StrategySetting(large, seed))
        found: list[float] = []
        while len(found) < most:
            for point in strategy.ask(8):
                found.append(bowl(large.parameters(point)))
                strategy.tell(point, found[-1])
        return min(found[:most])

    seeds = range(3)
    assert sum(best(name, seed) for seed in seeds) < sum(best("random", seed) for seed in seeds)


def test_the_cheapest_come_first() -> None:
    expected = {point: simulated_time(SPACE.parameters(point)) for point in sorted(ALL)[::2]}
    asked = searched(chosen("cost")(StrategySetting(SPACE, 1, expected)), SPACE, 1000)
    assert asked[: len(expected)] == sorted(expected, key=lambda point: expected[point])
    assert set(asked) == ALL


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 100])
def test_a_permutation_has_each_number_once(count: int) -> None:
    assert sorted(permuted(count, 5)) == [*range(count)]


def test_a_permutation_of_many_numbers_keeps_none() -> None:
    found = permuted(10**30, 1)
    first = [next(found) for _ in range(50)]
    assert len(set(first)) == 50
    assert max(first) < 10**30
    assert max(first) > 10**29


def test_children_are_made_of_their_parents() -> None:
    class Draw:
        """Always the last option."""

        def choice(self, options: list[int]) -> int:
            return options[-1]

        def random(self) -> float:
            return 0.0

    draw = Draw()
    assert crossed((1, 2), (3, 4), draw) == (3, 4)  # type: ignore[arg-type]
    # The last axis goes up by one.
    assert mutated(SPACE.axes, (0, 0, 1), draw) == (0, 0, 2)  # type: ignore[arg-type]


def test_a_strategy_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from dtpoly.explore.strategies.given_order import InOrder\n"
        "def strategy(setting):\n"
        "    numbers = range(setting.space.count - 1, -1, -1)\n"
        "    points = map(setting.space.at, numbers)\n"
        "    return InOrder(point for point in points if point is not None)\n"
    )
    asked = searched(chosen(str(path))(StrategySetting(SPACE)), SPACE, 1000)
    assert asked == sorted(ALL, reverse=True)


@pytest.mark.parametrize(
    ("word", "text", "message"),
    [
        ("evolutoin", "", "there is no strategy 'evolutoin'; did you mean 'evolution'?"),
        ("absent.py", "", "there is no file 'absent.py'"),
        ("FILE", "other = 1\n", "does not define 'strategy'"),
        ("FILE", "strategy = 1\n", "is no function"),
        ("FILE", "def strategy(setting): return 1\n", "no object with 'ask' and 'tell'"),
    ],
)
def test_what_is_no_strategy_is_told(tmp_path: Path, word: str, text: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(NoStrategy) as raised:
        chosen(str(path) if word == "FILE" else word)(StrategySetting(SPACE))
    assert message in str(raised.value)
