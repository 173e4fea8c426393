"""Floats of 8 bits as others: an H200 makes numbers of infinities and nan in f8e5m2 as bf16."""

import pytest

from dtpoly.verify.proof.report import Report
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.kernels_by_hand import is_proved, kernel, program, why
from tests.verify.texts import text_of, written

# `other` is a float: Triton refuses a whole number beside floats of 8 bits.
LOAD = "x = tl.load(X + i, mask=m, other=0.0)"
BY_WAY_OF_F32 = "x.to(tl.float32).to(tl.bfloat16)"


def stored(value: str, dtype: str = "f8e5m2") -> Report:
    """Return what is proved of a kernel that stores a value as `cast(X[i], bf16)`."""
    store = f"tl.store(out + i, {value}, mask=m)"
    return verify(program("cast(X[i], bf16)", dtype), kernel(LOAD, store))


@pytest.mark.parametrize(
    "value",
    [
        "x.to(tl.bfloat16)",
        "tl.cast(x, tl.bfloat16)",
        "x.to(tl.bfloat16).to(tl.float32)",
        "x.to(tl.bfloat16) * 1.0",
        "tl.where(i > 3, x.to(tl.bfloat16), 0.0)",
    ],
)
def test_what_a_gpu_does_otherwise_is_not_read(value: str) -> None:
    assert "not checked against Triton" in why(stored(value))


def test_a_store_converts_as_a_cast_does() -> None:
    assert stored("x").verdict is LayerVerdict.UNKNOWN


@pytest.mark.parametrize("dtype", ["f8e5m2", "f8e4m3"])
def test_by_way_of_f32_it_is_read(dtype: str) -> None:
    assert is_proved(stored(BY_WAY_OF_F32, dtype))


@pytest.mark.sampled
@pytest.mark.parametrize("bound", ["k:16", "k:0"])
@pytest.mark.parametrize(
    ("types", "value"),
    [
        ("In A: f8e5m2; In B: bf16;", "rdot(cast(A[i, k], bf16), B[k, j], k)"),
        ("In A: f8e5m2; In B: f8e5m2;", "rdot(A[i, k], B[k, j], k)"),
        ("In A; In B;", "rdot(A[i, k], B[k, j], k)"),
        ("In A; In B: bf16;", "rdot(A[i, k], B[k, j], k)"),
    ],
)
def test_what_is_emitted_is_proved(types: str, value: str, bound: str) -> None:
    schedule = f"f.block(i:32, j:32); f.tensorize(i:0, j:0, {bound});"
    found = written(f"Func f; {types} Var i, j; RVar k; f[i, j] = {value}; {schedule}f.compile();")
    assert is_proved(verify(found, text_of(found)))
