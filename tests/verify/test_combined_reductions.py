"""Loops that combine reductions by another operation: Triton takes both operations for one.

What Triton makes of such a loop is seen in tests/targets/test_nested_reductions.py.
"""

import pytest

from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.verify.proof.report import Report
from dtpoly.verify.proof.verify import verify
from tests.verify.kernels_by_hand import is_proved, why
from tests.verify.texts import written

TEXT = """\
import triton
import triton.language as tl

# verify: kernel[(cdiv(len(i), 16),)](A, A.stride(0), A.stride(1), A.stride(2), f, len(i), len(k))
# assume: len(l) == 32
# assume: len(i) <= 2**30
# assume: len(k) <= 2**30
# assume: reach(A) < 2**31


FUNCTIONS
@triton.jit
def kernel(a_ptr, sa, sb, sc, f_ptr, ni, nk):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    l = tl.arange(0, 32)
    mi = i < ni
    at = a_ptr + i[:, None] * sa + l[None, :] * sc
    acc = tl.full((16,), START, tl.float32)
    for k in range(0, nk):
        x = tl.load(at + k * sb, mask=mi[:, None], other=0.0)
        LINES
    tl.store(f_ptr + i, acc, mask=mi)
"""
FUNCTIONS = "".join(f"@triton.jit\n{TEXTS[one]}\n\n" for one in ("dt_min", "dt_max"))


def judged(value: str, start: str, *lines: str, dtype: str = "f32") -> Report:
    text = (
        TEXT.replace("FUNCTIONS", FUNCTIONS)
        .replace("START", start)
        .replace("LINES", "\n        ".join(lines))
    )
    program = f"Func f; In A: {dtype}; Var i; RVar k, l; f[i] = {value}; f.compile();"
    return verify(written(program), text)


LEAST_OF_SUMS = "rmin(rsum(A[i, k, l], l), k)"
WRONG = (
    (LEAST_OF_SUMS, "float('inf')", ["acc = dt_min(acc, tl.sum(-(-x), 1))"]),
    (LEAST_OF_SUMS, "float('inf')", ["acc = dt_min(acc, tl.sum(x - 0.0, 1))"]),
    (LEAST_OF_SUMS, "float('inf')", ["acc = dt_min(acc, tl.sum(x.to(tl.float32), 1))"]),
    (LEAST_OF_SUMS, "float('inf')", ["acc = dt_min(acc, tl.sum(x, 1))"]),
    (LEAST_OF_SUMS, "float('inf')", ["acc = dt_min(tl.sum(x, 1), acc)"]),
    (LEAST_OF_SUMS, "float('inf')", ["y = x", "s = tl.sum(y, 1)", "acc = dt_min(acc, s)"]),
    (LEAST_OF_SUMS, "float('inf')", ["acc = dt_min(acc, tl.sum(x * 1.0, 1))"]),
    (
        LEAST_OF_SUMS,
        "float('inf')",
        ["acc = dt_min(acc, tl.sum(tl.where(mi[:, None], x, 0.0), 1))"],
    ),
    ("rmax(rsum(A[i, k, l], l), k)", "float('-inf')", ["acc = dt_max(acc, tl.sum(x, 1))"]),
    ("rsum(rmax(A[i, k, l], l), k)", "0.0", ["acc += tl.reduce(x, 1, dt_max)"]),
    ("rsum(rmin(A[i, k, l], l), k)", "0.0", ["acc = acc + tl.reduce(x, -1, dt_min)"]),
    ("rprod(rsum(A[i, k, l], l), k)", "1.0", ["acc *= tl.sum(x, 1)"]),
    (
        "rmax(rmin(A[i, k, l], l), k)",
        "float('-inf')",
        ["acc = dt_max(acc, tl.reduce(x, 1, dt_min))"],
    ),
)
RIGHT = (
    (LEAST_OF_SUMS, "float('inf')", ["acc = dt_min(acc, tl.sum(x + 0.0, 1))"]),
    (LEAST_OF_SUMS, "float('inf')", ["acc = dt_min(acc, tl.sum(0.0 + x, 1))"]),
    (
        "rmin(rsum(exp(A[i, k, l]), l), k)",
        "float('inf')",
        ["acc = dt_min(acc, tl.sum(tl.exp(x), 1))"],
    ),
    ("rsum(rsum(A[i, k, l], l), k)", "0.0", ["acc += tl.sum(x, 1)"]),
    (
        "rmin(rmin(A[i, k, l], l), k)",
        "float('inf')",
        ["acc = dt_min(acc, tl.reduce(x, 1, dt_min))"],
    ),
    ("rsum(rmax(A[i, k, l], l) * 2, k)", "0.0", ["acc += tl.reduce(x, 1, dt_max) * 2"]),
)


@pytest.mark.sampled
@pytest.mark.parametrize(("value", "start", "lines"), WRONG)
def test_what_triton_confuses_is_not_proved(value: str, start: str, lines: list[str]) -> None:
    assert "Triton takes both for one operation" in why(judged(value, start, *lines))


@pytest.mark.parametrize(("value", "start", "lines"), RIGHT)
def test_what_it_does_not_is_proved(value: str, start: str, lines: list[str]) -> None:
    assert is_proved(judged(value, start, *lines))


def test_whole_numbers_are_not_moved() -> None:
    lines = ["acc = dt_min(acc, tl.sum(x, 1))"]
    text_start = "2147483647"
    report = judged(LEAST_OF_SUMS, text_start, *lines, dtype="i32")
    assert "Triton takes both for one operation" not in str(report)
