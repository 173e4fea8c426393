"""Rows whose data differ, parts of addresses that are made of data, and data times a counter.

Each kernel is right under its promises, and each change makes it wrong for some data, or takes away
a promise that it needs.
"""

from pathlib import Path
from random import Random

import pytest

from dtpoly.checking import check
from dtpoly.cli.without_algorithm import STRUCTURE, algorithm_of
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict, Report
from dtpoly.verify.proof.verify import deciding, verify
from tests.verify.kernels_of_data import HEAD, DataKernel
from tests.verify.running_data import declared, run_watched

PERMUTED = DataKernel(
    HEAD
    + """\
# tensors: X[b, n, 4], order[b, n].i32, out(Y[b, n, 4])
# verify: k[(len(b), cdiv(len(n), 8))](X, order, Y, S=len(n), D=4, B=8)
# assume: len(b) <= 2**20, len(n) <= 2**20, reach(X) < 2**31, reach(Y) < 2**31, reach(order) < 2**31
# assume: len(b) * len(n) < 2**30
# assume: distinct(order, n), 0 <= order[...] < len(n)
@triton.jit
def k(X, order, Y, S: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    b = tl.program_id(0)
    s = tl.program_id(1) * B + tl.arange(0, B)
    there = s < S
    to = tl.load(order + b * S + s, mask=there, other=0)
    d = tl.arange(0, D)
    x = tl.load(X + (b * S + s[:, None]) * D + d[None, :], mask=there[:, None])
    tl.store(Y + (b * S + to[:, None]) * D + d[None, :], x, mask=there[:, None])
""",
    (
        ("distinct(order, n), ", ""),
        ("distinct(order, n)", "distinct(order, b)"),
        ("distinct(order, n)", "distinct(order, v)"),
        (", 0 <= order[...] < len(n)", ""),
        ("< len(n)\n@", "<= len(n)\n@"),
        ("0 <= order[...]", "-1 <= order[...]"),
        ("order + b * S + s", "order + s * S + b"),
        ("order + b * S + s", "order + b * S + s // 2"),
        ("order + b * S + s", "order + b * S + s + 1"),
        ("Y + (b * S + to", "Y + (0 * b * S + to"),
        ("Y + (b * S + to", "Y + (b * S + to // 2"),
        ("Y + (b * S + to", "Y + (b * S + 2 * to"),
        ("Y + (b * S + to[:, None]) * D", "Y + (b * S + to[:, None]) * D // 2"),
        ("x, mask=there[:, None]", "x"),
        ("program_id(1) * B", "program_id(1) * (B - 1)"),
        ("reach(Y) < 2**31, ", ""),
        ("# assume: len(b) * len(n) < 2**30\n", ""),
    ),
    {"order": (0, "n")},
    rows=("order",),
    is_less=True,
)
SPLITS = DataKernel(
    HEAD
    + """\
# tensors: P[b, 4, n], lens[b].i32, out(Y[b, n])
# verify: k[(len(b),)](P, lens, Y, len(n), S=4, B=next_power_of_2(len(n)))
# assume: len(n) <= 1024, reach(P) < 2**31, reach(Y) < 2**31, 0 <= lens[...] < 2**30
@triton.jit
def k(P, lens, Y, n, S: tl.constexpr, B: tl.constexpr):
    b = tl.program_id(0)
    length = tl.load(lens + b)
    o = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for i in range(0, S):
        part = tl.cdiv(length, S)
        first = part * i
        last = tl.minimum(first + part, length)
        if last > first:
            acc += tl.load(P + b * S * n + i * n + o, mask=o < n, other=0.0)
    tl.store(Y + b * n + o, acc, mask=o < n)
""",
    (
        (", 0 <= lens[...] < 2**30", ""),
        ("0 <= lens[...] < 2**30", "0 <= lens[...] < 2**31"),
        ("0 <= lens[...] < 2**30", "lens[...] < 2**30"),
        ("part * i", "part * i * 16"),
        ("part * i", "length * (i + 1)"),
        ("range(0, S)", "range(0, S + 1)"),
        ("range(0, S)", "range(-1, S)"),
        ("+ i * n + o", "+ i * n + o + 1"),
        ("P + b * S * n", "P + (b + 1) * S * n"),
        ("lens + b)", "lens + b + 1)"),
        ("Y + b * n", "Y + length * n"),
    ),
    {"lens": (0, 40)},
)
CHOSEN = DataKernel(
    HEAD
    + """\
# tensors: K[h, v, n], ids[h, t].i32, out(Y[h, n])
# verify: k[(len(h),)](K, ids, Y, len(t), len(n), K.stride(0), K.stride(1), ids.stride(0), B=8,
#     D=next_power_of_2(len(n)))
# assume: len(n) <= 512, len(t) <= 2**30, reach(K) < 2**31, reach(Y) < 2**31, reach(ids) < 2**31
# assume: 0 <= ids[...] < len(v), len(n) >= 2, K.stride(2) == 1, ids.stride(1) == 1
@triton.jit
def k(K, ids, Y, T, n, kh, ks, ih, B: tl.constexpr, D: tl.constexpr):
    h = tl.program_id(0)
    d = tl.arange(0, D)
    acc = tl.zeros((D,), tl.float32)
    for t in range(0, T, B):
        o = t + tl.arange(0, B)
        i = tl.load(ids + h * ih + o, mask=o < T, other=0).to(tl.int64)
        at = K + h * kh + i[:, None] * ks + d[None, :]
        acc += tl.sum(tl.load(at, mask=(o < T)[:, None] & (d < n)[None, :], other=0.0), 0)
    tl.store(Y + h * n + d, acc, mask=d < n)
""",
    (
        ("0 <= ids[...] < len(v), ", ""),
        ("0 <= ids[...] < len(v)", "0 <= ids[...] <= len(v)"),
        ("0 <= ids[...] < len(v)", "0 <= ids[...] < len(t)"),
        ("i[:, None] * ks", "(i[:, None] + 1) * ks"),
        ("i[:, None] * ks", "(i[:, None] - 1) * ks"),
        ("i[:, None] * ks", "i[:, None] * kh"),
        ("i[:, None] * ks", "2 * i[:, None] * ks"),
        ("mask=(o < T)[:, None] & (d < n)[None, :]", "mask=(d < n)[None, :]"),
        ("mask=(o < T)[:, None] & (d < n)[None, :]", "mask=(o < T)[:, None] & (d <= n)[None, :]"),
        (", mask=o < T, other=0)", ")"),
        (", reach(ids) < 2**31", ""),
        ("+ d[None, :]", "+ d[None, :] + ks"),
    ),
    {"ids": (0, "v")},
)
KERNELS = {"permuted rows": PERMUTED, "parts of lengths": SPLITS, "rows by their stride": CHOSEN}
CHANGES = [(name, at) for name, one in KERNELS.items() for at in range(len(one.changes))]
SIZES = ({"b": 3, "n": 11, "h": 2, "v": 7, "t": 5}, {"b": 5, "n": 24, "h": 3, "v": 9, "t": 17})


def proof_of_text(text: str) -> Report:
    """Return what is proved of a kernel without an algorithm."""
    made = check(Source("k.py", algorithm_of(declared(text))))
    assert made.program is not None
    return verify(made.program, text, only=STRUCTURE, seconds=30, run_of=deciding)


@pytest.mark.parametrize("name", KERNELS)
def test_it_is_proved(name: str) -> None:
    report = proof_of_text(KERNELS[name].text)
    assert report.verdict is LayerVerdict.PROVED
    assert {bool(one.claim) for one in report.layers if one.name == "stores"} == {
        KERNELS[name].is_less
    }


@pytest.mark.parametrize(("name", "at"), CHANGES)
def test_a_wrong_kernel_is_not_proved(name: str, at: int) -> None:
    old, new = KERNELS[name].changes[at]
    assert old in KERNELS[name].text
    report = proof_of_text(KERNELS[name].text.replace(old, new, 1))
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("name", ["permuted rows", "parts of lengths"])
def test_a_proved_kernel_touches_only_what_it_may(name: str, tmp_path: Path) -> None:
    for sizes in SIZES:
        for seed in range(3):
            run_watched(KERNELS[name], KERNELS[name].text, sizes, Random(seed), tmp_path)
