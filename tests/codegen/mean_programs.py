"""Programs with sums of squared deviations that go on with the mean so far: `mean.online(f, y)`."""

from collections.abc import Mapping
from random import Random

ROWS = "In A; Var x; RVar y; mean[x] = rsum(A[x, y], y) / len(y);"
SQUARES = "rsum(pow(A[x, y] - reshape(mean[x], x, 1), 2), y)"
CUBES, FOURTHS = SQUARES.replace("2)", "3)"), SQUARES.replace("2)", "4)")
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
    "a third central moment": (
        f"Func f, mean; {ROWS} f[x] = {CUBES} / len(y); mean.online(f, y); {TILES}"
    ),
    "a third central moment, one index at a time": (
        f"Func f, mean; {ROWS} f[x] = {CUBES} / len(y); mean.online(f, y);"
        "f.block(x:2); f.compile();"
    ),
    "a fourth central moment": (
        f"Func f, mean; {ROWS} f[x] = {FOURTHS} / len(y); mean.online(f, y); {TILES}"
    ),
    "a skewness": (
        f"Func f, mean, variance; {ROWS} variance[x] = {SQUARES} / len(y);"
        f"f[x] = {CUBES} / len(y) * pow(rsqrt(variance[x] + 0.1), 3);"
        f"mean.online(f, y); variance.online(f, y); {TILES}"
    ),
    "a kurtosis": (
        f"Func f, mean, variance; {ROWS} variance[x] = {SQUARES} / len(y);"
        f"f[x] = {FOURTHS} / len(y) / pow(variance[x] + 0.1, 2);"
        f"mean.online(f, y); variance.online(f, y); {TILES}"
    ),
    "powers with factors": (
        f"Func f, mean, d; {ROWS} d[x, y] = reshape(mean[x], x, 1) - A[x, y];"
        "f[x] = rsum(d[x, y] * d[x, y] * (2 - 0.5 * d[x, y]) + pow(d[x, y], 4) * 0.25 - 3, y);"
        f"d.inline(); mean.online(f, y); {TILES}"
    ),
    "cubes of exponentials of columns": (
        "Func f, mean; In A; Var y; RVar x; mean[y] = rsum(exp(A[x, y]), x) / len(x);"
        "f[y] = rsum(pow(exp(A[x, y]) - mean[y], 3), x) / len(x); mean.online(f, x);"
        "f.block(y:16); f.tensorize(y:0, x:2); f.compile();"
    ),
}


def of(value: str, mean: str = "rsum(A[x, y], y) / len(y)", more: str = "") -> str:
    """Return a program that sums a value of each element beside a mean."""
    return (
        f"Func f, mean; In A, B; Var x; RVar y{more}; mean[x] = {mean};"
        f"f[x] = rsum({value}, y); mean.online(f, y); {TILES}"
    )


