"""Kernels whose numbers are unknown but for some facts, and what makes them wrong.

Each kernel is right under its promises. Each change makes it wrong for some sizes or data, or takes
away what it needs.
"""

from __future__ import annotations

from tests.verify.kernels_of_data import HEAD, DataKernel

# Bits of packed numbers decide which element is loaded: a number of 4 bits is below 16.
PACKED = DataKernel(
    HEAD
    + """\
# tensors: W[r, m].i32, T[16], out(Y[r, 8, m])
# verify: k[(len(r), 8)](W, T, Y, len(m), BLOCK=next_power_of_2(len(m)))
# assume: len(m) <= 1024, len(r) <= 2**20, reach(Y) < 2**31, reach(W) < 2**31
@triton.jit
def k(W, T, Y, m, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.program_id(1)
    o = tl.arange(0, BLOCK)
    w = tl.load(W + r * m + o, mask=o < m, other=0)
    code = (w >> (i * 4)) & 15
    x = tl.load(T + code)
    tl.store(Y + (r * 8 + i) * m + o, x, mask=o < m)
""",
    (
        ("& 15", "& 31"),
        ("& 15", "& 16"),
        ("& 15", "| 15"),
        ("& 15", "^ 15"),
        ("& 15", "& -1"),
        ("& 15", "& (m - 1)"),
        ("& 15", "+ 0"),
        ("(w >> (i * 4)) & 15", "w >> (i * 4 + 3)"),
        ("i * 4", "i * 5"),
        ("i * 4", "i * 4 + 4"),
        ("i * 4", "i * 4 - 1"),
        ("i * 4", "i * m"),
        ("w >> (i * 4)", "w << (i * 8)"),
        ("w >> (i * 4)", "w >> w"),
        ("w >> (i * 4)", "w >> (w & 32)"),
        ("w >> (i * 4)", "w >> o"),
        ("T + code", "T + code + 1"),
        ("T + code", "T + code - 1"),
        ("T + code", "T + 2 * code"),
        ("T + code", "T + (code | 16)"),
        ("T + code", "T + (code << 1)"),
        ("tl.store(Y + (r * 8 + i) * m + o, x", "tl.store(Y + (r * 8 + code) * m + o, x"),
    ),
    {"W": (-(2**31), 2**31)},
)

# The place of the best one of a loop is a counter of the loop, or what was there before.
BEST = DataKernel(
    HEAD
    + """\
# tensors: S[r, n], C[n], out(Y[r])
# verify: k[(len(r),)](S, C, Y, len(n), 0)
# assume: len(n) >= 1, len(n) <= 2**20, reach(S) < 2**31
@triton.jit
def k(S, C, Y, n, first):
    r = tl.program_id(0)
    best = tl.full((), float("-inf"), tl.float32)
    at = tl.zeros((), tl.int32)
    for i in range(0, n):
        x = tl.load(S + r * n + i)
        better = x > best
        best = tl.where(better, x, best)
        at = tl.where(better, i, at)
    tl.store(Y + r, tl.load(C + at))
""",
    (
        ("C + at", "C + at + 1"),
        ("C + at", "C + at - 1"),
        ("C + at", "C + 2 * at"),
        ("tl.where(better, i, at)", "tl.where(better, i + 1, at)"),
        ("tl.where(better, i, at)", "tl.where(better, i - 1, at)"),
        ("tl.where(better, i, at)", "tl.where(better, 2 * i, at)"),
        ("tl.where(better, i, at)", "tl.where(better, -i, at)"),
        ("tl.where(better, i, at)", "tl.where(better, i * i, at)"),
        ("tl.where(better, i, at)", "tl.where(better, n, at)"),
        ("tl.where(better, i, at)", "tl.where(better, i, at + 1)"),
        ("tl.where(better, i, at)", "tl.where(better, i, at - 1)"),
        ("tl.where(better, i, at)", "tl.where(better, i + at, at)"),
        ("tl.where(better, i, at)", "tl.where(better, i, -1)"),
        ("tl.where(better, i, at)", "tl.where(better, x.to(tl.int32), at)"),
        ("at = tl.zeros((), tl.int32)", "at = tl.full((), -1, tl.int32)"),
        ("at = tl.zeros((), tl.int32)", "at = tl.full((), 7, tl.int32)"),
        ("len(n) >= 1, ", ""),
        ("range(0, n)", "range(0, n + 1)"),
        ("range(0, n)", "range(-1, n)"),
        ("C[n]", "C[r]"),
        ("C + at", "C + r"),
        ("tl.store(Y + r, ", "tl.store(Y + at, "),
    ),
    {},
)

