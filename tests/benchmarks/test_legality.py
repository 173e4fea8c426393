"""Benchmarks keep their limits, and what is written down of them is what they measure."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import legality
from benchmarks.__main__ import COMMANDS, PROGRAM, main
from benchmarks.commands.legality import as_json, table
from benchmarks.files import RESULTS
from benchmarks.pace import is_kept, is_kept_once
from benchmarks.timing import Result, isl_calls
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.legality import judge
from tests.schedule.told import SUM, read

RUN: tuple[Callable[[], Result], ...] = (
    legality.attention,
    legality.chain,
    legality.explanation,
    legality.one_more_tensorize,
    legality.blame,
    legality.blame_of_two,
    legality.process,
)


def written() -> dict[str, dict[str, Any]]:
    recorded = json.loads((RESULTS / "legality.json").read_text())
    return {one["what"]: one for one in recorded["results"]}


@pytest.mark.alone
@pytest.mark.parametrize("run", RUN, ids=lambda run: run.__name__)
def test_a_limit_is_kept(run: Callable[[], Result]) -> None:
    result = run()
    assert result.limit is not None
    # Measured again if it is over: a machine may have been slow for that run.
    assert is_kept(result.limit, result.best) or is_kept_once(result.limit, lambda: run().best, 3)
    # Calls do not depend on the machine: what takes half as many again is a change to look at.
    before = written()[result.what]["counts"]
    for what, count in result.counts.items():
        assert count <= 1.5 * before[what] + 20, what
    assert result.counts.get("of torch", 0) == 0


def test_what_is_written_down_keeps_the_limits() -> None:
    recorded = json.loads((RESULTS / "legality.json").read_text())
    assert recorded["command"] == "python -m benchmarks legality"
    assert {"python", "islpy", "cpu", "cores"} <= recorded["machine"].keys()
    limits = {what: one["limit"] for what, one in written().items() if one["limit"] is not None}
    assert limits == {
        legality.ATTENTION: 0.15,
        legality.CHAIN: 1,
        legality.EXPLAIN: 1,
        legality.TENSORIZE: 0.01,
        legality.BLAME: 1,
        legality.BLAME_OF_TWO: 1,
        legality.PROCESS: 0.4,
    }
    slowness = recorded["slowness"]
    assert all(written()[what]["best"] < limit * slowness for what, limit in limits.items())


def test_calls_of_isl_are_counted_and_let_go() -> None:
    program = read(SUM)

    def judged() -> object:
        return judge(program, DIRECTIVES)

    count = isl_calls(judged)
    assert count > 20
    assert isl_calls(judged) == count
    assert isl_calls(lambda: None) == 0


def test_a_table_and_a_file() -> None:
    results = [Result("a", (0.25, 0.5), 1.0, {"calls": 3}), Result("b", (0.125,))]
    assert table("some", results).row_count == 2
    made = as_json(("legality",), results, 1.25)
    assert made["slowness"] == 1.25
    assert made["results"] == [
        {
            "what": "a",
            "best": 0.25,
            "median": 0.375,
            "runs": 2,
            "limit": 1.0,
            "counts": {"calls": 3},
        },
        {"what": "b", "best": 0.125, "median": 0.125, "runs": 1, "limit": None, "counts": {}},
    ]


def test_an_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["legalty"]) == 2
    assert "no command 'legalty'; did you mean 'legality'?" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"Usage: {PROGRAM} {command}" in capsys.readouterr().out
