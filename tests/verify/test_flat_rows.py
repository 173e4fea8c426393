"""Program ids that are divided and used whole, choices between numbers, and clamps of unknowns."""

import pytest

from dtpoly.checking import check
from dtpoly.cli.without_algorithm import STRUCTURE, algorithm_of
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import deciding, verify
from tests.verify.running_data import declared
from tests.verify.texts import changed

HEAD = "import triton\nimport triton.language as tl\n\n"
# The sums of the rows of heads, where the result has a row for each program.
DOTS = (
    HEAD
    + """\
# tensors: A[b, h, m, d], out(D[b, h, m])
# verify: k[(cdiv(len(m), 16), len(b) * len(h))](
#     A, D, A.stride(0), A.stride(1), A.stride(2), len(h), len(m), len(d), B=16,
#     W=next_power_of_2(len(d)))
# assume: reach(A) < 2**31, reach(D) < 2**31, len(m) <= 2**30, A.stride(3) == 1
@triton.jit
def k(A, D, ab, ah, am, H, M, W_, B: tl.constexpr, W: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    bh = tl.program_id(1)
    b = bh // H
    h = bh % H
    d = tl.arange(0, W)
    there = (m[:, None] < M) & (d[None, :] < W_)
    a = tl.load(A + b * ab + h * ah + m[:, None] * am + d[None, :], mask=there, other=0.0)
    tl.store(D + bh * M + m, tl.sum(a, 1), mask=m < M)
"""
)
# The same of groups in rows: the number of the group is added to the address as it is.
GROUPS = (
    HEAD
    + """\
# tensors: X[r, g, 16], out(Y[r, g, 16]), out(S[r, g]), low, high
# verify: k[(len(r) * len(g),)](X, Y, S, 16, 16 * len(g), X.stride(0), low, high, B=16)
# assume: reach(X) < 2**31, reach(Y) < 2**31, reach(S) < 2**31, len(r) * len(g) < 2**30, len(g) >= 1
@triton.jit
def k(X, Y, S, G, C, xs, low, high, B: tl.constexpr):
    groups = C // G
    p = tl.program_id(0)
    row = p // groups
    at = p % groups
    X += row.to(tl.int64) * xs + at.to(tl.int64) * G
    Y += p.to(tl.int64) * G
    S += p
    o = tl.arange(0, B)
    x = tl.load(X + o, mask=o < G, other=0.0)
    most = tl.max(tl.abs(x))
    most = float("-inf") if most == float("inf") else most
    tl.store(Y + o, tl.clamp(x / most, low, high), mask=o < G)
    tl.store(S, most)
"""
)
# The last block of a row may have fewer elements; their number is chosen.
COUNTS = (
    HEAD
    + """\
# tensors: X[r, n], out(Y[r, k]), out(C[r, k].i32)
# verify: k[(len(r), len(k))](X, Y, C, len(k), N=len(n), B=32)
# assume: reach(X) < 2**31, reach(Y) < 2**31, reach(C) < 2**31, len(k) == cdiv(len(n), 32)
# assume: len(n) <= 2**30
@triton.jit
def k(X, Y, C, K, N: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0)
    b = tl.program_id(1)
    o = tl.arange(0, B)
    count = B if (N - b * B) >= B else (N - b * B)
    x = tl.load(X + r * N + b * B + o, mask=o < count, other=0.0)
    tl.store(Y + r * K + b, tl.sum(x, 0) / count)
    tl.store(C + r * K + b, count)
"""
)
RIGHT = {"dots": DOTS, "groups": GROUPS, "counts": COUNTS}
WRONG = {
    "the number of another size": ("dots", "D + bh * M", "D + bh * W_"),
    "one row further": ("dots", "D + bh * M", "D + (bh + 1) * M"),
    "twice as far": ("dots", "D + bh * M", "D + 2 * bh * M"),
    "the head alone": ("dots", "D + bh * M", "D + h * M"),
    "the head first": ("dots", "D + bh * M", "D + (h * H + b) * M"),
    "divided by another size": ("dots", "bh // H", "bh // M"),
    "both are the remainder": ("dots", "b = bh // H", "b = bh % H"),
    "a block too far": ("dots", "tl.program_id(0) * B", "(tl.program_id(0) + 1) * B"),
    "no mask of rows": ("dots", ", mask=m < M)", ")"),
    "the next group": ("groups", "S += p", "S += p + 1"),
    "two groups": ("groups", "S += p", "S += 2 * p"),
    "the row": ("groups", "S += p", "S += row"),
    "groups of another size": ("groups", "p.to(tl.int64) * G", "p.to(tl.int64) * (G - 1)"),
    "groups in rows of another size": ("groups", "p // groups", "p // G"),
    "more than a group": ("groups", "o = tl.arange(0, B)", "o = tl.arange(0, 2 * B) * (G // 8)"),
    "a group beyond the row": ("groups", "at.to(tl.int64) * G", "(at + 1).to(tl.int64) * G"),
    "a wider group": ("groups", "o = tl.arange(0, B)", "o = tl.arange(0, B) + 1"),
    "one more than there are": ("counts", "else (N - b * B)", "else (N - b * B + 1)"),
    "the other side": ("counts", ">= B else", "< B else"),
    "never fewer": ("counts", "(N - b * B) >= B", "N >= B"),
    "as many as a block": ("counts", "mask=o < count", "mask=o < B"),
    "at the next block": ("counts", "b * B + o", "(b + 1) * B + o"),
    "two types": ("counts", "B if", "1.5 if"),
}


def verdict(text: str) -> LayerVerdict:
    """Return what is known of a kernel without an algorithm."""
    made = check(Source("k.py", algorithm_of(declared(text))))
    assert made.program is not None
    return verify(made.program, text, only=STRUCTURE, run_of=deciding).verdict


@pytest.mark.parametrize("one", RIGHT)
def test_it_is_proved(one: str) -> None:
    assert verdict(RIGHT[one]) is LayerVerdict.PROVED


@pytest.mark.parametrize("one", WRONG)
def test_a_wrong_kernel_is_not_proved(one: str) -> None:
    of, old, new = WRONG[one]
    assert verdict(changed(RIGHT[of], old, new)) is not LayerVerdict.PROVED
