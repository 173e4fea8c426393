"""Programs with sums of squared deviations that go on with the mean so far: `mean.online(f, y)`."""

from collections.abc import Mapping

ROWS = "In A; Var x; RVar y; mean[x] = rsum(A[x, y], y) / len(y);"
SQUARES = "rsum(pow(A[x, y] - reshape(mean[x], x, 1), 2), y)"
TILES = "f.block(x:2); f.tensorize(x:0, y:16); f.compile();"
VARIANCE = f"Func f, mean; {ROWS} f[x] = {SQUARES} / len(y); mean.online(f, y);"
NORM = (
    f"Func f, mean, variance; {ROWS} variance[x] = {SQUARES} / len(y);"
    "f[x, y] = (A[x, y] - reshape(mean[x], x, 1)) * reshape(rsqrt(variance[x] + 0.1), x, 1);"
    "variance.fuse_at(f, x); mean.online(variance, y);"
)
OF_MEANS: Mapping[str, str] = {
    "variance": VARIANCE + TILES,
    "variance, one row a program": VARIANCE + "f.block(x:1); f.tensorize(y:16); f.compile();",
    "variance, one index at a time": VARIANCE + "f.block(x:2); f.compile();",
    "standard deviation and mean": (
        f"Func f, mean; {ROWS} f[x] = sqrt({SQUARES} / (len(y) - 1)); mean.online(f, y);"
        + TILES.replace("compile()", "compile(mean)")
    ),
    "a layer normalization": NORM + TILES,
    "a product of deviations": (
        f"Func f, mean, d; {ROWS} d[x, y] = A[x, y] - reshape(mean[x], x, 1);"
        f"f[x] = rsum(d[x, y] * d[x, y], y) / len(y); d.inline(); mean.online(f, y); {TILES}"
    ),
    "a sum that is divided where it is read": (
        "Func f, mean, sum; In A; Var x; RVar y; sum[x] = rsum(A[x, y], y);"
        f"mean[x] = sum[x] / len(y); f[x] = {SQUARES} / len(y);"
        f"mean.inline(); sum.online(f, y); {TILES}"
    ),
    "of columns": (
        "Func f, mean; In A; Var y; RVar x; mean[y] = rsum(A[x, y], x) / len(x);"
        "f[y] = rsum(pow(A[x, y] - mean[y], 2), x) / len(x); mean.online(f, x);"
        "f.block(y:16); f.tensorize(y:0, x:2); f.compile();"
    ),
    "of exponentials": (
        "Func f, mean; In A; Var x; RVar y; mean[x] = rsum(exp(A[x, y]), y) / len(y);"
        "f[x] = rsum(pow(exp(A[x, y]) - reshape(mean[x], x, 1), 2), y) / len(y);"
        f"mean.online(f, y); {TILES}"
    ),
    "of differences": (
        "Func f, mean; In A, B; Var x; RVar y; mean[x] = rsum(A[x, y] - B[x, y], y) / len(y);"
        "f[x] = rsum(pow(A[x, y] - B[x, y] - reshape(mean[x], x, 1), 2), y) / len(y);"
        f"mean.online(f, y); {TILES}"
    ),
    "of a deviation and its square": (
        f"Func f, mean, d; {ROWS} d[x, y] = reshape(mean[x], x, 1) - A[x, y];"
        "f[x] = rsum(0.5 * d[x, y] * d[x, y] - 3 * d[x, y] + 2, y); d.inline();"
        f"mean.online(f, y); {TILES}"
    ),
}
