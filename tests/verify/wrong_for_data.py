"""Kernels that are wrong for some data, each for a reason of its own."""

from tests.verify.kernels_of_data import HEAD

_WRONG = {
    "a float compared as if it were a whole number": """\
# tensors: f[r], E[v], out(Y[r])
# verify: k[(len(r),)](f, E, Y, len(v))
@triton.jit
def k(f, E, Y, v):
    p = tl.program_id(0)
    x = tl.load(f + p)
    t = x.to(tl.int64)
    y = tl.load(E + t, mask=(x >= 0.0) & (x < v), other=0.0)
    tl.store(Y + p, y)
""",
    "a float between 0 and 1": """\
# tensors: f[r], E[v], out(Y[r])
# verify: k[(len(r),)](f, E, Y, len(v))
@triton.jit
def k(f, E, Y, v):
    p = tl.program_id(0)
    x = tl.load(f + p)
    y = tl.load(E + v, mask=(x > 0.0) & (x < 1.0), other=0.0)
    tl.store(Y + p, y)
""",
    "a number that was stored in between": """\
# tensors: inout(T[r].i32), E[v], out(Y[r])
# verify: k[(len(r),)](T, E, Y, len(v))
@triton.jit
def k(T, E, Y, v):
    p = tl.program_id(0)
    a = tl.load(T + p)
    tl.debug_barrier()
    tl.store(T + p, a + 1)
    tl.debug_barrier()
    b = tl.load(T + p)
    y = tl.load(E + b, mask=(a >= 0) & (a < v), other=0.0)
    tl.store(Y + p, y)
""",
    "data of other lanes that are equal": """\
# tensors: ids[r, 16].i32, out(Y[r, 16, 16])
# verify: k[(len(r),)](ids, Y)
# assume: len(r) <= 2**20
@triton.jit
def k(ids, Y):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    t = tl.load(ids + p * 16 + o)
    m = t[:, None] == t[None, :]
    tl.store(Y + p * 256 + o[:, None] * 16 + o[None, :] * 0, 1.0, mask=m)
""",
    "data of other lanes in order": """\
# tensors: ids[r, 16].i32, out(Y[r, 16])
# verify: k[(len(r),)](ids, Y)
# assume: len(r) <= 2**20
@triton.jit
def k(ids, Y):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    t = tl.load(ids + p * 16 + o)
    m = t[:, None] < t[None, :]
    z = tl.zeros((16, 16), tl.float32)
    tl.store(Y + p * 16 + o[:, None] + o[None, :] * 0, z, mask=m)
""",
    "an address that grows by data": """\
# tensors: n_[r].i32, X[r, n], out(Y[r])
# verify: k[(len(r),)](n_, X, Y, len(n))
# assume: len(n) <= 2**20, reach(X) < 2**31, 0 <= n_[...] <= len(n)
@triton.jit
def k(n_, X, Y, n):
    p = tl.program_id(0)
    c = tl.load(n_ + p)
    at = X + p * n
    acc = 0.0
    for i in range(0, 3):
        for j in range(0, c):
            acc += tl.load(at)
            at += 1
    tl.store(Y + p, acc)
""",
    "an address that goes back by data": """\
# tensors: c_[r, 4].i32, X[n], out(Y[r])
# verify: k[(len(r),)](c_, X, Y, len(n))
# assume: len(n) <= 2**20, reach(c_) < 2**31, 0 <= c_[...] <= len(n)
@triton.jit
def k(c_, X, Y, n):
    p = tl.program_id(0)
    at = X
    acc = tl.zeros((), tl.float32)
    for i in range(0, 4):
        c = tl.load(c_ + p * 4 + i)
        for j in range(0, c):
            acc += tl.load(at)
            at += 1
        at -= c
    tl.store(Y + p, acc)
""",
    "what a loop left": """\
# tensors: c_[r, 4].i32, X[n], out(Y[r])
# verify: k[(len(r),)](c_, X, Y, len(n))
# assume: len(n) <= 2**20, reach(c_) < 2**31, 0 <= c_[...] <= len(n)
@triton.jit
def k(c_, X, Y, n):
    p = tl.program_id(0)
    t = tl.load(c_ + p * 4)
    for i in range(0, 4):
        t = tl.load(c_ + p * 4 + i)
    y = tl.load(X + t, mask=t < n)
    tl.store(Y + p, tl.load(X + t))
""",
    "a barrier that data decide about": """\
# tensors: f[r].i32, out(Y[r, 16]), out(Z[r, 16])
# verify: k[(len(r),)](f, Y, Z)
# assume: len(r) <= 2**20
@triton.jit
def k(f, Y, Z):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    tl.store(Y + p * 16 + o, o.to(tl.float32))
    t = tl.load(f + p)
    if t > 0:
        tl.debug_barrier()
    y = tl.load(Y + p * 16 + 15 - o)
    tl.store(Z + p * 16 + o, y)
""",
    "a load of what data decide about": """\
# tensors: f[r].i32, out(Y[r, 16]), out(Z[r, 16])
# verify: k[(len(r),)](f, Y, Z)
# assume: len(r) <= 2**20
@triton.jit
def k(f, Y, Z):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    t = tl.load(f + p)
    if t > 0:
        tl.store(Y + p * 16 + o, o.to(tl.float32))
    tl.debug_barrier()
    y = tl.load(Y + p * 16 + 15 - o)
    tl.store(Z + p * 16 + o, y)
""",
    "two stores, both for some data": """\
# tensors: f[r].i32, out(Y[r, 16])
# verify: k[(len(r),)](f, Y)
# assume: len(r) <= 2**20
@triton.jit
def k(f, Y):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    t = tl.load(f + p)
    if t > 0:
        tl.store(Y + p * 16 + o, 1.0)
    if t > 1:
        tl.store(Y + p * 16 + 15 - o, 2.0)
""",
    "a place that several programs choose": """\
# tensors: f[r].i32, out(Y[r])
# verify: k[(len(r),)](f, Y, len(r))
# assume: len(r) <= 2**20
@triton.jit
def k(f, Y, r):
    p = tl.program_id(0)
    t = tl.load(f + p)
    q = tl.where(t > 0, p, 0)
    tl.store(Y + q, 1.0)
""",
    "a place that an atomic sum gives": """\
# tensors: inout(C[1].i32), X[r], out(Y[r])
# verify: k[(len(r),)](C, X, Y, len(r))
# assume: len(r) <= 2**20
@triton.jit
def k(C, X, Y, r):
    p = tl.program_id(0)
    q = tl.atomic_add(C, 1)
    x = tl.load(X + p)
    tl.store(Y + q, x, mask=(q >= 0) & (q < r))
""",
    "a place that a scan gives": """\
# tensors: f[n].i32, X[n], out(Y[n])
# verify: k[(1,)](f, X, Y, len(n), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 1024
@triton.jit
def k(f, X, Y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    m = tl.load(f + o, mask=o < n, other=0)
    at = tl.cumsum(m, 0) - 1
    tl.store(Y + at, tl.load(X + o, mask=o < n), mask=(m > 0) & (at < n) & (at >= 0))
""",
    "a scan in place": """\
# tensors: inout(X[r, 16])
# verify: k[(len(r),)](X)
# assume: len(r) <= 2**20
@triton.jit
def k(X):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    x = tl.load(X + p * 16 + o)
    tl.store(X + p * 16 + o, tl.cumsum(x, 0))
""",
    "lanes turned round in place": """\
# tensors: inout(X[r, 16])
# verify: k[(len(r),)](X)
# assume: len(r) <= 2**20
@triton.jit
def k(X):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    x = tl.load(X + p * 16 + o)
    tl.store(X + p * 16 + o, tl.flip(x, 0))
""",
    "a lane that was not loaded, where there is no element": """\
# tensors: ids[r].i32, E[v], out(Y[s])
# verify: k[(cdiv(len(s), 16),)](ids, E, Y, len(r), len(s))
# assume: len(s) <= 2**20, len(r) <= 2**20, 0 <= ids[...] < len(v)
@triton.jit
def k(ids, E, Y, r, s):
    o = tl.program_id(0) * 16 + tl.arange(0, 16)
    t = tl.load(ids + o, mask=o < r, other=0)
    x = tl.load(E + t)
    tl.store(Y + o, x, mask=o < s)
""",
    "masked lanes that are not distinct": """\
# tensors: to[r].i32, out(Y[v])
# verify: k[(cdiv(len(r), 16),)](to, Y, len(r))
# assume: len(r) <= 2**20, 0 <= to[...] < len(v), distinct(to), len(v) >= 1
@triton.jit
def k(to, Y, r):
    o = tl.program_id(0) * 16 + tl.arange(0, 16)
    t = tl.load(to + o, mask=o < r, other=0)
    tl.store(Y + t, 1.0)
""",
    "one element loaded twice": """\
# tensors: to[r].i32, out(Y[v])
# verify: k[(len(r),)](to, Y, len(r))
# assume: len(r) <= 2**20, 0 <= to[...] < len(v), distinct(to)
@triton.jit
def k(to, Y, r):
    p = tl.program_id(0)
    t = tl.load(to + p)
    u = tl.load(to + (r - 1 - p))
    tl.store(Y + t, 1.0)
    tl.store(Y + u, 1.0)
""",
    "numbers that ascend and may be equal": """\
# tensors: cu[b].i32, out(Y[n])
# verify: k[(len(b),)](cu, Y)
# assume: len(n) <= 2**20, 0 <= cu[...] < len(n), ascending(cu)
@triton.jit
def k(cu, Y):
    p = tl.program_id(0)
    tl.store(Y + tl.load(cu + p), 1.0)
""",
    "numbers that ascend in two axes": """\
# tensors: cu[b, 2].i32, out(Y[n])
# verify: k[(len(b),)](cu, Y)
# assume: len(n) <= 2**20, len(b) <= 2**20, 0 <= cu[...] <= len(n), ascending(cu)
@triton.jit
def k(cu, Y):
    p = tl.program_id(0)
    s = tl.load(cu + 2 * p + 1)
    e = tl.load(cu + 2 * p)
    for i in range(s, e):
        tl.store(Y + i, 1.0)
    tl.store(Y + s, 1.0, mask=s < e)
""",
    "an unrolled loop of data": """\
# tensors: c[r].i32, X[n], out(Y[r])
# verify: k[(len(r),)](c, X, Y)
@triton.jit
def k(c, X, Y):
    p = tl.program_id(0)
    a = 0.0
    for i in tl.static_range(0, tl.load(c + p)):
        a += 1.0
    tl.store(Y + p, a)
""",
    "a step that is data": """\
# tensors: c[r].i32, out(Y[r, 64])
# verify: k[(len(r),)](c, Y)
# assume: len(r) <= 2**20, 1 <= c[...] <= 64
@triton.jit
def k(c, Y):
    p = tl.program_id(0)
    for i in range(0, 64, tl.load(c + p)):
        tl.store(Y + p * 64 + i, 1.0)
""",
    "a bound of 8 bits": """\
# tensors: c[r].i8, out(Y[r, 128])
# verify: k[(len(r),)](c, Y)
# assume: len(r) <= 2**20
@triton.jit
def k(c, Y):
    p = tl.program_id(0)
    for i in range(0, tl.load(c + p)):
        tl.store(Y + p * 128 + i, 1.0)
""",
    "a remainder of a negative number": """\
# tensors: ids[r].i32, E[16], out(Y[r])
# verify: k[(len(r),)](ids, E, Y)
@triton.jit
def k(ids, E, Y):
    p = tl.program_id(0)
    t = tl.load(ids + p)
    tl.store(Y + p, tl.load(E + t % 16))
""",
    "a shift of a negative number": """\
# tensors: ids[r].i32, E[16], out(Y[r])
# verify: k[(len(r),)](ids, E, Y)
@triton.jit
def k(ids, E, Y):
    p = tl.program_id(0)
    t = tl.load(ids + p)
    tl.store(Y + p, tl.load(E + (t >> 28)))
""",
    "bits of a negative number": """\
# tensors: ids[r].i32, E[16], out(Y[r])
# verify: k[(len(r),)](ids, E, Y)
@triton.jit
def k(ids, E, Y):
    p = tl.program_id(0)
    t = tl.load(ids + p)
    tl.store(Y + p, tl.load(E + (t & -16)))
""",
    "one more than a number of 8 bits": """\
# tensors: c[r].u8, E[256], out(Y[r])
# verify: k[(len(r),)](c, E, Y)
@triton.jit
def k(c, E, Y):
    p = tl.program_id(0)
    t = tl.load(c + p)
    tl.store(Y + p, tl.load(E + (t.to(tl.int32) + 1)))
""",
    "a return in some programs": """\
# tensors: e[r].i32, out(Y[1])
# verify: k[(len(r),)](e, Y)
@triton.jit
def k(e, Y):
    p = tl.program_id(0)
    t = tl.load(e + p)
    if t != 1:
        return
    tl.store(Y, 1.0)
""",
    "twice as many lanes": """\
# tensors: X[r, 16], out(Y[r, 16])
# verify: k[(len(r),)](X, Y)
# assume: len(r) <= 2**20
@triton.jit
def k(X, Y):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    x = tl.load(X + p * 16 + o)
    y = tl.interleave(x, x)
    tl.store(Y + p * 16 + tl.arange(0, 32), y)
""",
    "bits of another width": """\
# tensors: X[r], out(Y[r].f16)
# verify: k[(len(r),)](X, Y)
@triton.jit
def k(X, Y):
    p = tl.program_id(0)
    tl.store(Y + p, tl.load(X + p).to(tl.float16, bitcast=True))
""",
    "bits of a float as a place": """\
# tensors: X[r], E[v], out(Y[r])
# verify: k[(len(r),)](X, E, Y)
# assume: len(v) >= 1
@triton.jit
def k(X, E, Y):
    p = tl.program_id(0)
    t = tl.load(X + p).to(tl.int32, bitcast=True)
    tl.store(Y + p, tl.load(E + t))
""",
    "a number of a loop that has no iteration": """\
# tensors: f[n].i32, out(Y[n])
# verify: k[(1,)](f, Y, len(n))
# assume: len(n) <= 4096, 0 <= f[...] < len(n)
@triton.jit
def k(f, Y, n):
    at = 7
    for i in range(0, n):
        at = tl.load(f + i)
    tl.store(Y + at, 1.0)
""",
    "a number of a branch that is not taken": """\
# tensors: f[n].i32, inout(Y[n])
# verify: k[(1,)](f, Y, len(n))
# assume: len(n) <= 4096, 0 <= f[...] < len(n)
@triton.jit
def k(f, Y, n):
    at = 7
    if n > 0:
        at = tl.load(f)
    tl.store(Y + at, 1.0)
""",
    "differing numbers of which one was not loaded": """\
# tensors: f[2].i32, out(Y[m])
# verify: k[(2,)](f, Y, len(n))
# tensors: X[n]
# assume: len(n) <= 4096, 0 <= f[...] < len(m), distinct(f)
@triton.jit
def k(f, Y, n):
    p = tl.program_id(0)
    at = 0
    for i in range(0, n):
        at = tl.load(f + p)
    tl.store(Y + at, 1.0)
""",
}

