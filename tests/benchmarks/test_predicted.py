"""The cost model beside what was measured: correlations, the record, and the page that tells."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.files import RESULTS
from benchmarks.predicted import Point, as_json, points, ranked, read, summary
from benchmarks.ranks import spearman
from dtpoly.cli.main import entry
from dtpoly.explore.devices.devices import find_device
from tests.conftest import Golden

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cost.md"
PART = re.compile(r"(<!-- made by .* -->\n).*(<!-- end -->)", re.DOTALL)
COMMAND = re.compile(r"^```console\n\$ dtpoly (.*)\n(?:.*\n)*?```$", re.MULTILINE)
H200 = find_device("h200")
RECORD: Mapping[str, Any] = json.loads((RESULTS / "cost_h200.json").read_text())


def made_up(measured: float, predicted: float, case: str = "a") -> Point:
    return Point("kernel", case, "name", measured, predicted, 1.0, "memory")


def test_rank_correlation() -> None:
    assert spearman([1, 2, 3], [10, 20, 30]) == 1
    assert spearman([1, 2, 3], [3, 2, 1]) == -1
    assert spearman([1, 2, 3, 4], [1, 1, 2, 2]) == pytest.approx(0.8944, abs=1e-4)
    assert spearman([1, 2, 3], [5, 5, 5]) == 0


def test_a_row_is_ranked() -> None:
    found = [made_up(1, 4), made_up(2, 3), made_up(3, 2), made_up(4, 1)]
    (line,) = ranked(found)
    assert line.chance == pytest.approx((1 / 24) ** (1 / 4))
    assert line.chance_few == pytest.approx((1 / 2) ** (1 / 4))
    assert (line.schedules, line.spread, line.rank) == (4, 4, -1)
    assert (line.first, line.first_few) == (1 / 4, 1 / 2)
    assert ranked(found[:3]) == []
    said = summary([*found, made_up(1, 1, "b")])
    assert (said.points, said.rows, said.worst) == (5, 1, (0.25, 4))
    assert as_json(found)["points"]


def some(record: Mapping[str, Any]) -> dict[str, Any]:
    """Few enough kernels for an ordinary run."""
    kernels = ("geglu", "layer_norm")
    return {**record, "rows": [row for row in record["rows"] if row["kernel"] in kernels]}


def test_the_record_is_what_the_model_says() -> None:
    told = {(p["case"], p["name"]): p for p in RECORD["variants_h200"]["points"]}
    found = list(points(some(read(RESULTS / "variants_h200.json")), H200))
    assert len(found) > 40
    for point in found:
        assert point.predicted == pytest.approx(told[point.case, point.name]["predicted"])


@pytest.mark.long
def test_the_whole_record_is_what_the_model_says() -> None:
    for name in ("kernels_h200", "variants_h200"):
        found = as_json(list(points(read(RESULTS / f"{name}.json"), H200)))
        assert json.loads(json.dumps(found)) == RECORD[name]


@pytest.mark.parametrize(("name", "least"), [("kernels_h200", 0.98), ("variants_h200", 0.98)])
def test_it_ranks_what_was_measured(name: str, least: float) -> None:
    said = RECORD[name]["summary"]
    assert said["points"] > 60
    assert said["rank"] > least
    assert 0.8 < said["middle"] < 1.25


def test_it_finds_good_schedules_of_a_kernel() -> None:
    said = RECORD["variants_h200"]["summary"]
    assert said["rows"] > 40
    assert said["rank_in_rows"] > 0.5
    assert said["first"] > 0.95
    assert said["first_few"] > 0.98
    assert said["chance"] < said["first"]
    assert said["chance_few"] < said["first_few"]


def table() -> Iterator[str]:
    """The figures of the page."""
    for name, what in (("kernels_h200", "examples"), ("variants_h200", "schedules")):
        said = RECORD[name]["summary"]
        low, high = said["worst"]
        yield f"- {said['points']} {what}: rank {said['rank']:.3f} (of the floor alone, which knows"
        yield f" no schedule, {said['floor_rank']:.3f}); predicted over measured"
        yield f" {said['middle']:.2f} in the median, off by a factor of {said['error']:.2f} in the"
        yield f" geometric mean, from {low:.2f} to {high:.2f}.\n"
    said = RECORD["variants_h200"]["summary"]
    yield f"- {said['rows']} rows with several schedules: first {said['first']:.3f}, first three"
    yield f" {said['first_few']:.3f} (geometric means; blindly chosen {said['chance']:.3f} and"
    yield f" {said['chance_few']:.3f}); rank within a row {said['rank_in_rows']:.2f}"
    yield f" in the mean of {said['spread_rows']} rows.\n\n"
    head = ("kernel", "case", "schedules", "slowest / best", "rank", "first", "first three")
    yield f"| {' | '.join(head)} | by chance |\n{'|---' * (len(head) + 1)}|\n"
    for row in RECORD["variants_h200"]["rows"]:
        keys = ("spread", "rank", "first", "first_few", "chance")
        numbers = (f"{row[key]:.2f}" for key in keys)
        cells = (row["kernel"], row["case"], str(row["schedules"]), *numbers)
        yield f"| {' | '.join(cells)} |\n"


def test_the_page_is_up_to_date(
    golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "examples")

    def printed(block: re.Match[str]) -> str:
        assert entry(block[1].split()) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return f"```console\n$ dtpoly {block[1]}\n{out}```"

    page = PAGE.read_text()
    assert len(PART.findall(page)) == 1
    page = PART.sub(lambda part: f"{part[1]}{''.join(table())}{part[2]}", page)
    golden("../../docs/cost.md", COMMAND.sub(printed, page))
