"""A device of torch, here the CPU in Triton's interpreter: what is right has a time."""

from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from dtpoly.algorithm.show import show
from dtpoly.explore.bench.baselines import load
from dtpoly.explore.bench.bench import Candidate, Failure, WrongValues, measured, prepared
from dtpoly.explore.bench.on_torch import ROUNDS, TorchBench, compiling
from dtpoly.explore.prune.emit import emitted
from dtpoly.explore.store.measured_question import UserQuestion
from dtpoly.explore.store.results import EmittedText, Outcome, RefusedPoint, Result
from dtpoly.timing.samples import MOST
from tests.explore.fields import softmax

# Triton has no types to check against.
JITFunction: Any = import_module("triton.runtime.jit").JITFunction
SPACE = softmax(x=("2",), y=("16",), warps=("4",))
PROGRAM = SPACE.program_of((0, 0, 0))
ASKED = UserQuestion("s.dt", show(replace(PROGRAM, directives=())), "softmax", {"x": 5, "y": 40})
BASELINES = """
import torch

def good(A):
    return torch.softmax(A, -1)

def wrong(A):
    return A

def failing(A):
    raise ValueError("planted")

def _own(A):
    return A
"""

# Products as tensor cores have them in tf32, and without one of 128 terms.
ROUGH = """
import torch

def _truncated(tensor):
    return (tensor.view(torch.int32) & ~0x1fff).view(torch.float32)

def rough(A, B):
    return torch.sigmoid(_truncated(A) @ _truncated(B))

def short(A, B):
    return rough(A[:, 1:], B[1:])
"""


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> TorchBench:
    path = tmp_path_factory.mktemp("baselines") / "mine.py"
    path.write_text(BASELINES)
    return TorchBench(ASKED, "cpu", load(str(path)))


@pytest.fixture(scope="module")
def text() -> EmittedText:
    made = emitted("softmax.dt", show(PROGRAM)).made
    assert isinstance(made, EmittedText)
    return made


def candidate(text: EmittedText, changed: str = "") -> Candidate:
    code = changed or text.text
    return Candidate("point", {}, code, sha256(code.encode()).hexdigest(), text.call)


def result_of(device: TorchBench, given: Candidate, bound: float | None) -> Result:
    """Both steps, as a worker does them."""
    return prepared(device, given) or measured(device, given, bound)


def test_kernels_are_compiled_before_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool | str] = []

    class Kernel:
        def _init_handles(self) -> None:
            seen.append("loaded")

    def run(*_: object, grid: object, warmup: bool) -> Kernel:
        seen.append(warmup)
        return Kernel()

    monkeypatch.setattr(JITFunction, "run", run)
    with compiling("cuda"):
        JITFunction.run(None, 1, grid=(1,), warmup=False)
    with compiling("cpu"):
        JITFunction.run(None, 1, grid=(1,), warmup=False)
    JITFunction.run(None, 1, grid=(1,), warmup=False)
    assert seen == [True, "loaded", False, False]


def test_a_right_text_has_a_time_and_those_of_the_baselines(
    device: TorchBench, text: EmittedText
) -> None:
    result = result_of(device, candidate(text), None)
    assert result.outcome is Outcome.MEASURED, result.reason
    assert result.median is not None
    assert result.quarter is not None
    assert 0 < result.quarter <= result.median
    assert result.error is not None
    assert result.allowed is not None
    assert result.error <= result.allowed < 1e-4
    assert [*result.baselines] == ["good"]
    assert result.samples >= 5


def test_baselines_are_held_to_the_same(device: TorchBench) -> None:
    assert [*device.failed] == ["wrong", "failing"]
    assert "is" in device.failed["wrong"]
    assert "planted" in device.failed["failing"]


def test_rough_products_may_lose_what_tf32_loses(tmp_path: Path) -> None:
    """As of a sigmoid at m=n=512, k=128, where it is more than a share of the largest element."""
    path = tmp_path / "mine.py"
    path.write_text(ROUGH)
    text = "Func f; In A, B; Var m, n; RVar k; f[m, n] = sigmoid(rdot(A[m, k], B[k, n], k));"
    for seed in (0, 2):
        asked = UserQuestion("f.dt", text, "f", {"m": 512, "n": 512, "k": 128}, seed=seed)
        device = TorchBench(asked, "cpu", load(str(path)))
        assert [*device.baselines] == ["rough"], device.failed
        assert "is" in device.failed["short"]
        assert {*device.allowed} == {("f", True)}  # the exact ones are asked for by nobody


def test_what_is_hopeless_is_stopped(device: TorchBench, text: EmittedText) -> None:
    result = result_of(device, candidate(text), 1e-9)
    assert result.outcome is Outcome.SLOW
    assert result.median is not None


@pytest.mark.long
def test_a_candidate_has_so_much_of_the_device(text: EmittedText) -> None:
    counts: list[int] = []
    for each in (1e-6, 1e6):
        result = result_of(TorchBench(ASKED, "cpu", {}, each), candidate(text), None)
        counts.append(result.samples)
    assert counts == [ROUNDS, ROUNDS * MOST]


