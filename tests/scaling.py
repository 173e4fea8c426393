"""Programs that grow: for each family and each n a valid program, or one that is beyond a limit."""

import itertools
from collections.abc import Callable


def _file(funcs: str, inputs: str, labels: str, body: str, reduced: str = "") -> str:
    more = f"RVar {reduced};" if reduced else ""
    return f"Func {funcs};\nIn {inputs};\nVar {labels};\n{more}\n{body}\n"


def chain(n: int) -> str:
    """A chain of n Funcs, each a kernel of its own."""
    names = [f"f{at}" for at in range(n)]
    body = "f0[x] = A[x] + 1;\n"
    body += "".join(f"{two}[x] = {one}[x] * 2;\n" for one, two in itertools.pairwise(names))
    last = names[-1]
    schedule = f"{last}.block(x:64); {last}.tensorize(x:64); {last}.compile();"
    return _file(", ".join(names), "A", "x", body + schedule)


def fused(n: int) -> str:
    """A chain of n Funcs in one kernel; each is read twice."""
    names = [f"f{at}" for at in range(n)]
    body = "f0[x] = A[x] + 1;\n"
    body += "".join(f"{two}[x] = {one}[x] * {one}[x];\n" for one, two in itertools.pairwise(names))
    last = names[-1]
    body += f"{last}.block(x:64); {last}.tensorize(x:64); {last}.compile();\n"
    body += "".join(f"{one}.fuse_at({last}, x);\n" for one in names[:-1])
    return _file(", ".join(names), "A", "x", body)


def inlined(n: int) -> str:
    """A chain of n Funcs that are inlined; each is read twice, so that parts double."""
    return fused(n).replace(f".fuse_at(f{n - 1}, x)", ".inline()")


def operands(n: int) -> str:
    """A sum of n tensors."""
    names = [f"A{at}" for at in range(n)]
    value = " + ".join(f"{one}[x]" for one in names)
    return _file("f", ", ".join(names), "x", f"f[x] = {value};\nf.block(x:64); f.compile();")


def affine(n: int) -> str:
    """A sum of n reads of one tensor at affine indices."""
    value = " + ".join(f"A[{at + 1}*x + {at * 7 + 1}*y + {at}]" for at in range(n))
    return _file("f", "A", "x, y", f"f[x, y] = {value};\nf.compile();")


def shifted(n: int) -> str:
    """A stencil of n points through pad."""
    value = " + ".join(f"pad(A, 0)[x + {at}, y - {at}]" for at in range(n))
    schedule = "f.block(x:8, y:16); f.tensorize(x:8, y:16); f.compile();"
    return _file("f", "A", "x, y", f"f[x, y] = {value};\n{schedule}")


def choices(n: int) -> str:
    """n choices inside of each other."""
    value = "0.0"
    for at in range(n):
        value = f"where(A[x] > {at}, A[x] * {at}, {value})"
    return _file("f", "A", "x", f"f[x] = {value};\nf.block(x:64); f.tensorize(x:64); f.compile();")


def places(n: int) -> str:
    """n choices by index inside of each other."""
    value = "0.0"
    for at in range(n):
        value = f"where(x >= {at}, A[x], {value})"
    return _file("f", "A", "x", f"f[x] = {value};\nf.block(x:64); f.tensorize(x:64); f.compile();")


def powers(n: int) -> str:
    """n powers of each other."""
    value = "A[x]"
    for _ in range(n):
        value = f"pow({value}, 9)"
    return _file("f", "A", "x", f"f[x] = {value};\nf.compile();")


def rank(n: int) -> str:
    """A tensor of n axes, without a schedule."""
    labels = ", ".join(f"x{at}" for at in range(n))
    return _file("f", "A", labels, f"f[{labels}] = A[{labels}] * 2;\nf.compile();")


def tiled_rank(n: int) -> str:
    """A tensor of n axes, each in blocks and tiles of two."""
    labels = [f"x{at}" for at in range(n)]
    listed, sizes = ", ".join(labels), ", ".join(f"{one}:2" for one in labels)
    schedule = f"f.block({sizes}); f.tensorize({sizes}); f.compile();"
    return _file("f", "A", listed, f"f[{listed}] = A[{listed}] * 2;\n{schedule}")


def reductions(n: int) -> str:
    """A sum of n reductions, each over a label of its own."""
    labels = [f"k{at}" for at in range(n)]
    value = " + ".join(f"rsum(A[x, {one}], {one})" for one in labels)
    return _file("f", "A", "x", f"f[x] = {value};\nf.compile();", ", ".join(labels))


def together(n: int) -> str:
    """One reduction over n labels."""
    labels = ", ".join(f"k{at}" for at in range(n))
    return _file("f", "A", "x", f"f[x] = rsum(A[x, {labels}], {labels});\nf.compile();", labels)


def outputs(n: int) -> str:
    """n Funcs that are all compiled, with five directives each."""
    names = [f"f{at}" for at in range(n)]
    body = "".join(f"{one}[x, y] = A[x, y] * {at + 2};\n" for at, one in enumerate(names))
    body += "".join(
        f"{one}.block(x:16, y:32); {one}.tensorize(x:16, y:32); {one}.map(y, x); "
        f"{one}.num_warps(4); {one}.compile();\n"
        for one in names
    )
    return _file(", ".join(names), "A", "x, y", body)


def symbols(n: int) -> str:
    """One expression of n operations."""
    value = " * ".join(f"(A[x] + {at})" for at in range(n))
    return _file("f", "A", "x", f"f[x] = {value};\nf.block(x:64); f.tensorize(x:64); f.compile();")


def coefficients(n: int) -> str:
    """A fused Func of several labels that is read at n indices with unlike coefficients."""
    reads = [f"g[x + {37 - at}*y + {41 + at}*z, y + {43 + at}*z, z]" for at in range(n)]
    value = " + ".join([*reads, "g[y + 31*x, z + 29*x, x + 23*y]"])
    where = "f.block(x:37, y:41, z:43); f.tensorize(x:16, y:16, z:16);"
    body = f"g[x, y, z] = A[x, y, z] * 2;\nf[x, y, z] = {value};\n{where}\n"
    return _file("f, g", "A", "x, y, z", f"{body}g.fuse_at(f, z, recompute); f.compile();")


Family = Callable[[int], str]
# The n of each run of the tests, and the largest that the campaign tries.
FAMILIES: dict[str, tuple[Family, int, int]] = {
    "chain": (chain, 30, 2_000),
    "fused": (fused, 12, 200),
    "inlined": (inlined, 10, 60),
    "operands": (operands, 40, 600),
    "affine": (affine, 6, 200),
    "shifted": (shifted, 6, 100),
    "choices": (choices, 20, 60),
    "places": (places, 12, 60),
    "powers": (powers, 20, 60),
    "rank": (rank, 8, 64),
    "tiled rank": (tiled_rank, 6, 64),
    "reductions": (reductions, 6, 60),
    "together": (together, 6, 60),
    "outputs": (outputs, 10, 400),
    "symbols": (symbols, 60, 5_000),
    "coefficients": (coefficients, 1, 8),
}
