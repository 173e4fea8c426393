"""Hard schedules by hand: what is to be said of each for all sizes, and its text."""

from tests.oracle.test_oracle import (
    CHAIN,
    DIAMOND,
    FUSED_4_4,
    NESTED,
    NORM,
    OUTSIDE,
    RENAMED,
    SOFTMAX,
    STENCIL,
)
from tests.schedule.told import ATTENTION, MAP, SUM, TWO, TWO_PRODUCTS

LEGAL = "legal"
LATE, AGAIN = "runs too late", "recomputes in a loop"
CROSSES, RACE = "crosses program instances", "lanes race"
LOST = "is not computed exactly once"

ALL_FOUR = "c.fuse_at(f, x); b.fuse_at(c, x); a.fuse_at(b, x); z.fuse_at(a, x);"
FIVE = (
    "Func f, c, b, a, z; In A; Var x, y; z[x, y] = A[x, y]; a[x, y] = z[x, y] + 1;"
    "b[x, y] = a[x, y] + 1; c[x, y] = b[x, y] + 1; f[x, y] = c[x, y] + 1; f.compile();"
)
# Each reads one element more than the next.
WIDENING = (
    "Func f, c, b, a; In A; Var x; a[x] = A[x]; b[x] = a[x] + pad(a, 0)[x + 1];"
    "c[x] = b[x] + pad(b, 0)[x + 1]; f[x] = c[x] + pad(c, 0)[x + 1]; f.compile();"
)
PAIR = "Func f, g; In A; Var x, u; g[u] = exp(A[u]); f[x] = {}; f.compile(); g.fuse_at(f, x);"
SQUARE = (
    "Func f, g; In A; Var x, y; g[x, y] = A[x, y]; f[x] = pad(g, 0)[x, x + 1]; f.compile();"
    "g.fuse_at(f, x);"
)
TOTALS = (
    "Func f, g, h; In A; Var x; RVar k; g[x] = rsum(A[x, k], k); h[x] = rmax(A[x, k], k);"
    "f[x, k] = A[x, k] * reshape(g[x] + h[x], x, 1); f.compile();"
)
PADDED = (
    "Func f, g, h; In A, B; Var x, y, u, v; h[v] = A[v]; g[u] = h[u + 4];"
    "f[x, y] = pad(g, 0)[{}] * B[x, y]; f.compile(); g.inline(); h.fuse_at(f, x);"
)
BOTH = "Func f; In A; Var x; RVar k, l; f[x] = rsum(A[x, k, l], k, l); f.compile();"
ON_BOTH_SIDES = (
    "Func f; In A; Var x; RVar y; f[x, y] = A[x, y] / reshape(rsum(A[x, y], y), x, 1); f.compile();"
)
TWO_SUMS = (
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k] * rmax(A[x, k], k), k) + rmin(A[x, k], k);"
    "f.compile();"
)

