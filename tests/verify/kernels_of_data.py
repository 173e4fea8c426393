"""Kernels whose masks, addresses, branches and loops are made of data, and what makes them wrong.

Each kernel is right under its promises. Each change makes it wrong for some data that the promises
allow, or takes a promise away that it needs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataKernel:
    """A kernel, and changes (old text, new text) of which each makes it wrong."""

    text: str
    changes: tuple[tuple[str, str], ...]
    # What each tensor of whole numbers may hold: from, below; with sizes by label.
    data: dict[str, tuple[int | str, int | str]]
    # Tensors whose elements differ, or ascend.
    distinct: tuple[str, ...] = ()
    ascending: tuple[str, ...] = ()
    # Tensors of which the elements of each row differ.
    rows: tuple[str, ...] = ()
    is_less: bool = False  # whether data decide what is stored


HEAD = "import triton\nimport triton.language as tl\n\n"

GATHER = DataKernel(
    HEAD
    + """\
# tensors: ids[r].i64, E[v, n], out(Y[r, n])
# verify: k[(len(r),)](ids, E, Y, len(n), len(n), len(v), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096, 0 <= ids[...] < len(v)
@triton.jit
def k(ids, E, Y, n, stride, v, BLOCK: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    t = tl.load(ids + p)
    o = tl.arange(0, BLOCK)
    x = tl.load(E + t * stride + o, mask=o < n)
    tl.store(Y + p * stride + o, x, mask=o < n)
""",
    (
        (", 0 <= ids[...] < len(v)", ""),
        ("0 <= ids[...] < len(v)", "0 <= ids[...] <= len(v)"),
        ("0 <= ids[...] < len(v)", "-1 <= ids[...] < len(v)"),
        ("0 <= ids[...] < len(v)", "0 <= ids[...] < len(r)"),
        ("0 <= ids[...] < len(v)", "0 <= ids[...]"),
        ("0 <= ids[...] < len(v)", "ids[...] < len(v)"),
        ("0 <= ids[...] < len(v)", "ascending(ids)"),
        ("t * stride + o", "(t + 1) * stride + o"),
        ("t * stride + o", "(t - 1) * stride + o"),
        ("t * stride + o", "2 * t * stride + o"),
        ("ids + p)", "ids + p + 1)"),
        ("E + t * stride + o, mask=o < n", "E + t * stride + o, mask=o <= n"),
        ("E + t * stride + o, mask=o < n", "E + t * stride + o"),
        ("E + t * stride + o, mask=o < n", "E + t * stride + o, mask=t < v"),
        ("E + t * stride + o, mask=o < n", "E + t + o, mask=o < n"),
        ("Y + p * stride", "Y + t * stride"),
        ("t = tl.load(ids + p)", "t = tl.load(ids + p).to(tl.int8)"),
    ),
    {"ids": (0, "v")},
)

MASKED = DataKernel(
    HEAD
    + """\
# tensors: ids[r].i64, E[v, n], out(Y[r, n])
# verify: k[(len(r),)](ids, E, Y, len(n), len(n), len(v), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096
@triton.jit
def k(ids, E, Y, n, stride, v, BLOCK: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    o = tl.arange(0, BLOCK)
    t = tl.load(ids + p + o * 0)
    inside = (t >= 0) & (t < v)
    x = tl.load(E + t * stride + o, mask=(o < n) & inside, other=0.0)
    tl.store(Y + p * stride + o, x, mask=o < n)
""",
    (
        ("(t >= 0) & (t < v)", "(t >= 0) | (t < v)"),
        ("(t >= 0) & (t < v)", "(t >= 0) & (t <= v)"),
        ("(t >= 0) & (t < v)", "(t >= -1) & (t < v)"),
        ("(t >= 0) & (t < v)", "t < v"),
        ("(t >= 0) & (t < v)", "t >= 0"),
        ("(t >= 0) & (t < v)", "t != -1"),
        ("(t >= 0) & (t < v)", "(t.to(tl.int32) >= 0) & (t.to(tl.int32) < v)"),
        ("(t >= 0) & (t < v)", "(t.to(tl.float32) >= 0.0) & (t < v)"),
        ("(t >= 0) & (t < v)", "(p >= 0) & (p < v)"),
        ("(o < n) & inside", "(o < n) | inside"),
        ("(o < n) & inside", "(o < n) & (inside == 0)"),
        ("(o < n) & inside", "(o < n) ^ inside"),
        ("(o < n) & inside", "inside"),
        ("(o < n) & inside", "tl.where(inside, o <= n, o < 0)"),
    ),
    {"ids": (-3, 9)},
)

RAGGED = DataKernel(
    HEAD
    + """\
# tensors: cu[b].i32, U[s], X[n], out(Y[n])
# verify: k[(len(s),)](cu, X, Y, BLOCK=16)
# assume: len(b) == len(s) + 1, len(n) <= 2**30, 0 <= cu[...] <= len(n), ascending(cu)
@triton.jit
def k(cu, X, Y, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    first = tl.load(cu + p)
    last = tl.load(cu + p + 1)
    for at in range(first, last, BLOCK):
        o = at + tl.arange(0, BLOCK)
        x = tl.load(X + o, mask=o < last)
        tl.store(Y + o, x * 2, mask=o < last)
""",
    (
        (", ascending(cu)", ""),
        ("ascending(cu)", "distinct(cu)"),
        ("0 <= cu[...] <= len(n), ", ""),
        ("<= cu[...] <= len(n)", "<= cu[...] <= len(n) + 1"),
        ("0 <= cu[...]", "-1 <= cu[...]"),
        ("len(n) <= 2**30, ", ""),
        ("len(b) == len(s) + 1", "len(b) == len(s)"),
        ("cu + p + 1", "cu + p + 2"),
        ("range(first, last, BLOCK)", "range(first, last, 8)"),
        ("range(first, last, BLOCK)", "range(0, last, BLOCK)"),
        ("X + o, mask=o < last", "X + o"),
        ("X + o, mask=o < last", "X + o, mask=o <= last"),
        ("x * 2, mask=o < last", "x * 2, mask=o <= last"),
        ("x * 2, mask=o < last", "x * 2"),
        ("Y + o", "Y + o - 1"),
        ("Y + o", "Y + o // 2"),
    ),
    {"cu": (0, "n+")},
    ascending=("cu",),
    is_less=True,
)

SCATTER = DataKernel(
    HEAD
    + """\
# tensors: to[r].i64, X[r, n], out(Y[v, n])
# verify: k[(len(r),)](to, X, Y, len(n), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096, 0 <= to[...] < len(v), distinct(to)
@triton.jit
def k(to, X, Y, n, BLOCK: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    t = tl.load(to + p)
    o = tl.arange(0, BLOCK)
    x = tl.load(X + p * n + o, mask=o < n)
    tl.store(Y + t * n + o, x, mask=o < n)
""",
    (
        (", distinct(to)", ""),
        ("distinct(to)", "ascending(to)"),
        ("0 <= to[...] < len(v), ", ""),
        ("len(v)", "len(r)"),
        ("Y + t * n", "Y + t // 2 * n"),
        ("Y + t * n", "Y + (t + 1) * n"),
        ("Y + t * n", "Y + t % 7 * n"),
        ("Y + t * n", "Y + tl.maximum(t, 1) * n"),
        ("t = tl.load(to + p)", "t = tl.load(to + p // 2)"),
        ("t = tl.load(to + p)", "t = tl.load(to + p) & 6"),
        ("x, mask=o < n", "x"),
        ("t * n + o, x", "t + o, x"),
    ),
    {"to": (0, "v")},
    distinct=("to",),
    is_less=True,
)

COUNTS = DataKernel(
    HEAD
    + """\
# tensors: ids[n].i64, inout(H[v].i32)
# verify: k[(cdiv(len(n), 16),)](ids, H, len(n), BLOCK=16)
# assume: len(n) <= 2**30, 0 <= ids[...] < len(v)
@triton.jit
def k(ids, H, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(ids + o, mask=o < n, other=0)
    tl.atomic_add(H + t, 1, mask=o < n)
""",
    (
        ("0 <= ids[...] < len(v)", "0 <= ids[...] <= len(v)"),
        (", 0 <= ids[...] < len(v)", ""),
        ("H + t, 1, mask=o < n", "H + t, 1"),
        ("tl.atomic_add(H + t, 1,", "tl.store(H + t, 1,"),
        ("H + t, 1, mask=o < n)", "H + t, 1, mask=o < n)\n    tl.store(H + t, 1, mask=o < n)"),
        ("H + t, 1, mask=o < n)", "H + t, tl.load(H + t, mask=o < n), mask=o < n)"),
        ("H + t, 1, mask=o < n)", "H + tl.atomic_add(H + t, 1, mask=o < n), 1, mask=o < n)"),
        ("H + t, 1, mask=o < n", "H + t, 1, mask=o < n, scope='cta'"),
        ("H + t", "H + t * 2"),
        ("ids + o, mask=o < n, other=0", "ids + o"),
    ),
    {"ids": (0, "v")},
    is_less=True,
)

LENGTHS = DataKernel(
    HEAD
    + """\
# tensors: lens[b].i32, X[b, n], out(Y[b, n])
# verify: k[(len(b),)](lens, X, Y, len(n), BLOCK=16)
# assume: len(n) <= 2**20, reach(X) < 2**31, reach(Y) < 2**31, lens[...] <= len(n)
@triton.jit
def k(lens, X, Y, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    m = tl.load(lens + p)
    for at in range(0, m, BLOCK):
        o = at + tl.arange(0, BLOCK)
        x = tl.load(X + p * n + o, mask=o < m, other=0.0)
        tl.store(Y + p * n + o, x, mask=o < m)
""",
    (
        (", lens[...] <= len(n)", ""),
        ("lens[...] <= len(n)", "lens[...] <= len(n) + 1"),
        ("lens[...] <= len(n)", "lens[...] <= len(b)"),
        ("lens[...] <= len(n)", "0 <= lens[...]"),
        ("X + p * n + o, mask=o < m", "X + p * n + o"),
        ("X + p * n + o, mask=o < m", "X + p * n + o + 1, mask=o < m"),
        ("x, mask=o < m", "x, mask=o <= m"),
        ("range(0, m, BLOCK)", "range(-1, m, BLOCK)"),
        ("range(0, m, BLOCK)", "range(0, m, 4)"),
        ("Y + p * n + o", "Y + p * n + o // 2"),
        ("Y + p * n + o", "Y + p + o"),
        ("x, mask=o < m)", "x, mask=o < m)\n        o = o + m\n        tl.store(Y + p * n + o, x)"),
    ),
    {"lens": (-2, "n+")},
    is_less=True,
)

PAGES = DataKernel(
    HEAD
    + """\
# tensors: tb[b, m].i32, ls[b].i32, kv[g, 16, d], out(Y[b, t, d])
# verify: k[(len(b), len(m))](tb, ls, kv, Y, len(m), len(t), len(d), BLOCK=next_power_of_2(len(d)))
# assume: len(d) <= 256, len(m) <= 2**20, len(t) == 16 * len(m), reach(Y) < 2**31,
# assume: reach(kv) < 2**31, 0 <= tb[...] < len(g)
@triton.jit
def k(tb, ls, kv, Y, m, t, d, BLOCK: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1)
    page = tl.load(tb + b * m + at).to(tl.int64)
    count = tl.load(ls + b)
    o = tl.arange(0, BLOCK)
    s = tl.arange(0, 16)
    here = (at * 16 + s < count)[:, None] & (o < d)[None, :]
    x = tl.load(kv + page * 16 * d + s[:, None] * d + o[None, :], mask=here, other=0.0)
    tl.store(Y + b * t * d + (at * 16 + s)[:, None] * d + o[None, :], x, mask=here)
""",
    (
        ("0 <= tb[...] < len(g)", "0 <= tb[...] <= len(g)"),
        ("0 <= tb[...] < len(g)", "0 <= tb[...] < len(m)"),
        (", 0 <= tb[...] < len(g)", ", len(g) >= 1"),
        ("page * 16 * d", "page * 32 * d"),
        ("page * 16 * d", "(page + 1) * 16 * d"),
        ("page * 16 * d", "page * d"),
        ("tb + b * m + at", "tb + b * m + at + 1"),
        ("s = tl.arange(0, 16)", "s = tl.arange(0, 32)"),
        ("o[None, :], x, mask=here", "o[None, :], x, mask=(s < count)[:, None]"),
        ("(at * 16 + s)[:, None] * d + o", "(at * 8 + s)[:, None] * d + o"),
        ("(at * 16 + s)[:, None] * d + o", "(page * 16 + s)[:, None] * d + o"),
        ("len(t) == 16 * len(m)", "len(t) == 15 * len(m)"),
    ),
    {"tb": (0, "g"), "ls": (-3, 70)},
    is_less=True,
)

CLAMPED = DataKernel(
    HEAD
    + """\
# tensors: ids[r].i32, E[v], out(Y[r])
# verify: k[(cdiv(len(r), 16),)](ids, E, Y, len(r), len(v), BLOCK=16)
# assume: len(r) <= 2**30, len(v) <= 2**30, len(v) >= 1
@triton.jit
def k(ids, E, Y, r, v, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(ids + o, mask=o < r, other=0)
    at = tl.minimum(tl.maximum(t, 0), v - 1)
    x = tl.load(E + at)
    tl.store(Y + o, x, mask=o < r)
""",
    (
        (", len(v) >= 1", ""),
        ("v - 1)", "v)"),
        ("tl.maximum(t, 0)", "t"),
        ("tl.maximum(t, 0)", "tl.maximum(t, -1)"),
        ("tl.minimum(tl.maximum(t, 0), v - 1)", "tl.maximum(tl.minimum(t, 0), -v)"),
        ("tl.minimum(tl.maximum(t, 0), v - 1)", "tl.maximum(t, 0) % 7"),
        ("tl.maximum(t, 0), v - 1", "tl.maximum(t, 0), v - 1) + (t > 5).to(tl.int32"),
        ("E + at)", "E + at + (t & 1))"),
        ("E + at)", "E + tl.where(t > 0, at, t))"),
        ("E + at)", "E + (at + t) // 2)"),
        ("ids + o, mask=o < r, other=0", "ids + o, mask=o <= r, other=0"),
    ),
    {"ids": (-5, 40)},
)

SLOTS = DataKernel(
    HEAD
    + """\
# tensors: slot[r].i32, X[r], out(Y[g, 16])
# verify: k[(cdiv(len(r), 16),)](slot, X, Y, len(r), len(g), BLOCK=16)
# assume: len(r) <= 2**30, len(g) <= 2**20, distinct(slot)
@triton.jit
def k(slot, X, Y, r, g, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(slot + o, mask=o < r, other=-1)
    x = tl.load(X + o, mask=o < r, other=0.0)
    ok = (o < r) & (t >= 0) & (t < g * 16)
    tl.store(Y + t // 16 * 16 + t % 16, x, mask=ok)
""",
    (
        (", distinct(slot)", ""),
        ("(o < r) & (t >= 0)", "(o < r) | (t >= 0)"),
        (" & (t >= 0)", ""),
        ("t < g * 16", "t < g * 17"),
        ("t // 16 * 16", "t // 8 * 16"),
        ("t // 16 * 16 + t % 16", "t // 16 * 16 + t % 8"),
        ("t // 16 * 16 + t % 16", "t // 16 + t % 16"),
        ("mask=ok", "mask=ok | (t == 3)"),
        ("x, mask=ok)", "x, mask=ok)\n    tl.store(Y + o, x, mask=o < 1)"),
    ),
    {"slot": (-40, 60)},
    distinct=("slot",),
    is_less=True,
)

FLAGS = DataKernel(
    HEAD
    + """\
# tensors: f[n].i32, X[n], out(Y[n])
# verify: k[(cdiv(len(n), 16),)](f, X, Y, len(n), BLOCK=16)
# assume: len(n) <= 2**30
@triton.jit
def k(f, X, Y, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    flag = tl.load(f + o, mask=o < n, other=0)
    x = tl.load(X + o, mask=(o < n) & (flag != 0))
    tl.store(Y + o, x, mask=(o < n) & (flag > 0))
""",
    (
        ("(o < n) & (flag > 0)", "flag >= 0"),
        ("(o < n) & (flag > 0)", "(o < n) | (flag < 1)"),
        ("(o < n) & (flag != 0)", "flag != 1"),
        ("f + o, mask=o < n", "f + o, mask=o < n + 1"),
        ("Y + o", "Y + o + flag"),
        ("Y + o", "Y + tl.sum(flag, 0) + o"),
        ("Y + o", "Y + tl.cumsum(flag, 0) - 1"),
        ("Y + o, x", "Y + tl.max(o, 0) + tl.zeros_like(o), x"),
        ("len(n) <= 2**30", "len(n) <= 2**40"),
        (
            "x, mask=(o < n) & (flag > 0))",
            "x, mask=(o < n) & (flag > 0))\n    tl.store(Y + o, x, mask=(o < n) & (flag == 1))",
        ),
    ),
    {"f": (-2, 3)},
    is_less=True,
)

BRANCH = DataKernel(
    HEAD
    + """\
# tensors: e[b].i32, W[v, n], out(Y[b, n])
# verify: k[(len(b),)](e, W, Y, len(n), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096, reach(W) < 2**31, reach(Y) < 2**31, -1 <= e[...] < len(v)
@triton.jit
def k(e, W, Y, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    t = tl.load(e + p)
    o = tl.arange(0, BLOCK)
    if t == -1:
        tl.store(Y + p * n + o, tl.zeros((BLOCK,), tl.float32), mask=o < n)
        return
    x = tl.load(W + t * n + o, mask=o < n)
    tl.store(Y + p * n + o, x, mask=o < n)
""",
    (
        ("if t == -1:", "if t == 0:"),
        ("if t == -1:", "if t != -1:"),
        ("if t == -1:", "if t > 0:"),
        ("-1 <= e[...]", "-2 <= e[...]"),
        ("\n        return\n", "\n"),
        ("W + t * n", "W + (t + 1) * n"),
        ("e[...] < len(v)", "e[...] <= len(v)"),
        ("Y + p * n + o, x", "Y + t * n + o, x"),
        ("o, x, mask=o < n", "o, x"),
        ("if t == -1:", "if (t == -1) & (p > 0):"),
        ("tl.zeros((BLOCK,), tl.float32), mask=o < n", "tl.zeros((BLOCK,), tl.float32)"),
    ),
    {"e": (-1, "v")},
    is_less=True,
)

KERNELS = {
    "rows that data name": GATHER,
    "rows that data name, with a mask of data": MASKED,
    "parts of data": RAGGED,
    "rows stored where data say": SCATTER,
    "counts of data": COUNTS,
    "lengths of rows": LENGTHS,
    "pages of a table": PAGES,
    "clamped data": CLAMPED,
    "slots": SLOTS,
    "flags": FLAGS,
    "a branch of data": BRANCH,
}