def test_what_a_kernel_computes_later_is_looked_at_too(
    device: TorchBench, text: EmittedText
) -> None:
    given = candidate(text)
    assert prepared(device, given) is None
    assert device.check(given).error >= 0
    run, (out,) = device.run, device.outs

    def worse() -> Tensor:
        return out.fill_(7.0)

    device.run = worse
    with pytest.raises(WrongValues, match="is 7 and not"):
        device.measure(given, None)
    device.run = run


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tl.exp(", "tl.cos(", "softmax["),
        # What is left out is full of NaN.
        ("tl.store(", "tl.load(None) if False else (lambda *_, **__: None)(", "is nan and not"),
    ],
)
def test_a_wrong_text_has_no_time(
    device: TorchBench, text: EmittedText, old: str, new: str, said: str
) -> None:
    assert old in text.text
    result = result_of(device, candidate(text, text.text.replace(old, new)), None)
    assert (result.outcome, result.kind) == (Outcome.WRONG, "wrong values")
    assert result.median is None
    assert said in result.reason


def test_a_text_that_fails_says_why(device: TorchBench, text: EmittedText) -> None:
    with pytest.raises(Failure, match="planted"):
        device.prepare(candidate(text, "raise KeyError('planted')"))
    result = result_of(device, candidate(text, "raise KeyError('planted')"), None)
    assert (result.outcome, result.kind) == (Outcome.FAILED, "KeyError")


def test_what_the_device_is_called(device: TorchBench) -> None:
    facts = device.facts()
    assert facts.device == "cpu, in Triton's interpreter"
    assert {"dtpoly", "torch", "triton"} <= facts.versions.keys()


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("softmax.block(x:2)", "softmax.block(x:2); total.block(x:4)", "DT1"),
        ("num_warps(4)", "num_warps(3)", "DT1"),
        ("softmax.tensorize(x:0, y:16)", "softmax.blok(x:2)", "DT1"),
        ("rsum(exp(A[x, y]), y)", "rsum(exp(A[x, z]), y)", "DT1"),
    ],
)
def test_what_cannot_be_emitted_is_refused_in_a_few_words(old: str, new: str, kind: str) -> None:
    source = show(PROGRAM)
    assert old in source
    made = emitted("softmax.dt", source.replace(old, new)).made
    assert isinstance(made, RefusedPoint)
    assert made.kind.startswith(kind)
    assert made.reason


def test_what_is_illegal_is_refused_by_its_kind() -> None:
    text = (Path(__file__).parent.parent / "data" / "refused" / "at_n.dt").read_text()
    made = emitted("at_n.dt", text).made
    assert isinstance(made, RefusedPoint)
    assert made.kind == "illegal: recomputes in a loop"
    assert "mm[0, 0]" in made.reason


SEVERAL = """
Func f, t; In A; Var x; RVar y;
t[x] = rmax(A[x, y], y);
f[x, y] = A[x, y] - reshape(t[x], x, 1);
t.fuse_at(f, x);
f.tensorize(x:4, y:16);
f.compile(t);
"""


IN_PLACE = """
Func f, h into H; In A, H; Var x, y;
h[x, y] = H[x, y] * 3 + A[x, y];
f[x, y] = h[x, y] - 1;
h.fuse_at(f, x);
f.tensorize(x:4, y:16);
f.compile(h);
"""


def test_what_is_written_in_place_is_put_back() -> None:
    """Else each run would begin with the results of the run before."""
    made = emitted("s.dt", IN_PLACE).made
    assert isinstance(made, EmittedText)
    bare = IN_PLACE.partition("h.fuse_at")[0]
    device = TorchBench(UserQuestion("s.dt", bare, "f", {"x": 5, "y": 40}), "cpu", {}, 1.0)
    before = {n: v.clone() for n, v in device.inputs.items() if isinstance(v, torch.Tensor)}
    assert result_of(device, candidate(made), None).median is not None
    assert all(torch.equal(before[n], torch.as_tensor(device.inputs[n])) for n in before)
    changed = made.text.replace("H_tile * 3.0", "H_tile * 2.0")
    assert changed != made.text
    assert result_of(device, candidate(made, changed), None).outcome is Outcome.WRONG


def test_each_of_several_results_is_looked_at() -> None:
    made = emitted("s.dt", SEVERAL).made
    assert isinstance(made, EmittedText)
    assert (made.call.results, made.call.others) == (("f", "t"), ("t",))
    bare = SEVERAL.partition("t.fuse_at")[0]
    device = TorchBench(UserQuestion("s.dt", bare, "f", {"x": 5, "y": 40}), "cpu", {}, 1.0)
    assert result_of(device, candidate(made), None).median is not None
    changed = made.text.replace("t_max, mask", "t_max + 1, mask")
    assert changed != made.text
    found = result_of(device, candidate(made, changed), None)
    assert found.outcome is Outcome.WRONG
    assert "t[" in found.reason