# The number of blocks of a row is counted again in the kernel.
BLOCKS = DataKernel(
    HEAD
    + """\
# tensors: X[r, n], out(Y[r, m])
# verify: k[(len(m), len(r))](X, Y, len(n), BLOCK=16)
# assume: len(m) == cdiv(len(n), 16), reach(X) < 2**31, reach(Y) < 2**31, len(n) <= 2**20
@triton.jit
def k(X, Y, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    r = tl.program_id(1)
    o = b * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + r * n + o, mask=o < n, other=0.0)
    count = (n + BLOCK - 1) // BLOCK
    tl.store(Y + r * count + b, tl.sum(x, axis=0))
""",
    (
        ("len(m) == cdiv(len(n), 16), ", ""),
        ("len(m) == cdiv(len(n), 16)", "len(m) >= cdiv(len(n), 16)"),
        ("len(m) == cdiv(len(n), 16)", "len(m) <= cdiv(len(n), 16)"),
        ("len(m) == cdiv(len(n), 16)", "len(m) == cdiv(len(n), 8)"),
        ("len(m) == cdiv(len(n), 16)", "len(m) == len(n)"),
        ("(n + BLOCK - 1) // BLOCK", "n // BLOCK"),
        ("(n + BLOCK - 1) // BLOCK", "(n + BLOCK) // BLOCK"),
        ("(n + BLOCK - 1) // BLOCK", "(n + BLOCK - 2) // BLOCK"),
        ("(n + BLOCK - 1) // BLOCK", "(n + BLOCK - 1) // 8"),
        ("(n + BLOCK - 1) // BLOCK", "(n + BLOCK - 1) // BLOCK + 1"),
        ("(n + BLOCK - 1) // BLOCK", "(n + BLOCK - 1) // BLOCK - 1"),
        ("(n + BLOCK - 1) // BLOCK", "(r + BLOCK - 1) // BLOCK"),
        ("(n + BLOCK - 1) // BLOCK", "tl.cdiv(n, 32)"),
        ("(n + BLOCK - 1) // BLOCK", "tl.cdiv(n + 1, BLOCK)"),
        ("r * count + b", "r * count + b + 1"),
        ("r * count + b", "b * count + r"),
        ("r * count + b", "r * n + b"),
        ("r * count + b", "count + b"),
        ("mask=o < n", "mask=o <= n"),
        (", reach(X) < 2**31", ""),
    ),
    {},
)

