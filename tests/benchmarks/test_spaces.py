"""The studies of spaces: each is of an example, both steps ask the same, and a table tells them."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from benchmarks.__main__ import main
from benchmarks.commands import spaces
from benchmarks.spaces.studies import (
    BASELINES,
    EXAMPLES,
    SMALLER,
    STUDIES,
    Explored,
    How,
    measuring,
    preparing,
)
from benchmarks.spaces.summary import Kept, read, summaries
from benchmarks.spaces.table import HEAD, RANKS, rank, table
from dtpoly.algorithm.filling import filled
from dtpoly.cli.size_option import parse_sizes
from dtpoly.explore.bench.baselines import load
from dtpoly.explore.space.count import counted
from dtpoly.explore.space.space_file import read_space
from dtpoly.explore.store.measured_question import Question, SetupFacts
from dtpoly.explore.store.result_store import open_store
from dtpoly.explore.store.results import Outcome, Result
from tests.explore.simulation import few, question_of

EMPTY = Kept("f", {"x": 4}, "f32", "here", {}, 40, 40, {}, 40, 0, 0, {}, None, "", {}, None, None)


def test_each_example_space_is_explored() -> None:
    names = {one.space for one in STUDIES}
    assert names == {path.stem for path in EXAMPLES.glob("*.dts")}
    assert names == {path.stem for path in SMALLER.glob("*.dts")}


@pytest.mark.parametrize("one", STUDIES, ids=lambda one: one.name)
def test_the_smaller_space_is_of_the_same_algorithm(one: Explored) -> None:
    small, large = (read_space(str(of / f"{one.space}.dts")) for of in (SMALLER, EXAMPLES))
    assert small.program == large.program
    assert 100 < counted(small).count < counted(large).count


@pytest.mark.parametrize("one", STUDIES, ids=lambda one: one.name)
def test_sizes_and_baselines_are_those_of_the_algorithm(
    one: Explored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_compiled(function: Callable[..., object], **_: object) -> Callable[..., object]:
        return function

    monkeypatch.setattr(torch, "compile", not_compiled)
    program = read_space(str(SMALLER / f"{one.space}.dts")).program
    for given in (one.sizes, *one.others):
        sizes = parse_sizes((given,), [label.name for label in program.labels])
        assert filled(program, sizes).keys() == sizes.keys()
    baselines = load(str(BASELINES / f"{one.baseline}.py"))
    assert [*baselines][:2] == ["torch_eager", "torch_compile"]
    (names,) = {one.__code__.co_varnames for one in baselines.values()}
    assert {*names} == {given.name for given in program.inputs}


def test_both_steps_ask_for_the_same_points() -> None:
    first, second = (make(STUDIES[0], Path(), How()) for make in (preparing, measuring))
    assert first[: first.index("--emit")] == second[: second.index("--baseline")]


def test_other_sizes_are_compared_with_nothing() -> None:
    given = measuring(STUDIES[0], Path(), How(more=("--workers", "1")), "x=4,y=4")
    assert "--baseline" not in given
    assert given[-2:] == ["--workers", "1"]
    assert given[given.index("--size") + 1] == "x=4,y=4"


def test_spaces_are_explored_together_and_the_sizes_of_one_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, begun = threading.Barrier(2, timeout=60), list[str]()

    def explore(arguments: Sequence[str]) -> int:
        space = Path(arguments[1]).stem
        begun.append(f"{space} {arguments[arguments.index('--size') + 1]}")
        both.wait()
        return int(space == "dyt")

    monkeypatch.setattr(spaces, "_dtpoly", explore)
    words = ["spaces", "run", str(tmp_path), "--space", "dyt", "--space", "geglu", "--others"]
    assert main([*words, "--together", "2"]) == 1
    for one in STUDIES[:2]:
        mine = [line for line in begun if line.startswith(f"{one.name} ")]
        assert mine == [f"{one.name} {sizes}" for sizes in one.others]


def test_a_table_says_what_came_of_a_space(tmp_path: Path) -> None:
    path = tmp_path / "softmax.sqlite"
    store = open_store(path)
    asked = question_of(few()).asked
    number = store.ask(Question(asked, SetupFacts("here", {})))
    store.begin(number, "command", "random", 0, 18)
    timed = Result(Outcome.MEASURED, median=2.0, samples=5, baselines={"torch": 3.0})
    for at, result in enumerate(
        (
            timed,
            replace(timed, median=4.0),
            replace(timed, median=1.0, outcome=Outcome.UNPROVED, kind="not proved: value"),
            Result(Outcome.REFUSED, "spills", "so"),
            Result(Outcome.REFUSED, "illegal: order", "so"),
            Result(Outcome.REFUSED, "illegal: order", "so"),
            Result(Outcome.WRONG, "wrong values", "so"),
        )
    ):
        store.keep(number, str(at), {}, result)
    store.predict(asked.key, {"0": 5.0, "1": 3.0})
    store.close()
    head, _, row = table(summaries([path])).splitlines()
    assert head.count("|") == row.count("|") == len(HEAD) + 1
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:3] == ["softmax", "x = 64, f32", "7 of 18"]
    assert cells[3:6] == ["2 (illegal: order 2)", "1 (spills 1)", "4"]
    assert cells[6:] == ["2", "1", "1", "2", "1.50", "50%"]


def test_what_is_kept_of_a_space_says_what_predictions_are_worth() -> None:
    pairs = [(float(at), 100.0 - at) for at in range(40)]
    (one,) = read([{**asdict(EMPTY), "pairs": pairs}])
    assert (one.top, one.share_of_top) == (2, 61 / 99)
    cells = rank(one)
    assert len(cells) == len(RANKS)
    assert cells[2:] == ("40", "1.6", "", "0.616")
    assert EMPTY.share_of_top is None


def test_what_is_predicted_alike_is_chosen_from_by_chance() -> None:
    (one,) = read([{**asdict(EMPTY), "pairs": [(1.0, 4.0), (1.0, 1.0), *[(2.0, 9.0)] * 8]}])
    assert one.top == 1
    assert one.share_of_top == pytest.approx(0.5)
    (one,) = read([{**asdict(one), "pairs": [(0.5, 2.0), *one.pairs, *one.pairs]}])
    assert one.top == 2
    assert one.share_of_top == pytest.approx(0.5**0.5)
