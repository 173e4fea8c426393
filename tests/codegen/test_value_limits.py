"""Kernels with whole numbers that may not fit 64 bits: functions refuse such sizes."""

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported

VALUES = [
    "2147483648 * k",
    "2000000000 * k - 1",
    "k * 2199023255552 + 1",
    "k + 2147483648 * len(k)",
    "2147483648 * k - 2147483648 * j",
    "2147483648 * maximum(k, 7)",
    "where(k < 5, 2147483648 * k, 0)",
    "abs(2147483648 * k)",
    "cast(2147483648 * k, f32)",
    "X[k] + 2147483648 * k",
    "2147483648 * (k % 5)",
    "fma(2147483648, k, 2147483648 * j)",
]
SCHEDULES = ["", "f.tensorize(k:128);", "f.block(k:512); f.tensorize(k:64);", "f.unroll(k:4);"]


def text_of(value: str, schedule: str) -> str:
    over = "k, j" if "j" in value else "k"
    read = "In X: i64;" if "X" in value else ""
    return f"Func f; {read} RVar {over}; f[] = rsum({value}, {over}); f.compile(); {schedule}"


@pytest.mark.long
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("value", VALUES)
def test_is_proved(value: str, schedule: str) -> None:
    program = load(Source("test.dt", text_of(value, schedule)))
    assert (
        verify(program, code_of(judge(program, DIRECTIVES).scheduled).text).verdict
        is LayerVerdict.PROVED
    )


@pytest.mark.sampled
@pytest.mark.parametrize("lanes", [16, 1024, 1 << 20])
@pytest.mark.parametrize("size", [1, 3, 5, 1000])
def test_lanes_past_a_fixed_size_fit(size: int, lanes: int) -> None:
    text = f"Func f; RVar k: {size}; f[] = rsum(4398046511103 * k, k); f.compile();"
    program = load(Source("test.dt", f"{text} f.tensorize(k:{lanes});"))
    assert (
        verify(program, code_of(judge(program, DIRECTIVES).scheduled).text).verdict
        is LayerVerdict.PROVED
    )


def test_calls_above_the_limit_are_refused() -> None:
    text = "Func f; RVar k; f[] = rmax(4398046511104 * k, k); f.compile();"
    module = imported(code_of(judge(load(Source("test.dt", text)), DIRECTIVES).scheduled).text)
    assert module.f(k=3, device="cpu").item() == 2 * 4398046511104
    with pytest.raises(ValueError, match="'k' is 1048576, but must be from 0 to 1048575"):
        module.f(k=1 << 20, device="cpu")


def test_tensors_above_the_limit_are_refused() -> None:
    text = "Func f; In X: i8; Var i; f[i] = X[i] + 4398046511104 * i; f.compile();"
    module = imported(code_of(judge(load(Source("test.dt", text)), DIRECTIVES).scheduled).text)
    assert module.f(torch.tensor([5, 6], dtype=torch.int8)).tolist() == [5, 4398046511110]
    with pytest.raises(ValueError, match="'i' is 1048576, but must be from 0 to 1048575"):
        module.f(torch.zeros(1 << 20, dtype=torch.int8))