# An address moves in each round, since the step is the block.
MOVED = DataKernel(
    HEAD
    + """\
# tensors: F[m].i32, X[n], out(Y[r])
# verify: k[(len(r),)](F, X, Y, len(n), STEP=16, BLOCK=16)
# assume: len(m) == cdiv(len(n), 16), len(n) <= 2**20
@triton.jit
def k(F, X, Y, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.arange(0, STEP)
    f = F
    acc = tl.zeros((STEP,), tl.float32)
    for i in range(0, n, STEP):
        if tl.load(f) == 1:
            acc += tl.load(X + i + o, mask=i + o < n, other=0.0)
        if (i + STEP) % BLOCK == 0:
            f += 1
    tl.store(Y + tl.program_id(0), tl.sum(acc, axis=0))
""",
    (
        ("f += 1", "f += 2"),
        ("f += 1", "f -= 1"),
        ("f = F\n", "f = F + 1\n"),
        ("STEP=16, BLOCK=16", "STEP=16, BLOCK=32"),
        ("STEP=16, BLOCK=16", "STEP=8, BLOCK=8"),
        ("STEP=16, BLOCK=16", "STEP=8, BLOCK=4"),
        ("tl.load(f) == 1", "tl.load(f - 1) == 1"),
        ("cdiv(len(n), 16)", "cdiv(len(n), 32)"),
        ("cdiv(len(n), 16)", "len(n) // 16"),
        ("len(m) == cdiv(len(n), 16), ", ""),
        (
            "            f += 1\n",
            "            f += 1\n        else:\n            f += 2\n    f += 9\n    tl.load(f)\n",
        ),
        ("range(0, n, STEP)", "range(0, n + STEP, STEP)"),
        ("range(0, n, STEP)", "range(0, n, 8)"),
        ("tl.load(f) == 1", "tl.load(f + 1) == 1"),
        ("mask=i + o < n", "mask=i < n"),
        ("mask=i + o < n", "mask=i + o <= n"),
    ),
    {"F": (0, 2)},
)

# The place of the largest of a tile is a lane of it.
LARGEST = DataKernel(
    HEAD
    + """\
# tensors: S[r, 16], C[16], out(Y[r])
# verify: k[(len(r),)](S, C, Y)
# assume: len(r) <= 2**20
@triton.jit
def k(S, C, Y):
    r = tl.program_id(0)
    x = tl.load(S + r * 16 + tl.arange(0, 16))
    at = tl.argmax(x, axis=0)
    tl.store(Y + r, tl.load(C + at))
""",
    (
        ("C[16]", "C[15]"),
        ("C[16]", "C[r]"),
        ("C + at", "C + at + 1"),
        ("C + at", "C + at - 1"),
        ("C + at", "C + 2 * at"),
        ("C + at", "C + at * r"),
        ("C + at", "C + 16 - at"),
        ("Y + r", "Y + at"),
        ("tl.argmax(x, axis=0)", "tl.argmax(tl.join(x, x).reshape((32,)), axis=0)"),
        ("tl.argmax(x, axis=0)", "tl.max(x, axis=0).to(tl.int32)"),
        ("tl.argmax(x, axis=0)", "tl.max(x, axis=0, return_indices=True)[1] + 1"),
        ("tl.argmax(x, axis=0)", "tl.argmin(x, axis=0) - 1"),
        ("tl.argmax(x, axis=0)", "tl.argmax(x, axis=1)"),
        ("tl.argmax(x, axis=0)", "tl.histogram(x.to(tl.int32), 16).sum(axis=0)"),
        ("tl.argmax(x, axis=0)", "tl.sum(tl.histogram(x.to(tl.int32), 16), axis=0)"),
        ("tl.arange(0, 16)", "tl.arange(0, 32)"),
    ),
    {},
)