_RIGHT = {
    "a table for all numbers of 8 bits": """\
# tensors: c[r].u8, E[256], out(Y[r])
# verify: k[(len(r),)](c, E, Y)
@triton.jit
def k(c, E, Y):
    p = tl.program_id(0)
    t = tl.load(c + p)
    tl.store(Y + p, tl.load(E + t))
""",
    "lanes joined, split and interleaved": """\
# tensors: X[r, 16], out(Y[r, 32])
# verify: k[(len(r),)](X, Y)
# assume: len(r) <= 2**20
@triton.jit
def k(X, Y):
    p = tl.program_id(0)
    o = tl.arange(0, 16)
    x = tl.load(X + p * 16 + o)
    a, b = tl.split(tl.join(x, x))
    y = tl.interleave(a, b)
    tl.store(Y + p * 32 + tl.arange(0, 32), y)
""",
    "a number of a loop that has an iteration": """\
# tensors: f[n].i32, inout(Y[n])
# verify: k[(1,)](f, Y, len(n))
# assume: len(n) <= 4096, 0 <= f[...] < len(n), len(n) >= 1
@triton.jit
def k(f, Y, n):
    at = 7
    for i in range(0, n):
        at = tl.load(f + i)
    tl.store(Y + at, 1.0)
""",
    "a number of a branch that decides about its store, too": """\
# tensors: f[n].i32, inout(Y[n])
# verify: k[(1,)](f, Y, len(n))
# assume: len(n) <= 4096, 0 <= f[...] < len(n)
@triton.jit
def k(f, Y, n):
    at = 7
    if n > 0:
        at = tl.load(f)
    tl.store(Y + at, 1.0, mask=n > 0)
""",
    "numbers that are loaded in a branch of data": """\
# tensors: f[r, 16].i32, g[r].i32, E[v], out(Y[r, 16])
# verify: k[(len(r),)](f, g, E, Y)
# assume: 0 <= f[...] < len(v)
@triton.jit
def k(f, g, E, Y):
    p = tl.program_id(0).to(tl.int64)
    o = tl.arange(0, 16)
    if tl.load(g + p) > 0:
        t = tl.load(f + p * 16 + o)
        tl.store(Y + p * 16 + o, tl.load(E + t))
""",
}
WRONG_FOR_DATA = {name: HEAD + text for name, text in _WRONG.items()}
RIGHT_FOR_DATA = {name: HEAD + text for name, text in _RIGHT.items()}
