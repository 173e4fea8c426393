"""Random bits as kernels draw them: `.dt` files by name, for tests on a CPU and on a GPU.

Their results are whole numbers, so each must be that of the reference.
"""

# Seeds and counters of few bits become some of all 64: products wrap.
WIDE = "7046029254386353131"
BY_LABELS = "Func f; In A: i64; SIn seed: i64; Var x, y;"
DRAWN = {
    "seeds and counters of each element": (
        "Func f; In S: i64, X: i64, Y: i64; Var x;"
        f"f[x] = random_bits(S[x] * {WIDE}, X[x] * {WIDE}, Y[x] * {WIDE});"
        "f.block(x:256); f.tensorize(x:0); f.compile();"
    ),
    "small seeds and counters": (
        "Func f; In S: i64, X: i64, Y: i64; Var x; f[x] = random_bits(S[x], X[x], Y[x]);"
        "f.block(x:64); f.tensorize(x:16); f.num_warps(1); f.compile();"
    ),
    "counted by labels": (
        f"{BY_LABELS} f[x, y] = random_bits(seed, x, y) ^ A[x, y];"
        "f.block(x:4, y:64); f.tensorize(x:0, y:0); f.num_warps(8); f.compile();"
    ),
    "a row at a time": (
        f"{BY_LABELS} f[x, y] = random_bits(seed * {WIDE}, x, y) ^ A[x, y];"
        "f.block(x:1); f.tensorize(x:0, y:128); f.compile();"
    ),
    "element by element": (
        f"{BY_LABELS} f[x, y] = random_bits(seed, y, x) ^ A[x, y]; f.block(x:1); f.compile();"
    ),
    "three labels": (
        "Func f; In A: i64; SIn seed: i64; Var w, x, y;"
        "f[w, x, y] = A[w, x, y] ^ random_bits(seed, w, x, y);"
        "f.block(w:1, x:2, y:64); f.tensorize(w:0, x:0, y:0); f.compile();"
    ),
    "a seed that was drawn": (
        f"{BY_LABELS} f[x, y] = random_bits(random_bits(seed, x, 5), y, A[x, y]);"
        "f.block(x:2, y:128); f.tensorize(x:0, y:0); f.compile();"
    ),
    "summed in parts": (
        "Func f; In A: i64; SIn seed: i64; Var x; RVar k;"
        "f[x] = rsum(random_bits(seed, x, k) ^ A[x, k], k);"
        "f.block(x:2, k:p/256); f.tensorize(x:0, k:64, p:0); f.compile();"
    ),
}
SIZES = ((1, 1), (5, 203), (37, 1025))


def sizes_of(name: str, x: int, y: int) -> dict[str, int]:
    """Return the sizes of a call with about as many rows and columns."""
    first = DRAWN[name].partition("f[")[2].partition("]")[0]
    labels = [one.strip() for one in first.split(",")]
    if "RVar k" in DRAWN[name]:
        return {"x": x, "k": y}
    return {1: {"x": x * y}, 2: {"x": x, "y": y}, 3: {"w": 3, "x": x, "y": y}}[len(labels)]