# What functions with loops, branches and stores do is done where they are called.
HELPERS = DataKernel(
    HEAD
    + """\
@triton.jit
def total(x, n, row, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for i in range(0, n, BLOCK):
        acc += tl.load(x + row * n + i + at, mask=i + at < n, other=0.0)
    return tl.sum(acc, axis=0)


@triton.jit
def put(y, row, value):
    if value > 0:
        value *= 2.0
    tl.store(y + row, value)


# tensors: X[r, n], out(Y[r])
# verify: k[(len(r),)](X, Y, len(n), BLOCK=16)
# assume: len(n) <= 4096, reach(X) < 2**31
@triton.jit
def k(X, Y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    put(Y, row, total(X, n, row, BLOCK))
""",
    (
        ("mask=i + at < n", "mask=i + at <= n"),
        ("mask=i + at < n", "mask=i < n"),
        ("x + row * n + i + at", "x + row * n + i + at + 1"),
        ("x + row * n + i + at", "x + (row + 1) * n + i + at"),
        ("range(0, n, BLOCK)", "range(-BLOCK, n, BLOCK)"),
        ("tl.store(y + row, value)", "tl.store(y + row + 1, value)"),
        ("tl.store(y + row, value)", "tl.store(y, value)"),
        ("    tl.store(y + row, value)", "    tl.store(y + 2 * row, value)"),
        (
            "    tl.store(y + row, value)",
            "    tl.store(y + row, value)\n    tl.store(y + row, value)",
        ),
        ("    tl.store(y + row, value)", "    if row > 0:\n        tl.store(y + row, value)"),
        ("put(Y, row, total", "put(Y, row + 1, total"),
        ("put(Y, row, total", "put(X, row, total"),
        ("put(Y, row, total(X, n, row, BLOCK))", "total(X, n, row, BLOCK)"),
        ("put(Y, row, total(X, n, row, BLOCK))", "put(Y, row, total(X, n + 1, row, BLOCK))"),
        ("put(Y, row, total(X, n, row, BLOCK))", "put(Y, row, total(X, n, row + 1, BLOCK))"),
        ("put(Y, row, total(X, n, row, BLOCK))", "put(Y, row, 0.0)\n    put(Y, row, 1.0)"),
        ("put(Y, row, total(X, n, row, BLOCK))", "put(Y, 0, total(X, n, row, BLOCK))"),
        (
            "    row = tl.program_id(0)\n",
            "    row = tl.program_id(0)\n    if row == 1:\n        put(Y, 0, 0.0)\n",
        ),
    ),
    {},
)

# A number is divided by a size, which is not 0.
DIVIDED = DataKernel(
    HEAD
    + """\
# tensors: W[r].i32, C[v], out(Y[r])
# verify: k[(len(r),)](W, C, Y, len(v), len(v))
# assume: len(v) >= 1
@triton.jit
def k(W, C, Y, m, v):
    r = tl.program_id(0)
    q = tl.load(W + r) // m
    x = tl.load(C + q, mask=(q >= 0) & (q < v), other=0.0)
    tl.store(Y + r, x)
""",
    (
        ("# assume: len(v) >= 1\n", ""),
        ("len(v) >= 1", "len(v) >= 0"),
        ("len(v) >= 1", "len(r) >= 1"),
        ("// m", "// (m - 1)"),
        ("// m", "% (m - 1)"),
        ("// m", "// (1 - m)"),
        ("// m", "// r"),
        ("(q >= 0) & (q < v)", "q < v"),
        ("(q >= 0) & (q < v)", "q >= 0"),
        ("(q >= 0) & (q < v)", "(q >= 0) & (q <= v)"),
        ("(q >= 0) & (q < v)", "(q >= -1) & (q < v)"),
        ("(q >= 0) & (q < v)", "(q >= 0) | (q < v)"),
        ("C + q", "C + q + 1"),
        ("C + q", "C + q // m - 1"),
        ("C + q", "C + q * m"),
        ("Y + r", "Y + q"),
    ),
    {"W": (-(2**31), 2**31)},
)

