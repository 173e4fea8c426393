"""The studies of spaces: each is of an example, both steps ask the same, and a table tells them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks.spaces.studies import BASELINES, SPACES, STUDIES, Explored, measuring, preparing
from benchmarks.spaces.table import HEAD, table
from dtpoly.algorithm.filling import filled
from dtpoly.cli.size_option import parse_sizes
from dtpoly.explore.bench.baselines import load
from dtpoly.explore.space.file import read_space
from dtpoly.explore.store.question import Facts, Question
from dtpoly.explore.store.results import Outcome, Result
from dtpoly.explore.store.store import open_store
from tests.explore.simulation import few, question_of


def test_each_example_space_is_explored() -> None:
    assert {one.space for one in STUDIES} == {path.stem for path in SPACES.glob("*.dts")}


@pytest.mark.parametrize("one", STUDIES, ids=lambda one: one.name)
def test_sizes_and_baselines_are_those_of_the_algorithm(
    one: Explored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_compiled(function: Callable[..., object], **_: object) -> Callable[..., object]:
        return function

    monkeypatch.setattr(torch, "compile", not_compiled)
    program = read_space(str(SPACES / f"{one.space}.dts")).program
    sizes = parse_sizes((one.sizes,), [label.name for label in program.labels])
    assert filled(program, sizes).keys() == sizes.keys()
    baselines = load(str(BASELINES / f"{one.baseline}.py"))
    assert [*baselines] == ["torch_eager", "torch_compile"]
    (names,) = {baselines["torch_eager"].__code__.co_varnames}
    assert {*names} == {given.name for given in program.inputs}


def test_both_steps_ask_for_the_same_points() -> None:
    first, second = (make(STUDIES[0], Path()) for make in (preparing, measuring))
    assert first[: first.index("--emit")] == second[: second.index("--baseline")]


def test_a_table_says_what_came_of_a_space(tmp_path: Path) -> None:
    path = tmp_path / "softmax.sqlite"
    store = open_store(path)
    asked = question_of(few()).asked
    number = store.ask(Question(asked, Facts("here", {})))
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
    store.close()
    head, _, row = table([path]).splitlines()
    assert head.count("|") == row.count("|") == len(HEAD) + 1
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:5] == ["softmax", "x = 64, f32", "7 of 18", "3", "illegal: order 2; spills 1"]
    assert cells[5:] == ["2", "1", "1", "2", "1.50", "50%", ""]
