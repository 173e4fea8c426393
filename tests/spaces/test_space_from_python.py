"""Tests `dtpoly.space`: counting, sampling, taking points, exploring, and the results."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dtpoly
from dtpoly.explore.run.emission import Emission
from dtpoly.explore.run.progress import Snapshot
from dtpoly.spaces import exploration_results
from tests.cli.process import ROOT, environment

PATH = ROOT / "examples" / "spaces" / "softmax.dts"
SIZES = {"x": 64, "y": 256}


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> dtpoly.Results:
    """What a simulated exploration found."""
    file = tmp_path_factory.mktemp("explored") / "softmax.sqlite"
    space = dtpoly.space(PATH)
    found = space.explore(SIZES, budget=8, simulate=True, output=file, workers=1, preparing=1)
    assert found.path == str(file)
    return found


def test_it_is_counted_and_listed() -> None:
    space = dtpoly.space(PATH)
    assert space.count == len(space) == 2880
    assert space.parameters["block.x"] == ("1", "2", "4", "8", "16")
    assert next(iter(space)) == space.line(0)
    assert space.line(-1) == space.line(2879)
    assert repr(space).endswith("softmax.dts: 2,880 points, 7 choices>")
    with pytest.raises(IndexError, match="there is no point 2880"):
        space.line(2880)


def test_a_sample_is_of_the_space() -> None:
    space = dtpoly.space(PATH)
    lines = space.sample(5, seed=7)
    assert len(set(lines)) == 5
    assert lines == space.sample(5, seed=7) != space.sample(5, seed=8)
    assert all(line in space for line in lines)
    assert "block=x:3" not in space
    assert lines[0].replace("block=x:", "block=x:9") not in space


def test_a_point_is_a_schedule() -> None:
    space = dtpoly.space(PATH)
    line = "block=x:4 tensorize=x:2,y:512 fuse_at=x num_warps=8 num_stages=option:2"
    taken = space[line]
    assert taken.is_legal
    assert taken == dtpoly.load(PATH, point=line)
    assert "softmax.block(x:4);" in str(taken)
    assert str(space[0]) == str(space[space.line(0)])
    with pytest.raises(dtpoly.DtpolyError, match="DT251"):
        # The line is read, and breaks `where tensorize.x <= block.x`.
        _ = space[line.replace("block=x:4", "block=x:1")]


def test_what_was_explored(explored: dtpoly.Results) -> None:
    rows = explored.rows
    assert len(rows) == len(explored) >= 8
    timed = [row for row in rows if row["outcome"] == "measured"]
    best = explored.best
    assert best is not None
    assert best["median_ms"] == min(row["median_ms"] for row in timed)
    assert best["sizes"] == SIZES
    assert best["parameters"]["block.x"] in (1, 2, 4, 8, 16)
    schedule = explored.schedule()
    assert schedule.is_legal
    assert all(f"{one.name}" in best["point"] for one in schedule.program.directives)
    assert str(schedule) != str(explored.schedule(max(timed, key=lambda row: row["median_ms"])))
    assert f"{best['median_ms']:.4g} ms" in repr(explored)


def test_what_is_known_is_not_measured_again(explored: dtpoly.Results) -> None:
    seen: list[Snapshot | Emission] = []
    found = dtpoly.space(PATH).explore(
        SIZES, budget=8, simulate=True, output=explored.path, progress=seen.append
    )
    assert found.rows == explored.rows
    assert isinstance(seen[-1], Snapshot)
    assert seen[-1].known == len(explored)


def test_the_command_sees_the_same(explored: dtpoly.Results) -> None:
    words = [sys.executable, "-m", "dtpoly", "report", explored.path, "--json"]
    done = subprocess.run(words, env=environment(), capture_output=True, check=True)
    said = json.loads(done.stdout)["results"]
    assert [row["point"] for row in said] == [row["point"] for row in explored]


@pytest.mark.parametrize("ending", [".html", ".svg", ".csv", ".json"])
def test_reports_are_written(ending: str, explored: dtpoly.Results, tmp_path: Path) -> None:
    written = explored.write(tmp_path / f"report{ending}")
    best = explored.best
    assert best is not None
    if ending != ".svg":
        assert best["point"] in written.read_text(encoding="utf-8")
    else:
        assert written.read_text(encoding="utf-8").startswith("<?xml")


def test_another_ending_is_refused(explored: dtpoly.Results, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must end in \.html"):
        explored.write(tmp_path / "report.xlsx")


def test_without_pandas_a_table_is_a_list(
    explored: dtpoly.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exploration_results, "PANDAS", "no_pandas_here")
    assert explored.table() == explored.rows


def test_with_pandas_it_is_a_data_frame(explored: dtpoly.Results) -> None:
    pandas: Any = pytest.importorskip("pandas")
    table = explored.table()
    assert isinstance(table, pandas.DataFrame)
    assert len(table) == len(explored)
    best = explored.best
    assert best is not None
    assert table["median_ms"].min() == best["median_ms"]
    assert set(table["sizes.x"]) == {64}
    assert {"parameters.block.x", "parameters.num_warps"} <= {*table.columns}


def test_a_notebook_sees_them(explored: dtpoly.Results) -> None:
    shown = explored._repr_html_()  # pyright: ignore[reportPrivateUsage]
    best = explored.best
    assert best is not None
    assert best["point"] in shown
    space = dtpoly.space(PATH)._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "2,880 points" in space
    assert "0, 256, 512, 1024, 2048, 4096" in space


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"strategy": "bay"}, r"DT257.*did you mean 'bayes'"),
        ({"strategy": "cost"}, "DT257.*no cost model is known"),
        ({"sizes": {"x": 4}}, "DT"),
        ({"sizes": {"x": 4, "z": 4}}, "there is no label 'z'"),
        ({"dtype": "f33"}, "did you mean 'f32'"),
        ({"budget": "10 min"}, "is no budget"),
        ({"device": "gpu"}, "there is no device 'gpu'"),
    ],
)
def test_mistakes_are_told(named: dict[str, Any], said: str, tmp_path: Path) -> None:
    space = dtpoly.space(PATH)
    given: dict[str, Any] = {
        "sizes": SIZES,
        "simulate": True,
        "output": tmp_path / "r.sqlite",
        **named,
    }
    with pytest.raises((dtpoly.DtpolyError, ValueError), match=said):
        space.explore(**given)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(dtpoly.DtpolyError, match=r"DT257.*there is no file"):
        dtpoly.results("none.sqlite")


def test_it_needs_neither_torch_nor_triton() -> None:
    code = f"""
import sys
sys.modules["torch"] = sys.modules["triton"] = sys.modules["numpy"] = None
import dtpoly
print(len(dtpoly.space({str(PATH)!r})))
"""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=environment(), capture_output=True, check=True, text=True)
    assert done.stdout == "2880\n"
