"""Programs whose scans go through parts of their rows, each in a program of its own."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.source import Source

PART, TILE = 32, 16
SCHEDULE = f"f.block(x:1, t:p/{PART}); f.tensorize(x:0, t:{TILE}, p:2); f.compile();"


def rows(body: str, inputs: str = "A", schedule: str = SCHEDULE) -> str:
    """Return a scan along rows, with a schedule."""
    return f"Func f; In {inputs}; Var x, t; RVar s; f[x, t] = {body}; {schedule}"


IN_PARTS: Mapping[str, str] = {
    "sums": rows("scan_sum(A[x, s], s, t)"),
    "sums before": rows("scan_sum(A[x, s], s, t, before)"),
    "sums from the end": rows("scan_sum(A[x, s], s, t, reverse)"),
    "sums behind": rows("scan_sum(A[x, s], s, t, before, reverse)"),
    "products": rows("scan_prod(A[x, s], s, t)"),
    "largest": rows("scan_max(A[x, s], s, t)"),
    "largest before": rows("scan_max(A[x, s], s, t, before)"),
    "smallest from the end": rows("scan_min(A[x, s], s, t, reverse)"),
    "sums of some": rows("scan_sum(where(M[x, s] > 0, A[x, s], 0), s, t)", "A, M"),
    "sums of whole numbers": rows("scan_sum(A[x, s], s, t)", "A: i8"),
    "largest of whole numbers": rows("scan_max(A[x, s], s, t, before)", "A: i32"),
    "counts": rows("scan_sum(A[x, s] > 0, s, t)"),
    "something beside": rows("scan_sum(A[x, s], s, t) * B[t] + A[x, t]", "A, B"),
    "two scans": rows("scan_sum(A[x, s], s, t) - scan_max(B[x, s], s, t, before)", "A, B"),
    "two directions": rows("scan_sum(A[x, s], s, t, before) - scan_sum(A[x, s], s, t, reverse)"),
    "one row": (
        "Func f; In A; Var t; RVar s; f[t] = scan_sum(A[s], s, t);"
        f"f.block(t:p/{PART}); f.tensorize(t:{TILE}, p:2); f.compile();"
    ),
    "parts without a name": rows(
        "scan_sum(A[x, s], s, t)",
        schedule=f"f.block(x:2, t:{PART}); f.tensorize(x:0, t:0); f.compile();",
    ),
    "one by one": rows(
        "scan_max(A[x, s], s, t)", schedule=f"f.block(x:1, t:p/{PART}); f.compile();"
    ),
    "along columns": (
        "Func f; In A; Var t, x; RVar s; f[t, x] = scan_sum(A[s, x], s, t);"
        f"f.block(x:8, t:p/{PART}); f.tensorize(x:0, t:{TILE}, p:4); f.compile();"
    ),
    "of a Func": (
        "Func f, e; In A, B; Var x, t; RVar s; e[x, t] = A[x, t] * B[t];"
        f"f[x, t] = scan_sum(e[x, s], s, t) + e[x, t]; e.fuse_at(f, t); {SCHEDULE}"
    ),
    "of a Func that is inlined": (
        "Func f, e; In A, B; Var x, t; RVar s; e[x, t] = A[x, t] * B[t];"
        f"f[x, t] = scan_sum(e[x, s], s, t); e.inline(); {SCHEDULE}"
    ),
    "of a Func in memory": (
        "Func f, e; In A, B; Var x, t; RVar s; e[x, t] = A[x, t] * B[t];"
        f"f[x, t] = scan_sum(e[x, s], s, t); e.block(x:1, t:16); e.tensorize(t:0); {SCHEDULE}"
    ),
    "of products": (
        "Func f; In A, B; Var x, t; RVar s, k;"
        f"f[x, t] = scan_sum(rdot(A[x, k], B[k, s], k), s, t); {SCHEDULE}"
    ),
    "divided by a sum": (
        "Func f; In A; Var x, t; RVar s, k;"
        f"f[x, t] = scan_sum(A[x, s], s, t) / (rsum(A[x, k] * A[x, k], k) + 1); {SCHEDULE}"
    ),
    "states": rows("scan_affine(A[x, s], B[x, s], s, t, h[x])", "A, B, h"),
    "states from 0": rows("scan_affine(A[x, s], B[x, s], s, t, 0)", "A, B"),
    "states before": rows("scan_affine(A[x, s], B[x, s], s, t, h[x], before)", "A, B, h"),
    "states from the end": rows("scan_affine(A[x, s], B[x, s], s, t, 1, reverse)", "A, B"),
    "states behind": rows("scan_affine(A[x, s], B[x, s], s, t, h[x], before, reverse)", "A, B, h"),
    "one factor for all": rows("scan_affine(0.5, A[x, s], s, t, 1)"),
    "a factor for a row": rows("scan_affine(d[x], A[x, s], s, t, 0)", "A, d"),
    "one number is added": rows("scan_affine(A[x, s], 2, s, t, 0)"),
    "states of several": (
        "Func f; In A, B, C; Var x, d, t; RVar s;"
        "f[x, d, t] = scan_affine("
        "A[d, s] * 0.5 + reshape(B[x, s], x, 1, s), reshape(B[x, s], x, 1, s) * C[d, s], s, t, 0);"
        f"f.block(x:1, d:4, t:p/{PART}); f.tensorize(d:0, t:{TILE}, p:4); f.compile();"
    ),
}
RECURRENCES = tuple(name for name, text in IN_PARTS.items() if "scan_affine" in text)

SIZES_TRIED = (0, 1, PART - 1, PART, PART + 1, 2 * PART, 67, 131)
OTHERS = {"x": 3, "k": 5, "d": 5}


@cache
def program(name: str) -> Program:
    """Return the Program of a name."""
    return load(Source(f"{name}.dt", IN_PARTS[name]))


def sizes_around_parts(of: Program) -> Iterator[dict[str, int]]:
    """Yield lengths of rows around tiles and parts, and of one row and several."""
    for length, count in product(SIZES_TRIED, (1, 3)):
        known = {**OTHERS, "x": count, "s": length, "t": length}
        sizes = {label.name: known[label.name] for label in of.labels}
        yield filled(of, {"t": length}, sizes)
