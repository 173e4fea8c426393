"""Index reductions in parts: `.dt` files by name, for tests on a CPU and on a GPU."""

from dtpoly.algorithm.dtypes import DType
from tests.codegen.inputs import Data, Layout, Recipe

START = "Func f; In A; Var x; RVar k;"
# In parts of 64, each of which has a best value and its index.
PARTED = {
    "one row at a time": (
        f"{START} f[x] = rargmax(A[x, k], k);"
        "f.block(x:1, k:p/64); f.tensorize(k:16, p:0); f.compile();"
    ),
    "the smallest of several rows": (
        f"{START} f[x] = rargmin(A[x, k], k);"
        "f.block(x:4, k:p/64); f.tensorize(x:0, k:32, p:8); f.compile();"
    ),
    "columns": (
        f"{START} f[x] = rargmax(A[k, x], k);"
        "f.block(x:8, k:p/64); f.tensorize(x:0, k:1, p:0); f.compile();"
    ),
    "index by index": (f"{START} f[x] = rargmax(A[x, k], k); f.block(x:1, k:p/64); f.compile();"),
    "of what is computed, and used further": (
        f"{START} f[x] = 2 * rargmax(abs(A[x, k]) - A[x, 0], k) + 1;"
        "f.block(x:2, k:p/64); f.tensorize(x:0, k:32, p:0); f.compile();"
    ),
    "beside another reduction": (
        f"{START} f[x] = rargmax(A[x, k], k) + rsum(A[x, k], k) * 0;"
        "f.block(x:2, k:p/64); f.tensorize(x:0, k:64, p:0); f.compile();"
    ),
    "of bytes": (
        f"{START.replace('A;', 'A: u8;')} f[x] = rargmax(A[x, k], k);"
        "f.block(x:1, k:p/64); f.tensorize(k:16, p:0); f.compile();"
    ),
    "in memory": (
        f"{START} f[x] = rargmin(A[x, k], k);"
        "f.block(x:4, k:p/64); f.reorder(k, x); f.tensorize(k:16); f.compile();"
    ),
    "of sums": (
        "Func f, g; In A; Var x; RVar k, l; g[x, k] = rsum(A[x, k + l], l);"
        "f[x] = rargmax(g[x, k], k); g.fuse_at(f, k);"
        "f.block(x:2, k:p/64); f.tensorize(x:0, k:32, p:0); f.compile();"
    ),
}
RECIPES = [
    Recipe(1, DType.F32, Layout.PLAIN, Data.ASCENDING),
    Recipe(2, DType.BF16, Layout.SLICED, Data.RANDOM),
    Recipe(3, DType.F16, Layout.TRANSPOSED, Data.ASCENDING),
    Recipe(4, DType.F64, Layout.EXPANDED, Data.BELOW_ZERO),
]


def sizes_of(name: str, x: int, k: int) -> dict[str, int]:
    """Return the sizes of a call; sums have three elements each."""
    return {"x": x, "k": k, **({"l": 3} if "RVar k, l" in PARTED[name] else {})}
