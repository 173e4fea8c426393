"""A file without a schedule gets one by the cost model when it is called; here interpreted.

No GPU is needed: the name of the device is that of another one.
"""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._guards import TracingContext, tracing

import dtpoly
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled
from dtpoly.runtime.traced_calls import is_left_as_written
from dtpoly.tuned import call_sizes, choosing
from dtpoly.tuned.call_sizes import CPU, CallFacts

SUM = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k);"
GPU = "NVIDIA H200"


@pytest.fixture(autouse=True)
def _on_a_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on(monkeypatch, GPU)
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "cache"))


def on(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    def named(*_: object) -> str:
        return device

    monkeypatch.setattr(call_sizes, "_device", named)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int]]:
    """Note the sizes of each search for a schedule from now on."""
    found: list[dict[str, int]] = []

    def counting(call: PricedCall) -> Iterator[Settled]:
        found.append(dict(call.sizes))
        return schedules(call)

    monkeypatch.setattr(choosing, "schedules", counting)
    return found


def test_calls_with_sizes_far_apart_have_schedules_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    k, searched = dtpoly.parse(SUM, name="sum.dt"), counted(monkeypatch)
    given = torch.randn(40, 64)
    with pytest.warns(UserWarning, match=r"sum.dt has no schedule for such a call: the cost model"):
        torch.testing.assert_close(k(given), given.sum(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is told once
        for shape in ((40, 64), (60, 100), (3, 5000), (0, 64)):
            given = torch.randn(*shape)
            torch.testing.assert_close(k(given), given.sum(1))
    assert searched == [{"x": 40, "k": 64}, {"x": 3, "k": 5000}, {"x": 1, "k": 64}]
    assert not k.is_scheduled
    assert "f.compile" not in str(k)
    # What is on disk is not searched again.
    other, given = dtpoly.parse(SUM, name="sum.dt"), torch.randn(40, 64)
    with pytest.warns(UserWarning, match="has no schedule for such a call"):
        torch.testing.assert_close(other(given), given.sum(1))
    assert len(searched) == 3


@pytest.mark.long
def test_a_schedule_is_kept_for_the_next_process(tmp_path: Path) -> None:
    script = f"""
import torch, warnings, dtpoly
from dtpoly.tuned import call_sizes, choosing
call_sizes._device = lambda *_: "{GPU}"
searched, search = [], choosing.schedules
choosing.schedules = lambda call: searched.append(1) or search(call)
warnings.simplefilter("ignore")
k = dtpoly.parse("{SUM}")
A = torch.randn(40, 64)
torch.testing.assert_close(k(A), A.sum(1))
print(len(searched))
"""
    told = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert told == ["1\n", "0\n"]


def test_a_device_without_a_model_computes_without_a_schedule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on(monkeypatch, "a GPU of tomorrow")
    k, searched = dtpoly.parse(SUM, name="sum.dt"), counted(monkeypatch)
    given = torch.randn(4, 5)
    with pytest.warns(
        UserWarning, match="does not know 'a GPU of tomorrow': name .* DTPOLY_DEVICE"
    ):
        torch.testing.assert_close(k(given), given.sum(1))
    assert not searched
    # Its user may say which one it is like.
    monkeypatch.setenv("DTPOLY_DEVICE", "a100")
    other = dtpoly.parse(SUM)
    with pytest.warns(UserWarning, match="chose one for k = 5, x = 4 in f32 on a GPU of tomorrow"):
        torch.testing.assert_close(other(given), given.sum(1))
    assert searched
    monkeypatch.setenv("DTPOLY_DEVICE", "a200")
    with pytest.raises(ValueError, match="DTPOLY_DEVICE=a200 names no device"):
        choosing.model_of("a GPU of tomorrow")


def test_what_has_a_schedule_and_wrong_calls_choose_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = counted(monkeypatch)
    given = torch.randn(4, 5)
    dtpoly.parse(f"{SUM} f.block(x:2);")(given)
    k = dtpoly.parse(SUM)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'A'"):
        k()
    on(monkeypatch, CPU)
    k(given)
    assert not searched


def test_an_entry_that_does_not_fit_leaves_the_choice_to_the_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sum.dt").write_text(SUM)
    entry = f"{{\n# for {GPU}, f32: x = 4, k = 16\nf.block(x:2), f.compile()\n}};\n"
    (tmp_path / "tuned.dts").write_text(f'algorithm "sum.dt";\n{entry}')
    searched = counted(monkeypatch)
    k = dtpoly.load(tmp_path / "sum.dt", tuned=tmp_path / "tuned.dts")
    given = torch.randn(4, 16)
    torch.testing.assert_close(k(given), given.sum(1))
    assert k.picked is not None
    assert not searched
    given = torch.randn(4, 900)
    with pytest.warns(UserWarning, match="the cost model chose one for k = 900"):
        torch.testing.assert_close(k(given), given.sum(1))
    assert k.picked is None
    assert searched == [{"x": 4, "k": 900}]
    on(monkeypatch, "NVIDIA A100")  # for which there is no entry
    torch.testing.assert_close(k(given), given.sum(1))
    assert len(searched) == 2
    assert k.at_hand(CallFacts("a GPU of tomorrow", "f32", (("k", 4), ("x", 4)))) is None


@pytest.mark.long
def test_what_torch_compiles_may_be_the_first_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is right without a schedule, and none is looked for while torch traces."""
    path, searched = tmp_path / "bare.dt", counted(monkeypatch)
    path.write_text(SUM, encoding="utf-8")
    f = dtpoly.load(path).f
    compiled: Any = vars(torch)["compile"]
    made = compiled(f, backend="aot_eager", fullgraph=True)
    given = torch.linspace(-1, 1, 40 * 64).reshape(40, 64)
    torch.testing.assert_close(made(given), given.sum(1))
    assert not searched


def test_no_schedule_is_chosen_while_torch_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert not is_left_as_written("sum.dt")
    with (
        tracing(TracingContext(None)),
        pytest.warns(UserWarning, match="sum.dt has no schedule, and none is chosen"),
    ):
        assert is_left_as_written("sum.dt")
