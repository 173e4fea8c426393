"""Programs whose kernels store results in the loop of another result's reduction."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.source import Source

# The gradients of a layer normalization.
NORM = """
Func dx, dw, db, hat, scaled, along, sum;
In D, X, W, mean, rstd;
RVar x, y;
hat[x, y] = (X[x, y] - reshape(mean[x], x, 1)) * reshape(rstd[x], x, 1);
scaled[x, y] = D[x, y] * W[y];
along[x] = rsum(scaled[x, y] * hat[x, y], y) / len(y);
sum[x] = rsum(scaled[x, y], y) / len(y);
dx[x, y] = (scaled[x, y] - hat[x, y] * reshape(along[x], x, 1) - reshape(sum[x], x, 1)) *
    reshape(rstd[x], x, 1);
dw[y] = rsum(D[x, y] * hat[x, y], x);
db[y] = rsum(D[x, y], x);
hat.inline(); scaled.inline();
along.fuse_at(dx, x); sum.fuse_at(dx, x); dx.fuse_at(dw, x); db.fuse_at(dw, y);
dx.compile(dw, db);
"""
ROWS = """
Func f, g; In A, B; RVar x, y;
g[x, y] = A[x, y] * B[x, y]; f[y] = rsum(A[x, y] + B[x, y], x); g.fuse_at(f, x); f.compile(g);
"""
EXTREMES = """
Func f, g, low, most; In A, B; RVar x, y;
g[x, y] = A[x, y] - B[x, y]; f[y] = rsum(A[x, y] * B[x, y], x);
low[y] = rmin(A[x, y], x); most[y] = rmax(B[x, y], x);
g.fuse_at(f, x); low.fuse_at(f, y); most.fuse_at(f, y); g.compile(f, low, most);
"""

PROGRAMS: Mapping[str, str] = {
    "rows": f"{ROWS} f.tensorize(y:0, x:1);",
    "rows at once": f"{ROWS} f.block(y:16); f.tensorize(y:0, x:4);",
    "rows of parts": f"{ROWS} f.block(x:p/5); f.tensorize(y:0, x:1, p:4);",
    "rows at once of parts": f"{ROWS} f.block(x:p/8, p.y:16); f.tensorize(y:16, x:4, p:2);",
    "parts without a name": f"{ROWS} f.block(x:8); f.tensorize(y:16, x:2);",
    "parts of blocks": f"{ROWS} f.block(y:16, x:p/8); f.tensorize(y:0, x:2, p:0);",
    "at a loop that was split": (
        f"{ROWS.replace('g.fuse_at(f, x)', 'g.fuse_at(f, xi)')} f.split(x:xi/4);"
        "f.tensorize(y:16, xi:0);"
    ),
    "the loops of another order": f"{ROWS} f.reorder(y, x); f.tensorize(y:16, x:4);",
    "gradients of a norm": f"{NORM} dw.tensorize(y:0, x:1);",
    "gradients of a norm in parts": (
        f"{NORM} dw.block(x:p/5, p.y:16); dw.tensorize(y:0, x:1, p:4);"
    ),
    "gradients of a norm, rows at once": (
        f"{NORM} dw.block(x:p/8, p.y:16); dw.tensorize(y:0, x:2, p:4); dw.reorder(y, x);"
    ),
    "extremes in parts": f"{EXTREMES} f.block(x:p/8, p.y:16); f.tensorize(y:16, x:4, p:0);",
    "extremes": f"{EXTREMES} f.block(y:16); f.tensorize(y:0, x:4);",
    # What the host reads itself is stored, too: the gradient before a rectifier, and of weights.
    "what the host reads": (
        "Func w, z; In D, Y, X; Var n; RVar m; z[m, n] = where(Y[m, n] > 0, D[m, n], 0);"
        "w[n] = rsum(reshape(X[m], m, 1) * z[m, n], m); z.fuse_at(w, m); w.compile(z);"
        "w.block(n:16, m:p/8); w.tensorize(n:0, m:4, p:2);"
    ),
    # A result of one element a row: it lacks the label of the blocks, whose size is known.
    "a result without the label of the blocks": (
        "Func f, r; In A; Var y: 40; RVar x, l: 40; r[x] = rmax(A[x, l], l);"
        "f[y] = rsum(A[x, y], x); r.fuse_at(f, x); f.compile(r);"
        "f.block(y:16, x:p/8); f.tensorize(y:0, x:2, l:0, p:2);"
    ),
    "over two labels": (
        "Func f, g; In A; RVar x, l, y; g[x, y, l] = A[x, y, l] * 2;"
        "f[y] = rsum(A[x, y, l], x, l); g.fuse_at(f, l); f.compile(g);"
        "f.tensorize(y:8, l:4);"
    ),
    "one of two labels": (
        "Func f, g; In A, B; RVar x, l, y; g[x, y] = B[x, y] * 2;"
        "f[y] = rsum(A[x, y, l] * reshape(B[x, y], x, y, 1), x, l); g.fuse_at(f, x); f.compile(g);"
        "f.block(x:p/4); f.tensorize(y:8, l:4);"
    ),
    "at a sum of sums": (
        "Func f, g; In A, B, C; RVar x, l, y; g[x, y] = A[x, y] + B[x, y];"
        "f[y] = rsum(A[x, y] * rsum(C[x, l], l), x); g.fuse_at(f, x); f.compile(g);"
        "f.block(x:p/4); f.tensorize(y:8, l:8);"
    ),
    # Another reduction is in parts: the loop in which rows are stored is that of the last kernel.
    "beside a sum in parts": (
        "Func f, g; In A, B; RVar x, l, y; g[l, y] = A[l, y] * 2;"
        "f[y] = rmax(A[l, y] - 1, l) + rsum(B[x, y], x); g.fuse_at(f, l); f.compile(g);"
        "f.block(x:4); f.tensorize(y:8, l:4);"
    ),
    "in place": (
        "Func f, g into A; In A, B; RVar x, y; g[x, y] = A[x, y] * B[x, y];"
        "f[y] = rsum(A[x, y] + B[x, y], x); g.fuse_at(f, x); f.compile(g);"
        "f.tensorize(y:0, x:1);"
    ),
    "the mean of all, beside its rows": (
        "Func f, g; In A; RVar x, y; g[x, y] = A[x, y] * 2; f[] = rsum(A[x, y], x, y) / 3;"
        "g.fuse_at(f, y); f.compile(g); f.block(x:p/4); f.tensorize(y:16, p:0);"
    ),
}

TRIED = (0, 1, 3, 4, 5, 7, 8, 9, 16, 17, 33)


@cache
def program(name: str) -> Program:
    """Return the Program of a name."""
    return load(Source(f"{name}.dt", PROGRAMS[name]))


def rectangles(of: Program, tried: tuple[int, ...] = TRIED) -> Iterator[dict[str, int]]:
    """Yield sizes of rows and columns around tiles and parts."""
    seen = set[tuple[int, ...]]()
    for rows, columns in product(tried, tried):
        known = {label.name: columns for label in of.labels}
        known |= {"x": rows, "m": rows, "l": min(columns, 9)} | of.fixed
        sizes = {label.name: known[label.name] for label in of.labels}
        if tuple(sizes.values()) not in seen:
            seen.add(tuple(sizes.values()))
            yield sizes
