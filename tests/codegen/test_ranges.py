"""Ranges of labels: programs from practice, their loops, and what is outside of a range."""

from collections import Counter
from itertools import product
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import check, load
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, outputs
from dtpoly.schedule.legality import judge
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.running import compared, imported
from tests.oracle.cases import ranged_case

# In each, the last Func is the result.
PROGRAMS = {
    "triangular product": (
        "Func f; In A, B; Var m, n; RVar k in [0, m + 1); f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    ),
    "upper triangle": (
        "Func f; In A, B; Var m, n; RVar k in [m, len(k)); f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    ),
    "band": (
        "Func f; In A, B; Var m, n; RVar k in [m - 9, m + 1); f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    ),
    "cumulative sum": (
        "Func f; In A; Var m, n; RVar k in [0, n); f[m, n] = A[m, n] + rsum(A[m, k], k);"
        "f.block(m:4, n:16); f.tensorize(m:0, n:0, k:8); f.compile();"
    ),
    "reverse cumulative maximum": (
        "Func f; In A; Var m, n; RVar k in [n, len(k)); f[m, n] = A[m, n] + rmax(A[m, k], k);"
        "f.block(m:1, n:16); f.tensorize(n:0, k:8); f.compile();"
    ),
    "mean of what came before": (
        "Func f, s, c; In A; Var m, n; RVar k in [n - 3, n); s[m, n] = rsum(A[m, k], k);"
        "c[n] = rsum(where(k < 0, 0, 1), k); f[m, n] = A[m, n] - s[m, n] / (c[n] + 1);"
        "s.fuse_at(f, n); f.block(m:4); f.tensorize(m:0, n:8, k:4); f.compile();"
    ),
    "a step of a triangular solve": (
        "Func f; In L, X, B; Var m, n; RVar k in [0, m);"
        "f[m, n] = (B[m, n] - rdot(L[m, k], X[k, n], k)) / reshape(L[m, m] + 3, m, 1);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    ),
    "causal scores and their softmax": (
        "Func f, s, t, e, d; In Q, K; Var m, n; RVar c, k in [0, m + 1);"
        "s[m, k] = rdot(Q[m, c], K[k, c], c); t[m] = rmax(s[m, k], k);"
        "e[m, k] = exp(s[m, k] - reshape(t[m], m, 1)); d[m] = rsum(e[m, k], k);"
        "f[m, k] = e[m, k] / reshape(d[m], m, 1);"
        "s.block(m:16, k:16); s.tensorize(m:0, k:0, c:16); e.inline();"
        "t.fuse_at(f, m); d.fuse_at(f, m); f.block(m:4); f.tensorize(m:0, k:16); f.compile();"
    ),
    "weights in registers": (
        "Func f, w; In S, V; Var m, n; RVar k in [0, m + 1); w[m, k] = exp(S[m, k]);"
        "f[m, n] = rdot(w[m, k], V[k, n], k); w.fuse_at(f, k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    ),
    "a band of elements": (
        "Func f; In A, B; Var m, n in [m - 5, m + 1); f[m, n] = A[m, n] * reshape(B[m], m, 1);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0); f.compile();"
    ),
    "pairs": (
        "Func f; In A, B; Var m; RVar k in [0, m + 1), n in [k, m + 1);"
        "f[m] = rsum(reshape(A[k], k, 1) * B[k, n], k, n) + 0 * B[m, m];"
        "f.block(m:4); f.tensorize(m:0, n:4); f.compile();"
    ),
    "the last largest of a prefix": (
        "Func f; In A; Var m; RVar k in [0, m + 1); f[m] = rargmax(A[m, k], k);"
        "f.block(m:4); f.tensorize(m:0, k:4); f.compile();"
    ),
    "parts": (
        "Func f; In A; Var m; RVar k in [m - 7, len(k) - m); f[m] = rsum(A[m, k], k);"
        "f.block(m:4, k:16); f.tensorize(m:0, k:8); f.compile();"
    ),
    "truths": (
        "Func f; In A; Var m, n in [0, m); RVar k in [n, m); f[m, n] = rany(A[m, k] > 0.5, k);"
        "f.block(m:4); f.tensorize(m:0, n:4, k:4); f.compile();"
    ),
}
SQUARE = ("a step of a triangular solve", "pairs")  # their labels have one size
NOT_EMPTY = ("the last largest of a prefix",)  # there must be something to choose from
SIZES = (0, 1, 5, 16, 17, 37)
RECIPES = [
    (DType.F32, Layout.PLAIN, Layout.PLAIN),
    (DType.BF16, Layout.TRANSPOSED, Layout.SLICED),
    (DType.F16, Layout.SLICED, Layout.TRANSPOSED),
]


def program(name: str) -> Program:
    return load(Source(f"{name}.dt", PROGRAMS[name]))


def text(of: Program) -> str:
    return code_of(judge(of, DIRECTIVES).scheduled).text


def module(name: str) -> Any:
    return imported(text(program(name)))


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_proved(name: str) -> None:
    assert verify(program(name), text(program(name)), seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("dtype", "layout", "out"), RECIPES)
def test_at_the_sizes_around_each_tile(
    name: str, dtype: DType, layout: Layout, out: Layout
) -> None:
    of, made = program(name), module(name)
    seen = set[tuple[int, ...]]()
    for seed, (rows, columns) in enumerate(product(SIZES, SIZES)):
        if name in SQUARE and rows != columns:
            continue
        if name in NOT_EMPTY and not columns:
            continue
        sizes = {one.name: rows if one.name in ("m", "c") else columns for one in of.labels}
        if tuple(sizes.values()) in seen:
            continue
        seen.add(tuple(sizes.values()))
        inputs = Recipe(seed=seed, dtype=dtype, layout=layout).inputs(of, sizes)
        checked = compared(made, of, ("f",), inputs, sizes, layout=out)
        assert checked.known == checked.elements


A, B = torch.rand(37, 37, dtype=torch.float64), torch.rand(37, 21, dtype=torch.float64)
ONLY_OUTSIDE = torch.ones(37, 37, dtype=torch.bool).triu(1)


@pytest.mark.long
def test_the_words_of_torch() -> None:
    closest = torch.testing.assert_close
    closest(module("triangular product").f(A, B), A.tril() @ B)
    closest(module("upper triangle").f(A, B), A.triu() @ B)
    closest(module("band").f(A, B), A.tril().triu(-9) @ B)
    closest(module("cumulative sum").f(A), A.cumsum(1))
    lower = (A.tril(-1) + 3 * torch.eye(37, dtype=torch.float64)).tril()
    solved = torch.inverse(lower) @ B
    made = module("a step of a triangular solve").f(lower - 3 * torch.eye(37).double(), solved, B)
    closest(made, solved)
    scores = (A @ A.T).masked_fill(ONLY_OUTSIDE, float("-inf"))
    closest(module("causal scores and their softmax").f(A, A), scores.softmax(1))


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["triangular product", "weights in registers", "cumulative sum"])
@pytest.mark.parametrize("strange", [float("inf"), float("nan")])
def test_what_is_outside_is_not_multiplied_by_0(name: str, strange: float) -> None:
    """Row m of the result takes no row of B after m, and no element of A after m."""
    f = module(name).f
    beyond = A.masked_fill(ONLY_OUTSIDE, strange)
    if name == "cumulative sum":
        torch.testing.assert_close(f(beyond).tril(), A.cumsum(1).tril())
        return
    rows = B.clone()
    rows[20:] = strange
    found, usual = f(beyond, rows), f(A, B)
    torch.testing.assert_close(found[:20], usual[:20])
    assert not torch.isfinite(found[20:]).any()


@pytest.mark.parametrize("name", ["triangular product", "upper triangle", "band"])
@pytest.mark.parametrize("strange", [float("inf"), float("nan")])
def test_what_is_inside_makes_no_other_row_strange(name: str, strange: float) -> None:
    """Tiles are multiplied whole: one that has a nan then is added up again."""
    every = torch.ones(37, 37)
    inside = {
        "triangular product": every.tril(),
        "upper triangle": every.triu(),
        "band": every.tril().triu(-9),
    }[name]
    f = module(name).f
    for row, column in ((20, 16), (20, 24), (36, 36), (0, 0)):
        left, right = A.clone(), B.clone()
        left[row, column] = strange
        right[column, 3] = strange
        products = torch.where(inside[..., None] > 0, left[..., None] * right, 0.0)
        torch.testing.assert_close(f(left, right), products.sum(1), equal_nan=True)


def test_the_loops_of_a_triangle_end_at_its_diagonal() -> None:
    """Tiles before the diagonal, then those at it; none after it."""
    made = text(program("triangular product"))
    assert "for k_start in tl.range(0, min(k_size, m_start - 15), 16):" in made
    at_diagonal = "for k_start in tl.range(m_start, min(min(m_size, k_size), m_start + 16), 16):"
    assert at_diagonal in made or "if k_size >= m_start + 1:" in made
    before, _, after = made.partition("for k_index in")
    assert "tl.dot" in before
    assert "tl.dot" not in after.partition("tl.store")[0]


def test_blocks_of_scores_that_come_later_do_nothing() -> None:
    assert "if m_start >= k_start:" in text(program("causal scores and their softmax"))


DIRECTIVES_TRIED = (
    "f.swap();",
    "f.persistent();",
    "f.descriptor(A, B, f); f.num_stages(3);",
    "f.precision(tf32);",
    "f.split(k:ki/32);",
    "f.unroll(k:2);",
    "f.map(m:mg/4, n, mg);",
    "f.alternate(k);",
    "f.align(A);",
    "f.reorder(k, m);",
    "f.flatten(m, k);",
)


@pytest.mark.sampled
@pytest.mark.parametrize("directives", DIRECTIVES_TRIED)
def test_with_other_directives(directives: str) -> None:
    of = load(Source("f.dt", PROGRAMS["triangular product"] + directives))
    made = text(of)
    assert verify(of, made, seconds=60).verdict is LayerVerdict.PROVED
    for sizes in ((37, 20, 37), (16, 16, 16), (5, 3, 70)):
        known = dict(zip("mnk", sizes, strict=True))
        compared(imported(made), of, ("f",), Recipe(seed=3).inputs(of, known), known)


@pytest.mark.parametrize(
    ("name", "directives", "code"),
    [
        # A panel would begin its range again.
        ("triangular product", "f.panels(m:2048);", "DT197"),
        ("a band of elements", "f.panels(n:2048);", "DT197"),
        # Elements outside of the range are 0, whatever programs add.
        ("truths", "f.block(k:16); f.atomic(k);", "DT194"),
    ],
)
def test_what_a_range_forbids(name: str, directives: str, code: str) -> None:
    found = check(Source("f.dt", PROGRAMS[name] + directives)).diagnostics
    assert code in {one.code for one in found}


# isl needs more than an hour for the loops of these. The commands end after 20 seconds (DT210).
ENDLESS = {7012}


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_random_programs(part: int) -> None:
    """The results are right at two sizes of each label; more are proved than not, none refuted."""
    found = Counter[LayerVerdict]()
    for seed in {*range(7000 + 20 * part, 7000 + 20 * part + 20)} - ENDLESS:
        case = ranged_case(seed)
        of = case.program
        if has_errors(check_schedule(of, DIRECTIVES)) or not judge(of, DIRECTIVES).is_legal:
            continue
        made = text(of)
        found.update([verify(of, made, seconds=20).verdict])
        for more in (0, 1):
            sizes = {label: size + more for label, size in case.sizes.items()}
            inputs = Recipe(seed=seed).inputs(of, sizes)
            compared(imported(made), of, outputs(of), inputs, sizes, layout=Layout.SLICED)
    assert found[LayerVerdict.REFUTED] == 0
    assert found[LayerVerdict.UNKNOWN] < found[LayerVerdict.PROVED]
