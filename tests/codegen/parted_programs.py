"""Programs whose chains of reductions are computed in parts, each with frames of its own."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.source import Source
from tests.codegen.inputs import Data, Inputs, Layout, Recipe

ROWS = "In A; Var x; RVar y; top[x] = rmax(A[x, y], y);"
EXPONENTIALS = "exp(A[x, y] - reshape(top[x], x, 1))"
ATTENTION = """
Func f, scores, top, e, total;
In A, K, V;
Var x, n;
RVar k, y{range};
scores[x, y] = rdot(A[x, k], K[y, k], k) / sqrt(len(k));
top[x] = rmax(scores[x, y], y);
e[x, y] = exp(scores[x, y] - reshape(top[x], x, 1));
total[x] = rsum(e[x, y], y);
f[x, n] = rdot(e[x, y], V[y, n], y) / reshape(total[x], x, 1);
f.block(x:{rows}, y:p/{part});
f.tensorize(x:0, y:{tile}, k:0, n:0, p:{merge});
scores.fuse_at(f, y); top.online(f, y); {fused} total.online(f, y);
f.compile();
"""


def attention(
    rows: int = 16,
    part: int = 32,
    tile: int = 16,
    merge: int = 2,
    among: str = "",
    fused: str = "e.inline();",
) -> str:
    """Return attention of rows of A to those of K, which are read in parts."""
    return ATTENTION.format(range=among, rows=rows, part=part, tile=tile, merge=merge, fused=fused)


def with_sink(text: str) -> str:
    """Return attention with one more term in each sum of weights, which is that of no key."""
    return text.replace("K, V;", "K, V, s;").replace(
        "total[x] = rsum(e[x, y], y);", "total[x] = rsum(e[x, y], y) + exp(s[x] - top[x]);"
    )


ENDING = "RVar y in [0, last[x])"
# A table names the pages of 16 keys that each sequence has.
PAGED = """
Func f, scores, top, e, total;
In A, K, V, pages: i32, last: i32;
Var x, n;
RVar k, y in [0, last[x]);
scores[x, y] = rsum(A[x, k] * K[pages[x, y // 16], y % 16, k], k);
top[x] = rmax(scores[x, y], y);
e[x, y] = exp(scores[x, y] - reshape(top[x], x, 1));
total[x] = rsum(e[x, y], y);
f[x, n] = rsum(reshape(e[x, y], x, y, 1) * V[pages[x, y // 16], y % 16, n], y)
    / reshape(total[x], x, 1);
f.block(x:1, y:p/32);
f.tensorize(x:0, n:0, k:0, y:16, p:2);
scores.fuse_at(f, y); top.online(f, y); e.inline(); total.online(f, y);
f.compile();
"""
PARTED: Mapping[str, str] = {
    "log-sum-exp": (
        f"Func f, top; {ROWS} f[x] = log(rsum({EXPONENTIALS}, y)) + top[x];"
        "f.block(x:1, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
    "log-sum-exp, parts merged one by one": (
        f"Func f, top; {ROWS} f[x] = log(rsum({EXPONENTIALS}, y)) + top[x];"
        "f.block(x:4, y:32); f.tensorize(x:0, y:16); top.online(f, y); f.compile();"
    ),
    "a sum that is stored": (
        f"Func f, top; {ROWS} f[x] = rsum({EXPONENTIALS} * 0.5, y);"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:4); top.online(f, y); f.compile();"
    ),
    "softmax in three kernels": (
        f"Func f, top, e, total; {ROWS} e[x, y] = {EXPONENTIALS}; total[x] = rsum(e[x, y], y);"
        "f[x, y] = e[x, y] / reshape(total[x], x, 1); e.inline();"
        "f.block(x:1, y:16); f.tensorize(x:0, y:0); top.fuse_at(f, x);"
        "total.block(x:1, y:p/32); total.tensorize(x:0, y:16, p:2); top.online(total, y);"
        "f.compile();"
    ),
    "a minimum": (
        "Func f, low; In A; Var x; RVar y; low[x] = rmin(A[x, y], y);"
        "f[x] = log(rsum(exp(reshape(low[x], x, 1) - A[x, y]), y)) - low[x];"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2); low.online(f, y); f.compile();"
    ),
    "half of a power": (
        f"Func f, top; {ROWS}"
        "f[x] = log(rsum(exp((A[x, y] - reshape(top[x], x, 1)) * 0.5), y)) + 0.5 * top[x];"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
    "twice a maximum": (
        f"Func f, top; {ROWS.replace('rmax(A[x, y], y)', '2 * rmax(A[x, y], y)')}"
        f"f[x] = log(rsum(exp(2 * A[x, y] - reshape(top[x], x, 1)), y)) + top[x];"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
    "three below a maximum": (
        f"Func f, top; {ROWS.replace('rmax(A[x, y], y)', 'rmax(A[x, y], y) - 3')}"
        f"f[x] = log(rsum({EXPONENTIALS}, y)) + top[x];"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
    "one above twice a maximum": (
        f"Func f, top, total; {ROWS.replace('rmax(A[x, y], y)', '2 * rmax(A[x, y], y) + 1')}"
        "total[x] = rsum(exp(2 * A[x, y] - reshape(top[x], x, 1)), y);"
        "f[x] = rsum(exp(2 * A[x, y] - reshape(top[x], x, 1)) * A[x, y], y) / total[x];"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2);"
        "top.online(f, y); total.online(f, y); f.compile();"
    ),
    "a maximum with its sign turned": (
        f"Func f, top; {ROWS.replace('rmax(A[x, y], y)', '-rmax(A[x, y], y)')}"
        f"f[x] = log(rsum(exp(A[x, y] + reshape(top[x], x, 1)), y)) - top[x];"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
    "a quarter of a maximum": (
        f"Func f, top, total; {ROWS.replace('rmax(A[x, y], y)', 'rmax(A[x, y], y) / 4')}"
        "total[x] = rsum(exp(A[x, y] * 0.25 - reshape(top[x], x, 1)), y);"
        "f[x] = rsum(exp(A[x, y] * 0.25 - reshape(top[x], x, 1)) * A[x, y], y) / total[x];"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2);"
        "top.online(f, y); total.online(f, y); f.compile();"
    ),
    "cross entropy": (
        "Func f, top; In A, T: i64; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        f"f[x] = log(rsum({EXPONENTIALS}, y)) + top[x] - A[x, T[x]];"
        "f.block(x:1, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
    "attention": attention(),
    "attention of one row": attention(rows=1),
    "attention, weights in the loop": attention(fused="e.fuse_at(f, y);"),
    "attention, causal": attention(among=" in [0, x + 1)"),
    "attention to a window": attention(among=" in [x - 20, x + 1)"),
    "attention with a sink": with_sink(attention()),
    "attention with a sink, causal": with_sink(attention(among=" in [0, x + 1)")),
    "attention with a sink, to a window": with_sink(attention(among=" in [x - 20, x + 1)")),
    "log-sum-exp of a window": (
        f"Func f, top; {ROWS.replace('RVar y', 'RVar y in [x - 20, x + 1)')}"
        f" f[x] = log(rsum({EXPONENTIALS}, y)) + top[x];"
        "f.block(x:4, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
}
# The range of a row is data: where it ends, or where it begins, too.
OF_DATA: Mapping[str, str] = {
    "log-sum-exp": (
        f"Func f, top; {ROWS.replace('In A', 'In A, last: i32').replace('RVar y', ENDING)}"
        f" f[x] = log(rsum({EXPONENTIALS}, y)) + top[x];"
        "f.block(x:1, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
    "log-sum-exp of several rows": (
        f"Func f, top; {ROWS.replace('In A', 'In A, last: i32').replace('RVar y', ENDING)}"
        f" f[x] = log(rsum({EXPONENTIALS}, y)) + top[x];"
        "f.block(x:4, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"
    ),
    "a minimum": (
        f"Func f, low; In A, last: i32; Var x; {ENDING}; low[x] = rmin(A[x, y], y);"
        "f[x] = log(rsum(exp(reshape(low[x], x, 1) - A[x, y]), y)) - low[x];"
        "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2); low.online(f, y); f.compile();"
    ),
    "attention": attention(among=" in [0, last[x])").replace("V;", "V, last: i32;"),
    "attention from data to data": attention(among=" in [first[x], last[x])").replace(
        "V;", "V, first: i32, last: i32;"
    ),
    "decoding from pages": PAGED,
}


ROWS_TRIED = (0, 1, 5, 17)
COLUMNS_TRIED = (0, 1, 31, 32, 33, 47, 64, 65, 129, 150)


@cache
def program(name: str) -> Program:
    """Return the Program of a name."""
    return load(Source(f"{name}.dt", PARTED[name]))


def sizes_around_parts(of: Program) -> Iterator[dict[str, int]]:
    """Yield numbers of rows and columns around tiles and parts, and tiles of parts."""
    for rows, columns in product(ROWS_TRIED, COLUMNS_TRIED):
        known = {"x": rows, "y": columns, "n": 3, "k": 5}
        yield {label.name: known[label.name] for label in of.labels}


@cache
def program_of_data(name: str) -> Program:
    """Return the Program of a name whose ranges are data."""
    return load(Source(f"{name}.dt", OF_DATA[name]))


def calls_of_data(of: Program) -> Iterator[tuple[dict[str, int], Inputs]]:
    """Yield sizes and inputs whose ranges are empty, whole, beyond the ends, or anything."""
    for seed, (rows, columns) in enumerate(product((1, 5), (0, 16, 32, 48, 144))):
        known = {"x": rows, "y": columns, "n": 3, "k": 5}
        sizes = {label.name: known[label.name] for label in of.labels}
        given = Recipe(seed + 1, DType.F32, Layout.PLAIN, Data.ASCENDING).inputs(of, sizes)
        drawing = torch.Generator().manual_seed(seed)
        for name, value in given.items():
            if name in ("first", "last") and isinstance(value, torch.Tensor):
                ends = (-3, columns + 4) if seed % 4 else (0, 2)
                given[name] = torch.randint(
                    *ends, value.shape, generator=drawing, dtype=value.dtype
                )
        yield sizes, given
