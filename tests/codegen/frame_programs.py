"""Programs with a maximum over two labels, and with sums that several maxima bring up to date."""

from collections.abc import Iterator, Mapping
from itertools import product

from dtpoly.algorithm.program import Program

NESTED = "In A; Var x; RVar y, z; top[x] = rmax(A[x, z, y], z, y);"
E = "exp(A[x, z, y] - reshape(top[x], x, 1, 1))"
LOG = f"f[x] = log(rsum({E}, z, y)) + top[x];"
BOTH = "In A, B; Var x; RVar y; top[x] = rmax(A[x, y], y); other[x] = rmax(B[x, y], y);"
EA, EB = "exp(A[x, y] - reshape(top[x], x, 1))", "exp(B[x, y] - reshape(other[x], x, 1))"
TILES = "f.block(x:2); f.tensorize(x:0, y:16); f.compile();"

# The loops of the maximum and of the sum are joined one inside of the other.
TWO_LABELS: Mapping[str, str] = {
    "one index at a time": (
        f"Func f, top; {NESTED} {LOG} top.online(f, z);f.block(x:2); f.tensorize(x:0); f.compile();"
    ),
    "tiles of the inner label": f"Func f, top; {NESTED} {LOG} top.online(f, z); {TILES}",
    "from the inner label": f"Func f, top; {NESTED} {LOG} top.online(f, y); {TILES}",
    "tiles of both": (
        f"Func f, top; {NESTED} {LOG} top.online(f, z);"
        "f.block(x:2); f.tensorize(x:0, y:16, z:2); f.compile();"
    ),
    "a sum that is stored": (
        f"Func f, top; {NESTED} f[x] = rsum({E}, z, y) * 3; top.online(f, z); {TILES}"
    ),
    "the largest, too": (
        f"Func f, top; {NESTED} {LOG} top.online(f, z);"
        "f.block(x:2); f.tensorize(x:0, y:16); f.compile(top);"
    ),
    "softmax": (
        f"Func f, top, e, total; {NESTED} e[x, z, y] = {E}; total[x] = rsum(e[x, z, y], z, y);"
        "f[x, z, y] = e[x, z, y] / reshape(total[x], x, 1, 1);"
        "e.inline(); total.fuse_at(f, x); top.online(total, z);" + TILES
    ),
    "a mean under softmax": (
        f"Func f, top, total; {NESTED} total[x] = rsum({E}, z, y);"
        f"f[x] = rsum({E} * A[x, z, y], z, y) / total[x];"
        f"top.online(f, z); total.online(f, z); {TILES}"
    ),
    "from below": (
        "Func f, low; In A; Var x; RVar y, z; low[x] = rmin(A[x, z, y], z, y);"
        "f[x] = log(rsum(exp(reshape(low[x], x, 1, 1) - A[x, z, y]), z, y)) - low[x];"
        f"low.online(f, z); {TILES}"
    ),
    "three labels": (
        "Func f, top; In A; Var x; RVar w, y, z; top[x] = rmax(A[x, w, z, y], w, z, y);"
        "f[x] = log(rsum(exp(A[x, w, z, y] - reshape(top[x], x, 1, 1, 1)), w, z, y)) + top[x];"
        f"top.online(f, w); {TILES}"
    ),
    "a scale": (
        "Func f, top, total; In A; Var x; RVar y, z; top[x] = rmax(A[x, z, y] * 0.125, z, y);"
        "total[x] = rsum(exp(A[x, z, y] * 0.125 - reshape(top[x], x, 1, 1)), z, y);"
        "f[x] = rsum(exp(A[x, z, y] * 0.125 - reshape(top[x], x, 1, 1)) * A[x, z, y], z, y)"
        f"/ total[x]; top.online(f, z); total.online(f, z); {TILES}"
    ),
}
# A sum goes on with two maxima, h(m) k(n), or more.
TWO_FRAMES: Mapping[str, str] = {
    "a product of exponentials": (
        f"Func f, top, other; {BOTH} f[x] = log(rsum({EA} * {EB}, y)) + top[x] + other[x];"
        f"top.online(f, y); other.online(f, y); {TILES}"
    ),
    "an exponential of both": (
        f"Func f, top, other; {BOTH}"
        "f[x] = log(rsum(exp(A[x, y] - reshape(top[x], x, 1) + B[x, y]"
        "- reshape(other[x], x, 1)), y)) + top[x] + other[x];"
        f"top.online(f, y); other.online(f, y); {TILES}"
    ),
    "one index at a time": (
        f"Func f, top, other; {BOTH} f[x] = log(rsum({EA} * {EB}, y)) + top[x] + other[x];"
        "top.online(f, y); other.online(f, y); f.block(x:2); f.compile();"
    ),
    "a sum that is stored": (
        f"Func f, top, other; {BOTH} f[x] = rsum({EA} * {EB}, y);"
        f"top.online(f, y); other.online(f, y); {TILES}"
    ),
    "a half of one": (
        f"Func f, top, other; {BOTH}"
        "f[x] = log(rsum(exp((A[x, y] - reshape(top[x], x, 1)) * 0.5) * "
        f"{EB}, y)) + top[x] * 0.5 + other[x]; top.online(f, y); other.online(f, y); {TILES}"
    ),
    "a maximum and a minimum": (
        "Func f, top, low; In A, B; Var x; RVar y;"
        "top[x] = rmax(A[x, y], y); low[x] = rmin(B[x, y], y);"
        f"f[x] = log(rsum({EA} * exp(reshape(low[x], x, 1) - B[x, y]), y)) + top[x] - low[x];"
        f"top.online(f, y); low.online(f, y); {TILES}"
    ),
    "a quotient of sums": (
        f"Func f, top, other, total; {BOTH} total[x] = rsum({EA} * {EB}, y);"
        f"f[x] = rsum({EA} * {EB} * A[x, y], y) / total[x];"
        f"top.online(f, y); other.online(f, y); total.online(f, y); {TILES}"
    ),
    "three maxima": (
        f"Func f, top, other, last; {BOTH.replace('In A, B', 'In A, B, C')}"
        "last[x] = rmax(C[x, y], y);"
        f"f[x] = log(rsum({EA} * {EB} * exp(C[x, y] - reshape(last[x], x, 1)), y))"
        "+ top[x] + other[x] + last[x];"
        f"top.online(f, y); other.online(f, y); last.online(f, y); {TILES}"
    ),
    "two maxima over two labels": (
        "Func f, top, other; In A, B; Var x; RVar y, z;"
        "top[x] = rmax(A[x, z, y], z, y); other[x] = rmax(B[x, z, y], z, y);"
        f"f[x] = log(rsum({E} * exp(B[x, z, y] - reshape(other[x], x, 1, 1)), z, y))"
        f"+ top[x] + other[x]; top.online(f, z); other.online(f, z); {TILES}"
    ),
}
FRAMED: Mapping[str, str] = {
    **{f"two labels, {name}": given for name, given in TWO_LABELS.items()},
    **{f"two frames, {name}": given for name, given in TWO_FRAMES.items()},
}
SIZES = (0, 1, 15, 17, 37)
FEW = (0, 1, 3)


def sizes_of(of: Program) -> Iterator[dict[str, int]]:
    """Yield sizes around the tiles of one of the programs."""
    for y, few in product(SIZES, FEW):
        known = {"x": few, "y": y, "z": few, "w": 2}
        yield {label.name: known[label.name] for label in of.labels}
