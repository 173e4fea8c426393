"""Texts of random programs whose kernels may store a result in the loop of another one."""

from random import Random

# What is reduced, what is stored besides, and the labels of each.
ALGORITHMS = (
    "f[y] = rsum(A[x, y], x); g[x, y] = A[x, y] * 2;",
    "f[y] = rsum(A[x, y] + g[x, y], x); g[x, y] = A[x, y] * 2;",
    "f[y] = rsum(A[x, y], x); r[x] = rsum(A[x, k], k); g[x, y] = A[x, y] * reshape(r[x], x, 1);",
    "f[y] = rsum(A[x, y], x) + rmax(A[x, y], x); g[x, y] = A[x, y] * 2;",
    "f[y] = rsum(A[x, y] * rsum(A[x, k], k), x); g[x, y] = A[x, y] * 2;",
    "f[y] = rsum(A[x, y], x); g[x] = rmax(A[x, k], k);",
    "f[] = rsum(A[x, k], x, k); g[x, k] = A[x, k] * 2;",
    "f[] = rsum(A[x, k], x, k); g[k] = rsum(A[x, k], x);",
    "f[y] = rsum(A[x, y], x); g[x, y] = rsum(A[x, k], k) * 2;",
    "f[y] = rsum(A[x, y], x); g[y, x] = A[x, y] * 2;",
    "f[y, z] = rsum(A[x, y] * A[x, z], x); g[x, y] = A[x, y] * 2;",
    "f[y] = rsum(A[x, y], x); r[y] = rmax(A[x, y], x); g[x, y] = A[x, y] * 2;",
    "f[y] = rsum(A[x, y] * g[x, y], x); r[y] = rprod(A[x, y], x); g[x, y] = A[x, y] * 2;",
    "f[y] = rsum(A[x, y], x); r[y] = rargmax(A[x, y], x); g[x, y] = A[x, y] * 2;",
)
LOOPS = ("x", "y", "k", "z", "xi")
NUMBERS = (1, 2, 3, 4)
TILES = (0, 1, 2, 4)


def along_text(random: Random) -> str:
    """Return the text of a random program, which may have mistakes."""
    algorithm = random.choice(ALGORITHMS)
    has_rows, has_other = "r[x]" in algorithm, "r[y]" in algorithm
    # A Func is defined before those that read it.
    defined = [f"{one};" for one in algorithm.rstrip(";").split("; ")]
    first = [one for one in defined if not one.startswith("f")]
    text = " ".join((*first, *(one for one in defined if one.startswith("f"))))
    names = "f, g, r" if has_rows or has_other else "f, g"
    labels = [one for one in LOOPS if one in {"x", "y", "k", "z"} and f"{one}" in text]
    said = [f"Func {names}; In A; RVar {', '.join(labels)}; {text}"]
    said.append(f"g.fuse_at(f, {random.choice(('x', 'x', 'x', *LOOPS))}{_again(random)});")
    if has_rows and random.random() < 0.8:
        said.append(f"r.fuse_at({random.choice('ggf')}, {random.choice('xxy')}{_again(random)});")
    if has_other:
        said.append(f"r.fuse_at(f, {random.choice('yyyx')}{_again(random)});")
    own = [one for one in labels if f"[{one}" in text.split("f[", 1)[1].split("]")[0]]
    blocks = [f"{one}:{random.choice(NUMBERS)}" for one in ("y", "z") if one in own]
    blocks = [one for one in blocks if random.random() < 0.4]
    parts = _parts(random, own, "x" if random.random() < 0.8 or "k" not in labels else "k")
    said += [f"f.block({', '.join((*blocks, *parts))});"] if blocks or parts else []
    tiled = [*labels, *(["p"] if "p/" in str(parts) else [])]
    tiles = [f"{one}:{random.choice(TILES)}" for one in tiled if random.random() < 0.7]
    split = random.random() < 0.25
    said += [f"f.split(x:xi/{random.choice((2, 3))});"] if split else []
    loops = [*labels, *(["xi"] if split else [])]
    if random.random() < 0.3 and len(loops) > 1:
        said.append(
            f"f.reorder({', '.join(random.sample(loops, random.choice((2, len(loops)))))});"
        )
    said += [f"f.tensorize({', '.join(tiles)});"] if tiles else []
    others = ", r" if has_other else ""
    said.append(random.choice((f"f.compile(g{others});", f"g.compile(f{others});")))
    return " ".join(said)


def _parts(random: Random, own: list[str], label: str) -> list[str]:
    """Return parts of a label that is reduced over, and blocks of the kernel that merges them."""
    if random.random() < 0.55:
        return []
    if random.random() < 0.25:
        return [f"{label}:{random.choice(NUMBERS)}"]
    merged = [f"p.{one}:{random.choice(NUMBERS)}" for one in own if random.random() < 0.3]
    return [f"{label}:p/{random.choice(NUMBERS)}", *merged]


def _again(random: Random) -> str:
    return ", recompute" if random.random() < 0.15 else ""