CASES: dict[str, tuple[str, str]] = {
    # Sizes that fit nothing.
    "ragged blocks, tiles that do not divide them": (
        LEGAL,
        MAP + "f.block(x:3, y:5); f.tensorize(x:2, y:4);",
    ),
    "tiles wider than the size": (LEGAL, MAP + "f.tensorize(x:64, y:64);"),
    "a ragged tail in three levels": (
        LEGAL,
        MAP + "f.block(x:7); f.split(x:xi/3); f.tensorize(xi:2);",
    ),
    "a fused ragged tail": (LEGAL, TWO + "g.fuse_at(f, x); f.block(x:3); f.tensorize(x:2, y:4);"),
    "groups of blocks, the last one ragged": (
        LEGAL,
        MAP + "f.block(x:2, y:2); f.map(x:xg/2, y, xg);",
    ),
    "groups of one block, a halo": (
        LEGAL,
        STENCIL + "f.block(x:2); f.tensorize(x:0); f.map(x:xg/1, xg); g.fuse_at(f, x);",
    ),
    "a sum over nothing": (LEGAL, SUM + "total.tensorize(k:0, x:2);"),
    "a copy for a loop outside of what it divides": (
        LEGAL,
        PAIR.format("g[x]") + "f.split(x:xi/4); f.reorder(xi, x);",
    ),
    "a split of a split": (LEGAL, MAP + "f.split(x:xi/4, xi:xj/2); f.reorder(xj, x, y);"),
    "lanes of a loop whose inner loop stands outside": (
        LEGAL,
        SUM + "total.split(x:xi/3); total.reorder(xi, k, x); total.tensorize(x:2);",
    ),
    # Fusion.
    "a chain of four": (LEGAL, FIVE + ALL_FOUR + "f.block(x:2, y:3); f.tensorize(y:2);"),
    "a chain of four, loops traded": (LEGAL, FIVE + ALL_FOUR + "f.reorder(y, x);"),
    "a chain of three, one loop deeper each": (
        LATE,
        CHAIN + "c.fuse_at(f, x); b.fuse_at(f, y); a.fuse_at(b, y);",
    ),
    "a chain that widens, in blocks": (
        LEGAL,
        WIDENING + "c.fuse_at(f, x); b.fuse_at(c, x); a.fuse_at(b, x, recompute);"
        "f.block(x:3); f.tensorize(x:0);",
    ),
    "a chain that widens, in a loop": (AGAIN, WIDENING + "c.fuse_at(f, x);"),
    "a chain that widens, tile by tile": (
        AGAIN,
        WIDENING + "c.fuse_at(f, x); f.block(x:4); f.tensorize(x:2);",
    ),
    "a diamond at the outer loop": (
        LEGAL,
        DIAMOND + "p.fuse_at(f, y); q.fuse_at(f, x); g.fuse_at(f, x); f.block(x:2);",
    ),
    "a diamond in one side": (LATE, DIAMOND + "p.fuse_at(f, x); q.fuse_at(f, x); g.fuse_at(p, x);"),
    "a diamond with one side apart": (
        LEGAL,
        DIAMOND + "p.fuse_at(f, x); g.fuse_at(f, x); f.tensorize(y:2);",
    ),
    "several producers, each at its loop": (
        LEGAL,
        TOTALS + "g.fuse_at(f, x); h.fuse_at(f, x); f.block(x:2); f.tensorize(k:2, g.k:0);",
    ),
    "several producers, one in the inner loop": (
        AGAIN,
        TOTALS + "g.fuse_at(f, x); h.fuse_at(f, k);",
    ),
    "a reader in another kernel": (
        LEGAL,
        TWO + "Func h; h[x, y] = g[x, y]; h.compile(); g.fuse_at(f, y);",
    ),
    "two kernels, each with its copy": (
        LEGAL,
        TWO + "Func h; h[x, y] = g[x, y]; h.compile(); g.fuse_at(f, y); g.fuse_at(h, x);",
    ),
    "a read in two loops": (LATE, OUTSIDE + "g.fuse_at(f, y);"),
    "around both loops": (LEGAL, OUTSIDE + "g.fuse_at(f, x);"),
    "even and odd elements": (LEGAL, PAIR.format("g[2 * x] * g[2 * x + 1]")),
    "even elements and all": (AGAIN, PAIR.format("g[x] * pad(g, 0)[2 * x]")),
    "from the end": (LEGAL, PAIR.format("pad(g, 0)[3 - x]")),
    "from the end and from the start": (AGAIN, PAIR.format("g[x] * pad(g, 0)[3 - x]")),
    "a diagonal": (LEGAL, SQUARE),
    "a diagonal in tiles": (LEGAL, SQUARE + "f.tensorize(x:2);"),
    "a halo at the start of tiles": (
        LEGAL,
        STENCIL + "g.fuse_at(f, x); f.block(x:4); f.tensorize(x:0);",
    ),
    "a halo in a loop of tiles": (AGAIN, STENCIL + "g.fuse_at(f, x); f.tensorize(x:2);"),
    "what two iterations need, in tiles of a later block": (
        AGAIN,
        "Func f, g; In A; Var x, u; g[u] = exp(A[u]); f[x] = pad(g, 0)[x - 4] + pad(g, 0)[x - 3];"
        "f.compile(); g.fuse_at(f, x); f.block(x:3); f.tensorize(x:2);",
    ),
    "a halo, again on purpose": (
        LEGAL,
        STENCIL + "g.fuse_at(f, x, recompute); f.tensorize(x:2);",
    ),
    "recompute says nothing of what is fused below": (
        AGAIN,
        RENAMED + "g.fuse_at(f, x, recompute); h.fuse_at(g, u);",
    ),
    "a sum without the label of its loop": (
        AGAIN,
        "Func f, g; In A, B; Var x; RVar k; g[x] = A[x] * rsum(B[k], k); f[x] = g[x] * 2;"
        "f.compile(); g.fuse_at(f, x);",
    ),
    "lanes of the reader": (LEGAL, RENAMED + "g.fuse_at(f, x); f.tensorize(x:0); h.fuse_at(g, u);"),
    "tiles that start at a block of another label": (
        LEGAL,
        "Func f, g, h; In A, B; Var y; RVar x, k; h[x, y] = A[x, y];"
        "g[x, y] = h[x, y] + 1; f[y] = rsum(pad(g, 0)[x + y, y] * B[x, y], x); f.compile();"
        "h.fuse_at(g, x); g.fuse_at(f, y); f.block(y:1); f.tensorize(x:2, h.y:2);",
    ),
    "an inner loop outside, in lanes": (
        AGAIN,
        "Func f, g, h; In A, B, C; Var y; RVar x, k; h[k] = A[k]; g[] = rsum(h[k] * B[k], k);"
        "f[y] = rsum(g[] * C[x, y], x); f.compile(); h.fuse_at(g, k); g.fuse_at(f, x);"
        "f.split(x:xi/2); f.reorder(xi, x); f.tensorize(x:0);",
    ),
    "a loop that an inner sum brings before the outer one": (
        LEGAL,
        "Func f, g; In A, B; RVar x, y, k; g[k, x] = rsum(A[x, y], y) + k;"
        "f[] = rsum(g[k, x] * rsum(B[x, y], y), k, x); f.compile(); g.fuse_at(f, x);",
    ),
    "a label on both sides comes first in parts as well": (
        AGAIN,
        "Func f, g; In A, B; Var o; RVar l, m; f[o, m] = A[o, m];"
        "g[l, o] = reshape(rsum(reshape(f[o, m], 1, o, m) * reshape(B[l, m], l, 1, m), l, m), 1, o)"
        "* l; g.compile(); g.block(m:2); f.fuse_at(g, o);",
    ),
    # Inlining.
    "an inlined padded read that is never inside": (LEGAL, PADDED.format("0 - x - y - 1")),
    "an inlined padded read that is sometimes inside": (AGAIN, PADDED.format("2 * x - y - 3")),
    # Reductions.
    "attention": (LEGAL, ATTENTION + FUSED_4_4),
    "attention, its products in the inner loop": (
        AGAIN,
        ATTENTION + FUSED_4_4.replace("l:0", "l:2") + "attention.reorder(n, m);",
    ),
    "a product at its reduction loop": (
        LEGAL,
        TWO_PRODUCTS + "mm.fuse_at(_2mm, l); _2mm.reorder(l, n);",
    ),
    "a product again for each column": (AGAIN, TWO_PRODUCTS + "mm.fuse_at(_2mm, l);"),
    "parts of a fused product": (
        LEGAL,
        TWO_PRODUCTS + "_2mm.block(l:2); mm.fuse_at(_2mm, m); _2mm.tensorize(k:2);",
    ),
    "both labels of a sum in parts": (LEGAL, BOTH + "f.block(l:2, k:3); f.tensorize(k:2);"),
    "added in place": (LEGAL, BOTH + "f.block(k:2, x:2); f.atomic(k);"),
    "an inner sum in parts": (LEGAL, NESTED + "f.block(l:2);"),
    "nested sums, inside out": (LEGAL, NESTED + "f.block(x:2, k:2); f.reorder(l, x);"),
    "two sums over one label in parts": (LEGAL, TWO_SUMS + "f.block(k:2);"),
    "a label on both sides in blocks": (LEGAL, ON_BOTH_SIDES + "f.block(y:2); f.tensorize(y:0);"),
    "a norm in blocks of what it sums": (
        LEGAL,
        NORM + "norm.block(x:2, y:2); norm.tensorize(k:2);",
    ),
    "softmax over blocks of columns": (
        LEGAL,
        SOFTMAX + "softmax.block(x:2, y:2); total.fuse_at(softmax, x); softmax.tensorize(y:0);",
    ),
    "a total for each element": (AGAIN, SOFTMAX + "total.fuse_at(softmax, y);"),
    # Users' primitives.
    "loops traded": (LEGAL, TWO + "f.interchange(x); g.fuse_at(f, x); f.block(y:2);"),
    "a sum from its end": (LEGAL, SUM + "total.backwards(k); total.tensorize(x:2);"),
    "a skewed sum": (LEGAL, SUM + "total.skew(x, k);"),
    "loops of a split traded after a fusion": (
        LEGAL,
        TWO + "f.split(y:yi/2); g.fuse_at(f, yi); f.interchange(y);",
    ),
    "loops of a split traded back after a fusion": (
        LATE,
        TWO + "f.split(y:yi/2); f.reorder(yi, y); g.fuse_at(f, y); f.interchange(yi);"
        "f.upside_down();",
    ),
    "a fused loop distributed": (LEGAL, TWO + "g.fuse_at(f, x); f.distribute(x);"),
    "what is fused, upside down": (LATE, TWO + "g.fuse_at(f, x); f.upside_down();"),
    "a leaning loop around two": (LATE, TWO + "g.fuse_at(f, x); f.lean(x, y);"),
    "blocks after fusion, each for itself": (LEGAL, TWO + "g.fuse_at(f, x); f.spread(y:2);"),
    "blocks after fusion, a halo": (
        CROSSES,
        STENCIL + "g.fuse_at(f, x, recompute); f.spread(x:2);",
    ),
    "blocks after fusion, the second of two reads": (
        CROSSES,
        "Func f, g; In A; Var x; g[x] = A[x]; f[x] = g[x] * pad(g, 0)[x + 1]; f.compile();"
        "g.fuse_at(f, x, recompute); f.spread(x:2);",
    ),
    "blocks of what only a sum has": (LOST, SUM + "total.spread(k:2);"),
    "blocks of what a norm sums, after all": (CROSSES, NORM + "norm.spread(y:2);"),
    "the first of a loop only": (LOST, MAP + "f.shorten(x:2);"),
    "no loops": (LOST, TWO + "f.flatten();"),
    "the last statement left out": (LOST, SUM + "total.forget();"),
}

# Sizes at which much depends on where a tile starts: here two iterations need one element, and
# are in one tile.
AT = {"what two iterations need, in tiles of a later block": {"x": 6, "u": 1}}

# The steps of these reductions may not trade places.
ORDERED: dict[str, tuple[str, str]] = {
    "steps in order": (LEGAL, SUM + "total.block(x:2); total.split(k:ki/2); total.tensorize(x:0);"),
    "steps in lanes": (RACE, SUM + "total.tensorize(k:2);"),
    "steps in lanes, one lane": (LEGAL, SUM + "total.tensorize(k:1);"),
    "steps in parts": (LEGAL, SUM + "total.block(k:2);"),
    "parts in lanes": (RACE, SUM + "total.block(k:kb/2); total.tensorize(kb:0);"),
    "strided steps": (LATE, SUM + "total.split(k:ki/2); total.reorder(ki, k);"),
    "steps from the end": (LATE, SUM + "total.backwards(k);"),
    "lanes of a split loop that is split again": (
        LATE,
        SUM + "total.split(k:ki/3, ki:kj/2); total.tensorize(k:2);",
    ),
    "steps in one step, in lanes of others": (LEGAL, SUM + "total.tensorize(x:0);"),
}
