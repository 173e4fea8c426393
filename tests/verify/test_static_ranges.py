"""Loops that Triton unrolls up to a power of two of a size: what is proved, and what is not."""

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
COPY = """\
def k(Y, X, n, P: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    for start in tl.static_range(0, P, B):
        at = start + tl.arange(0, B)
        x = tl.load(X + row * n + at, mask=at < n)
        tl.store(Y + row * n + at, x * 2.0, mask=at < n)


# verify: k[(len(r),)](Y, X, len(n), P=next_power_of_2(len(n)), B=128)
# assume: len(n) <= 65536, reach(X) < 2**31, reach(Y) < 2**31
"""
TOTAL = """\
def k(Y, X, n, P: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    for start in tl.static_range(0, P, B):
        at = start + tl.arange(0, B)
        acc += tl.load(X + row * n + at, mask=at < n, other=0.0)
    tl.store(Y + row, tl.sum(acc, 0))


# verify: k[(len(r),)](Y, X, len(n), P=next_power_of_2(len(n)), B=128)
# assume: len(n) <= 65536, reach(X) < 2**31
"""
OF_COPY = "Func Y: f32; In X: f32; Var r, n; Y[r, n] = X[r, n] * 2.0; Y.compile();"
OF_TOTAL = "Func Y: f32; In X: f32; Var r; RVar n; Y[r] = rsum(X[r, n], n); Y.compile();"
RIGHT = {"copy": (COPY, OF_COPY), "total": (TOTAL, OF_TOTAL)}
P = "P=next_power_of_2(len(n))"
WRONG = {
    "half of a row": (P, "P=next_power_of_2(cdiv(len(n), 2))"),
    "one block": (P, "P=128"),
    "a power of another size": (P, "P=next_power_of_2(len(r))"),
    "no more than some": (P, "P=min(next_power_of_2(len(n)), 1024)"),
    "it begins later": ("(0, P, B)", "(B, P, B)"),
    "it begins before": ("(0, P, B)", "(-B, P, B)"),
    "it ends earlier": ("(0, P, B)", "(0, P - B, B)"),
    "larger steps": ("(0, P, B)", "(0, P, 2 * B)"),
    "a bound that is no constant": ("(0, P, B)", "(0, n, B)"),
    "a bound that is not declared": ("P: tl.constexpr", "P"),
    "no step": ("(0, P, B)", "(0, P, 0)"),
    "one element further": ("start + tl.arange", "start + 1 + tl.arange"),
    "the same block in each round": ("start + tl.arange", "tl.arange"),
    "no mask": (", mask=at < n", ""),
}


@pytest.mark.parametrize("one", RIGHT)
def test_it_is_proved(one: str) -> None:
    text, algorithm = RIGHT[one]
    report = verify(load(Source("k.dt", algorithm)), HEAD + text)
    assert report.verdict is LayerVerdict.PROVED, report


@pytest.mark.parametrize("one", RIGHT)
@pytest.mark.sampled
@pytest.mark.parametrize("wrong", WRONG)
def test_nothing_else_is_proved(wrong: str, one: str) -> None:
    text, algorithm = RIGHT[one]
    report = verify(load(Source("k.dt", algorithm)), HEAD + changed(text, *WRONG[wrong]))
    assert report.verdict is not LayerVerdict.PROVED
