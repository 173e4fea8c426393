"""Constructs that come from tables, together: ranges, places, scans, lists, one pass, packed rows.

The programs were written to find mistakes, by somebody who had built none of these constructs.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.generate import outputs
from dtpoly.reference.run import run
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.at_data import alike, copied, inputs
from tests.codegen.random_programs import possible
from tests.codegen.running import imported, watched
from tests.verify.texts import text_of

ATTENTION = """
Func {func}, s, top, e, total;
In Q, V, {inputs};
Var b, d;
RVar c, l{among};

s[b, l] = {scores};
top[b] = rmax(s[b, l], l);
e[b, l] = exp(s[b, l] - reshape(top[b], b, 1));
total[b] = rsum(e[b, l], l);
f[b, d] = rdot(e[b, l], V[{row}, d], l) / reshape(total[b], b, 1);

f.block(b:{block});
f.tensorize(b:0, d:0, c:0, l:16);
s.fuse_at(f, l);
top.online(f, l);
e.inline();
total.online(f, l);
f.compile();
"""


def attention(
    inputs: str,
    scores: str,
    among: str = "",
    func: str = "f",
    row: str = "l",
    block: int = 2,
) -> str:
    """Return attention whose keys, scores or results are at data."""
    parts = {"inputs": inputs, "scores": scores, "among": among, "func": func, "row": row}
    return ATTENTION.format(block=block, **parts)


RANGE = " in [lo[b], hi[b])"
PLACED = attention(
    "O, slot: i32, K, lo: i32, hi: i64",
    "rdot(Q[b, c], K[l, c], c) * rsqrt(len(c))",
    RANGE,
    "f into O at [slot[b], d] distinct",
)
PROGRAMS: Mapping[str, str] = {
    "one pass over a range, to places": PLACED,
    "one pass over a range, added at places": PLACED.replace("distinct", "add"),
    "one pass, a bias at data": attention(
        "K, B, T: i32", "rdot(Q[b, c], K[l, c], c) + B[T[b, l]]", block=16
    ),
    "one pass, rows of its own": attention("K, T: i32", "rdot(Q[b, c], K[T[b, l], c], c)"),
    "one pass, rows at data": attention(
        "K, T: i32", "rdot(Q[b, c], K[T[l], c], c) * 0.25", row="T[l]", block=16
    ),
    "one pass, packed keys": attention(
        "K: i4 packed c, S: f64, lo: i32, hi: i64", "rdot(Q[b, c], K[l, c] * S[l], c)", RANGE
    ),
    "rows of experts": (
        "Func f into O at [token[s], d] add; In O, token: i64, H, W, expert: i32; Var s, d;"
        "RVar k; f[s, d] = rdot(H[s, k], W[expert[s], k, d], k);"
        "f.block(s:4, d:8); f.tensorize(s:0, d:0, k:8); f.compile();"
    ),
    "the largest of sums over ranges": (
        "Func v, i, g; In X, rows: i32, M; Var b, j: 4, m; RVar l in [rows[m], rows[m + 1]), r;"
        "g[b, m] = rsum(X[b, l], l) * M[m]; v[b, j] = rtopk(g[b, r], r, j);"
        "i[b, j] = rargtopk(g[b, r], r, j); g.block(b:2, m:4); g.tensorize(b:0, m:0, l:8);"
        "v.block(b:2); v.tensorize(b:0, j:4, r:8); i.fuse_at(v, b); v.compile(i);"
    ),
    "a scan of sums over ranges, added at places": (
        "Func f into O at [T[t]] add, g; In O, X, T: i32, rows: i64; Var t;"
        "RVar s, l in [rows[t], rows[t + 1]); g[t] = rsum(X[l] * t, l);"
        "f[t] = scan_sum(g[s], s, t); g.block(t:4); g.tensorize(t:0, l:8); f.tensorize(t:16);"
        "f.compile();"
    ),
    "places that a scan counts": (
        "Func p, f into O at [T[t], t] add; In O, T: i32, X; Var t; RVar s;"
        "p[t] = scan_sum(where(T[s] > 0, 1, 0), s, t, before); f[t] = X[t] * p[t];"
        "p.tensorize(t:8); f.block(t:8); f.tensorize(t:0); f.compile();"
    ),
    "old rows, and one that is new": (
        "Func f into K at [b, pos[b], d]; In K, pos: i64, X; Var b, d; RVar l;"
        "f[b, d] = X[b, d] + rsum(K[b, l, d], l); f.block(b:2); f.tensorize(b:0, d:8, l:4);"
        "f.compile();"
    ),
    "random weights over a range, added at places": (
        "Func f into O at [T[b], d] add; In O, T: i32, X, offs: i32; SIn seed: i64; Var b, d;"
        "RVar l in [offs[b], offs[b + 1]);"
        "f[b, d] = rsum(X[l, d] * (random(seed, l, d) - 0.5), l);"
        "f.block(b:2, d:8); f.tensorize(b:0, d:0, l:4); f.compile();"
    ),
    "ranges of ranges": (
        "Func f; In X, rows: i64, cols: i32; Var b;"
        "RVar d in [rows[b], rows[b + 1]), l in [cols[d], cols[d] + 4);"
        "f[b] = rsum(X[l, d], l, d); f.block(b:4); f.tensorize(b:0, d:4, l:8); f.compile();"
    ),
}
# Of a mask by hand it is not seen that a row may be empty; the loops are joined all the same.
MASKED = attention("K, n: i32", "where(l < reshape(n[b], b, 1), rdot(Q[b, c], K[l, c], c), -inf)")


@cache
def program(name: str) -> Program:
    return load(Source(f"{name}.dt", MASKED if name == "masked" else PROGRAMS[name]))


def run_at(name: str, extent: int) -> None:
    """Compare a program with the reference at sizes near an extent."""
    of = program(name)
    wanted_sizes = {
        one.name: one.size or max(1, extent + at % 3 - 1) for at, one in enumerate(of.labels)
    }
    if "s" in wanted_sizes and "t" in wanted_sizes:
        wanted_sizes["s"] = wanted_sizes["t"]  # a scan has a result for each element
    if "packed" in name:
        wanted_sizes["c"] += wanted_sizes["c"] % 2  # a byte has two numbers
    sizes = possible(of, wanted_sizes)
    assert sizes is not None
    module: Any = imported(text_of(of))
    given = inputs(of, sizes, f"{name} {extent}")
    if name == "masked":
        # A softmax of nothing is not compared.
        given["n"] = torch.as_tensor(given["n"]).clamp(min=1)
    wanted = run(of, copied(given), sizes=sizes)
    for func in outputs(of):
        found = watched(module, of, func, copied(given), sizes, wanted)
        for result, one in found.items():
            assert alike(one, wanted[result]), result


@pytest.mark.sampled
@pytest.mark.parametrize("extent", [1, 4, 17])
@pytest.mark.parametrize("name", [*PROGRAMS, "masked"])
def test_computed(name: str, extent: int) -> None:
    run_at(name, extent)


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROGRAMS)
def test_proved(name: str) -> None:
    assert verify(program(name), text_of(program(name)), 60).verdict is LayerVerdict.PROVED