DEVIATION = "A[x, y] - reshape(mean[x], x, 1)"
# What is refused, and a part of the reason.
REFUSED_MEANS: Mapping[str, tuple[str, str]] = {
    "a fifth power": (of(f"({DEVIATION}) * pow({DEVIATION}, 4)"), "not higher powers"),
    "a sixth power": (of(f"pow(pow({DEVIATION}, 2), 3)"), "not higher powers"),
    "weights of cubes": (
        of(f"B[x, y] * pow({DEVIATION}, 3)"),
        "no sum of powers of deviations from it",
    ),
    "a distance": (of(f"abs({DEVIATION})"), "no sum of powers of deviations from it"),
    "an exponential": (of(f"exp({DEVIATION})"), "no sum of powers of deviations from it"),
    "weights": (of(f"B[x, y] * pow({DEVIATION}, 2)"), "no sum of powers of deviations from it"),
    "a product with another value": (
        of(f"({DEVIATION}) * B[x, y]"),
        "no sum of powers of deviations from it",
    ),
    "deviations of something else": (
        of("pow(B[x, y] - reshape(mean[x], x, 1), 2)"),
        "no sum of powers of deviations from it",
    ),
    "deviations of twice the elements": (
        of("pow(2 * A[x, y] - reshape(mean[x], x, 1), 2)"),
        "no sum of powers of deviations from it",
    ),
    "the mean alone": (
        of("A[x, y] * reshape(mean[x], x, 1)"),
        "no sum of powers of deviations from it",
    ),
    "a mask of the squares": (
        of(f"where(B[x, y] > 0, pow({DEVIATION}, 2), 0)"),
        "no sum of powers of deviations from it",
    ),
    "a mean of masked elements": (
        of(f"pow({DEVIATION}, 2)", "rsum(where(B[x, y] > 0, A[x, y], 0), y) / len(y)"),
        "no sum of powers of deviations from it",
    ),
    "a mean of some elements": (
        of(f"pow({DEVIATION}, 2)", more=" in [0, x + 1)"),
        "do not go over all of its elements",
    ),
    "a divisor that is another size": (
        of(f"pow({DEVIATION}, 2)", "rsum(A[x, y], y) / len(x)"),
        "do not go over all of its elements",
    ),
    "a maximum of deviations": (
        of(DEVIATION).replace("rsum(A[x, y] - ", "rmax(A[x, y] - "),
        "depends on it, and is no sum over rows",
    ),
    "a divisor that is one less": (
        of(f"pow({DEVIATION}, 2)", "rsum(A[x, y], y) / (len(y) - 1)"),
        "between the loops, something else is computed from its result",
    ),
    "whole numbers": (
        of(f"pow({DEVIATION.replace('A[x, y]', 'cast(A[x, y], f32)')}, 2)").replace(
            "In A, B;", "In A: i32, B;"
        ),
        "between the loops, something else is computed from its result",
    ),
    "other tiles": (
        of(f"pow({DEVIATION}, 2)").replace("y:16)", "y:16, mean.y:8)"),
        "do not go over the same indices in the same tiles",
    ),
    "one index at a time beside tiles": (
        of(f"pow({DEVIATION}, 2)").replace("y:16)", "y:16, mean.y:1)"),
        "do not go over the same indices in the same tiles",
    ),
    "a maximum beside the mean": (
        "Func f, mean, top; In A; Var x; RVar y; mean[x] = rsum(A[x, y], y) / len(y);"
        "top[x] = rmax(A[x, y], y);"
        "f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)) * pow(A[x, y] - reshape(mean[x], x, 1),"
        f"2), y); top.online(f, y); mean.online(f, y); {TILES}",
        "no sum of powers of deviations from it",
    ),
}

ELEMENTS = (
    "A[x, y]",
    "A[x, y] * B[x, y]",
    "exp(A[x, y] * 0.1)",
    "A[x, y] - B[x, y]",
    "abs(A[x, y])",
)
SUMS = (
    *("pow({d}, 2)", "({d}) * ({d})", "({d}) * ({d}) * 0.5 - ({d})", "-pow({d}, 2) + 1"),
    *("pow(2 * ({d}), 2) / 4", "3 * ({d})", "(({d}) + 1) * (({d}) - 1)"),
    *("pow({d}, 3)", "({d}) * pow({d}, 2) * 0.5 - pow({d}, 2)", "pow({d}, 4) - 2 * pow({d}, 3)"),
)


def drawn(seed: int) -> str:
    """Return a random program with a sum of powers of deviations: of rows, or of columns."""
    random = Random(f"means {seed}")
    element, square = random.choice(ELEMENTS), random.choice(SUMS)
    is_column = random.random() < 0.3
    kept, label = ("y", "x") if is_column else ("x", "y")
    read = "mean[y]" if is_column else "reshape(mean[x], x, 1)"
    value = random.choice((f"{element} - {read}", f"{read} - ({element})"))
    inputs = "A, B" if "B[" in element else "A"
    block, lanes = random.choice((1, 2, 4)), random.choice((0, 2, 4, 16))
    tiles = f"f.tensorize({kept}:0, {label}:{lanes});" if lanes else ""
    mean = f"rsum({element}, {label})"
    funcs, sum_of = "f, mean", f"mean[{kept}] = {mean} / len({label}); mean.online(f, {label});"
    if random.random() < 0.3:
        funcs = "f, mean, sum"
        sum_of = (
            f"sum[{kept}] = {mean}; mean[{kept}] = sum[{kept}] / len({label});"
            f"mean.inline(); sum.online(f, {label});"
        )
    more = "mean" if random.random() < 0.3 and "sum" not in funcs else ""
    return (
        f"Func {funcs}; In {inputs}; Var {kept}; RVar {label}; {sum_of}"
        f"f[{kept}] = rsum({square.format(d=value)}, {label});"
        f"f.block({kept}:{block}); {tiles} f.compile({more});"
    )
