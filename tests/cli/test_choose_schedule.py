"""Python estimates and chooses as the commands do, and says the same."""

import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import pytest

import dtpoly
from tests.cli.conftest import Entry

SOFTMAX = """
Func softmax, total; In A; Var x; RVar y;
total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
"""
FUSED = "softmax.block(x:4); softmax.tensorize(x:0, y:512); total.fuse_at(softmax, x);"
SIZES = {"x": 4096, "y": 4096}
WORDS = ("--size", "x=4096,y=4096", "--device", "a100")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "softmax.dt"
    path.write_text(f"{SOFTMAX}{FUSED} softmax.compile();\n")
    return path


def test_a_cost_is_that_of_the_command(file: Path, call: Entry) -> None:
    cost = dtpoly.load(file).cost(SIZES, device="a100")
    code, printed, _ = call("cost", str(file), *WORDS, "--json")
    assert code == 0
    said = json.loads(printed)
    assert {key: said[key] for key in cost.data} == json.loads(json.dumps(cost.data))
    assert cost.seconds == said["seconds"] > cost.floor > 0
    assert [one.name for one in cost.kernels] == ["softmax"]
    code, printed, _ = call("cost", str(file), *WORDS)
    assert " ".join(str(cost).split()) == " ".join(printed.split())


def test_how_a_cost_is_shown() -> None:
    cost = dtpoly.parse(f"{SOFTMAX}{FUSED}").cost(SIZES)
    assert re.fullmatch(
        r"<EstimatedCost softmax on NVIDIA H200 \w+, f32, x=4096, y=4096: about [\d.]+ us>",
        repr(cost),
    )
    view = cost._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert view.count("<table") == 4
    assert escape(cost.advice[0]) in view
    warm = dtpoly.parse(f"{SOFTMAX}{FUSED}").cost(SIZES, warm=True, dtype="bf16")
    assert warm.seconds < cost.seconds


def test_a_choice_is_that_of_the_command(file: Path, call: Entry) -> None:
    choice = dtpoly.choose_schedule(file, SIZES, device="a100")
    code, printed, _ = call("schedule", str(file), *WORDS, "--budget", "0")
    assert (code, str(choice)) == (0, printed)
    assert choice.schedule.is_legal
    words = [f"{one};" for one in str(choice.schedule).replace("\n", "").split(";")]
    assert [*choice.reasons] == [one for one in words if one in choice.reasons]
    assert not choice.is_measured
    assert choice.considered == [(choice.seconds, " ".join(choice.reasons))]


def test_how_a_choice_is_shown() -> None:
    choice = dtpoly.choose_schedule(SOFTMAX, SIZES, device="h100")
    shown = (
        r"<ScheduleChoice <text> on NVIDIA H100 \w+: [\d.]+ us by the cost model, \d directives>"
    )
    assert re.fullmatch(shown, repr(choice))
    view = choice._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert all(escape(why) in view for why in choice.reasons.values())
    assert "not measured" in view


def test_a_choice_takes_what_was_loaded_and_leaves_its_schedule_aside(file: Path) -> None:
    of_file = dtpoly.choose_schedule(str(file), SIZES)
    loaded = dtpoly.choose_schedule(dtpoly.load(file), SIZES)
    bare = dtpoly.choose_schedule(SOFTMAX, SIZES)
    assert loaded.reasons == of_file.reasons == bare.reasons


def test_without_a_gpu_a_budget_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dtpoly.spaces.schedule_choice.has_driver", bool)
    with pytest.warns(UserWarning, match="there is no GPU here"):
        choice = dtpoly.choose_schedule(SOFTMAX, SIZES, budget="5s")
    assert not choice.is_measured


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sizes": {"z": 4}}, "there is no label 'z'"),
        ({"sizes": {"x": 4, "y": -1}}, "the size of 'y' is -1"),
        ({"sizes": {"x": 4, "y": 4}, "device": "h20"}, "no device 'h20'; did you mean 'h200'"),
        ({"sizes": {"x": 4, "y": 4}, "device": "absent.json"}, "'absent.json' cannot be read"),
        ({"sizes": {"x": 4, "y": 4}, "dtype": "i32"}, "there is no dtype 'i32'"),
        ({"sizes": {"x": 4}}, "the size of 'y' must be passed"),
    ],
)
def test_what_is_wrong_is_said_by_both(wrong: Mapping[str, object], said: str) -> None:
    words: dict[str, Any] = {**wrong}
    sizes = words.pop("sizes")
    with pytest.raises((ValueError, dtpoly.DtpolyError), match=re.escape(said)):
        dtpoly.parse(SOFTMAX).cost(sizes, **words)
    with pytest.raises((ValueError, dtpoly.DtpolyError), match=re.escape(said)):
        dtpoly.choose_schedule(SOFTMAX, sizes, **words)


def test_what_is_wrong_of_a_choice_alone() -> None:
    with pytest.raises(ValueError, match="no schedule of nothing"):
        dtpoly.choose_schedule(SOFTMAX, {"x": 0, "y": 4})
    with pytest.raises(ValueError, match="no budget: take 0, 20"):
        dtpoly.choose_schedule(SOFTMAX, SIZES, budget="soon")
    with pytest.raises(ValueError, match="has no Func"):
        dtpoly.choose_schedule("In A;", {})
    with pytest.raises(dtpoly.DtpolyError, match="DT100"):
        dtpoly.choose_schedule("absent.dt", {})


def test_a_refused_schedule_has_no_cost() -> None:
    k = dtpoly.parse(f"{SOFTMAX}total.fuse_at(softmax, y);")
    with pytest.raises(dtpoly.DtpolyError):
        k.cost(SIZES)