# A step that is a power of two not below the size leads to the end at once.
ROUNDS = DataKernel(
    HEAD
    + """\
# tensors: X[r, n], out(Y[r, n])
# verify: k[(len(r),)](X, Y, len(n), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096, reach(X) < 2**31, reach(Y) < 2**31
@triton.jit
def k(X, Y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    for i in range(0, n, BLOCK):
        o = i + tl.arange(0, BLOCK)
        tl.store(Y + row + o, tl.load(X + row + o, mask=o < n), mask=o < n)
    for b in range(0, tl.cdiv(n, BLOCK)):
        tl.load(X + row + b)
""",
    (
        ("next_power_of_2(len(n))", "next_power_of_2(len(r))"),
        ("next_power_of_2(len(n))", "next_power_of_2(len(n) - 1)"),
        ("range(0, n, BLOCK)", "range(0, n + BLOCK, BLOCK)"),
        ("range(0, n, BLOCK)", "range(0, n + 1, BLOCK)"),
        ("range(0, n, BLOCK)", "range(-1, n, BLOCK)"),
        ("range(0, n, BLOCK)", "range(n, 0, BLOCK)"),
        ("range(0, n, BLOCK)", "range(1, n, BLOCK)"),
        ("range(0, n, BLOCK)", "range(0, n, n)"),
        ("range(0, n, BLOCK)", "range(0, n, -BLOCK)"),
        ("range(0, n, BLOCK)", "range(0, n, BLOCK - n)"),
        ("range(0, n, BLOCK)", "range(0, n, BLOCK // 2)"),
        ("range(0, n, BLOCK)", "range(0, n - 1, BLOCK)"),
        ("o = i + tl.arange(0, BLOCK)", "o = i + 1 + tl.arange(0, BLOCK)"),
        ("mask=o < n), mask=o < n", "mask=o < n), mask=o <= n"),
        ("mask=o < n), mask=o < n", "mask=o <= n), mask=o < n"),
        ("mask=o < n), mask=o < n", "mask=o < n), mask=o < n - 1"),
        ("tl.cdiv(n, BLOCK)", "tl.cdiv(n, BLOCK) + 1"),
        ("tl.cdiv(n, BLOCK)", "tl.cdiv(n + 1, BLOCK)"),
        ("X + row + b", "X + row + b - 1"),
        ("X + row + b", "X + row + b + n"),
    ),
    {},
)

# The kernel itself computes the power of two.
POWERS = DataKernel(
    HEAD
    + """\
# tensors: X[r, n], out(Y[r, n])
# verify: k[(len(r),)](X, Y, len(n))
# assume: len(n) <= 4096, reach(X) < 2**31, reach(Y) < 2**31
@triton.jit
def k(X, Y, n: tl.constexpr):
    SIZE: tl.constexpr = triton.next_power_of_2(n)
    o = tl.arange(0, SIZE)
    at = tl.program_id(0) * n + o
    tl.store(Y + at, tl.load(X + at, mask=o < n), mask=o < n)
""",
    (
        ("triton.next_power_of_2(n)", "triton.next_power_of_2(n - 1)"),
        ("triton.next_power_of_2(n)", "triton.next_power_of_2(n) // 2"),
        ("triton.next_power_of_2(n)", "triton.next_power_of_2(16)"),
        ("triton.next_power_of_2(n)", "n"),
        ("mask=o < n), mask=o < n", "mask=o < n), mask=o < SIZE"),
        ("mask=o < n), mask=o < n", "mask=o < SIZE), mask=o < n"),
        ("mask=o < n), mask=o < n", "mask=o < n), mask=o + 1 < SIZE"),
        ("mask=o < n), mask=o < n", "mask=o < n), mask=2 * o < SIZE"),
        ("tl.program_id(0) * n", "tl.program_id(0) * SIZE"),
        ("tl.program_id(0) * n", "tl.program_id(0)"),
        ("tl.arange(0, SIZE)", "tl.arange(0, 2 * SIZE) - SIZE"),
        ("tl.arange(0, SIZE)", "tl.arange(0, SIZE) + 1"),
        ("n: tl.constexpr", "n"),
        (", reach(X) < 2**31, reach(Y) < 2**31", ""),
        ("Y + at, tl", "Y + SIZE - at, tl"),
        ("Y + at, tl", "Y + tl.program_id(0) * n, tl"),
    ),
    {},
)

# A branch inside of a branch ends the kernel; what follows runs where it does not.
RETURNS = DataKernel(
    HEAD
    + """\
# tensors: L[r].i32, X[r, n], out(Y[r])
# verify: k[(len(r),)](L, X, Y, len(n), 1)
# assume: reach(X) < 2**31, 0 <= L[...] <= len(n), partly(Y)
@triton.jit
def k(L, X, Y, n, raw):
    r = tl.program_id(0)
    size = n
    if raw != 0:
        size = tl.load(L + r)
        if size == 0:
            return
    x = 0.0
    for i in range(0, size):
        x += tl.load(X + r * n + i)
    tl.store(Y + r, x)
""",
    (
        ("0 <= L[...] <= len(n)", "0 <= L[...]"),
        ("0 <= L[...] <= len(n)", "0 <= L[...] <= len(n) + 1"),
        ("0 <= L[...] <= len(n), ", ""),
        ("r * n + i", "r * n + i + 1"),
        ("r * n + i", "r * n + i - 1"),
        ("r * n + i", "r * n + size"),
        ("range(0, size)", "range(0, size + 1)"),
        ("range(0, size)", "range(-1, size)"),
        ("range(0, size)", "range(0, 2 * size)"),
        ("    tl.store(Y + r, x)", "    tl.store(Y, x)"),
        ("    tl.store(Y + r, x)", "    tl.store(Y + size, x)"),
        ("    tl.store(Y + r, x)", "    tl.store(Y + r, x)\n    tl.store(Y + r, x)"),
        ("    tl.store(Y + r, x)", "    tl.store(Y + r + 1, x)"),
        ("            return\n", "            tl.store(Y + r + 1, 0.0)\n            return\n"),
        ("            return\n", "            tl.store(Y, 0.0)\n            return\n"),
        ("        size = tl.load(L + r)\n", "        size = tl.load(L + r + 1)\n"),
        ("        size = tl.load(L + r)\n", "        size = tl.load(L + n)\n"),
        ("            return\n", "            pass\n    size += 1\n"),
    ),
    {"L": (0, "n+")},
)

# A lane of a tile is gathered by bits of data, and its place is an index.
GATHERED = DataKernel(
    HEAD
    + """\
# tensors: W[r].i32, T[16].i32, C[64], out(Y[r, 16])
# verify: k[(len(r),)](W, T, C, Y)
# assume: len(r) <= 2**20
@triton.jit
def k(W, T, C, Y):
    r = tl.program_id(0)
    o = tl.arange(0, 16)
    code = (tl.load(W + r) ^ o) & 15
    t = tl.gather(tl.load(T + o), code, axis=0)
    x = tl.load(C + (t & 63))
    tl.store(Y + r * 16 + o, x)
""",
    (
        ("& 15", "& 31"),
        ("& 15", "| 15"),
        ("& 15", "^ 15"),
        ("& 15", ""),
        (") & 15", ") % 16"),
        (") & 15", ") // 16"),
        ("code, axis=0", "code + 1, axis=0"),
        ("code, axis=0", "code - 1, axis=0"),
        ("code, axis=0", "2 * code, axis=0"),
        ("code, axis=0", "o + 1, axis=0"),
        ("code, axis=0", "code, axis=1"),
        ("C + (t & 63)", "C + t"),
        ("C + (t & 63)", "C + (t & 127)"),
        ("C + (t & 63)", "C + (t & 63) + 1"),
        ("C + (t & 63)", "C + tl.abs(t)"),
        ("C + (t & 63)", "C + t % 64"),
        ("Y + r * 16 + o", "Y + r * 16 + code"),
        ("Y + r * 16 + o", "Y + r * 16 + t"),
    ),
    {"W": (-(2**31), 2**31), "T": (-(2**31), 2**31)},
)

KERNELS = {
    "packed": PACKED,
    "best": BEST,
    "blocks": BLOCKS,
    "moved": MOVED,
    "largest": LARGEST,
    "helpers": HELPERS,
    "divided": DIVIDED,
    "rounds": ROUNDS,
    "powers": POWERS,
    "returns": RETURNS,
    "gathered": GATHERED,
}
