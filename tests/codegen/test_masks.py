"""Masks that are written with `where` become ranges: which ones, and that nothing else changes."""

import ast
from collections import Counter
from collections.abc import Mapping
from itertools import product
from random import Random

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, outputs
from dtpoly.poly.lift import lift
from dtpoly.schedule.applied_directives import with_results
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.running import compared, imported

ONE_PASS = (
    "scores.fuse_at(f, l); top.online(f, l); e.inline(); total.online(f, l);"
    "f.block(m:16); f.tensorize(m:0, n:0, c:0, l:16);"
)


def attention(
    mask: str,
    scores: str = "where(MASK, S, -inf)",
    result: str = "f.compile();",
    more: str = "",
) -> str:
    """Return attention in one pass, with a mask of its scores."""
    dot = "rdot(Q[m, c], K[l, c], c) * 0.25"
    scores = scores.replace("MASK", mask).replace("S,", f"{dot},").replace(", S)", f", {dot})")
    return (
        "Func f, scores, top, e, total, lse; In Q, K, V; Var m, n; RVar c, l;"
        f"scores[m, l] = {scores};"
        "top[m] = rmax(scores[m, l], l);"
        "e[m, l] = exp(scores[m, l] - reshape(top[m], m, 1));"
        "total[m] = rsum(e[m, l], l);"
        "f[m, n] = rdot(e[m, l], V[l, n], l) / reshape(total[m], m, 1);"
        f"lse[m] = log(total[m]) + top[m]; {ONE_PASS}{more} {result}"
    )


def alone(body: str, labels: str = "Var m; RVar k") -> str:
    return (
        f"Func f; In A, B, V; {labels}; f[m] = {body} + 0 * rsum(A[m, k] + B[m, k] + V[k], k);"
    ).replace(" + 0 * rsum(A[m, k] + B[m, k] + V[k], k)", "")


TILED = "f.block(m:4); f.tensorize(m:0, k:4); f.compile();"
# In each, the conditions of the ranges of all reductions, in the order of the Model.
CAUSAL, WINDOW = ("m - l",), ("m - l", "l - m + 6")
ATTENTIONS = {
    "causal": (attention("l <= m"), CAUSAL),
    "the mask the other way": (attention("l > m", "where(MASK, -inf, S)"), CAUSAL),
    "a window": (attention("l <= m and m - l < 7"), WINDOW),
    "a mask in a mask": (
        attention("l <= m", "where(MASK, where(m - l < 7, S, -inf), -inf)"),
        WINDOW,
    ),
    "rows of which nothing is left": (attention("l < m"), ("m - l - 1",)),
    "sizes": (attention("l < m + len(l) - len(m) + 1"), ("m - l + len(l) - len(m)",)),
    "everywhere": (attention("l >= 0"), ("l",)),
    "a prefix": (attention("l <= m or l < 5"), ()),
    "a number that is low": (attention("l <= m", "where(MASK, S, -1e9)"), ()),
    "the sums of a causal one": (
        attention("l <= m", result="f.compile(lse);", more="lse.fuse_at(f, m);"),
        CAUSAL,
    ),
}


def program(text: str) -> Program:
    return load(Source("f.dt", text))


def code(of: Program) -> str:
    return code_of(judge(of, DIRECTIVES).scheduled).text


def taken(of: Program) -> list[tuple[str, ...]]:
    """Return what must be at least 0 in the steps over l, for each reduction over l."""
    model = lift(with_results(of, bind(of.directives, DIRECTIVES).primitives))
    names = {parameter: f"len({label})" for label, parameter in model.size_of.items()}
    found = list[tuple[str, ...]]()
    for one in model.statements:
        if "l" in one.bound and one.body is not None:
            found.append(
                tuple(str({names.get(str(t), t): c for t, c in a.terms}) for a in one.taken)
            )
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("name", ATTENTIONS)
def test_all_three_reductions_have_the_range(name: str) -> None:
    text, conditions = ATTENTIONS[name]
    found = taken(program(text))
    assert [len(one) for one in found] == [len(conditions)] * 3
    assert len({frozenset(one) for one in found}) == 1


@pytest.mark.parametrize(("width", "first"), [(64, 48), (100, 80), (250, 224)])
def test_full_tiles_of_a_window_have_no_mask(width: int, first: int) -> None:
    """They have a loop between that of the tiles at the lower bound and the last tiles."""
    kernel = ast.parse(code(program(attention(f"l <= m and m - l < {width}"))))
    loops = [ast.unparse(node) for node in ast.walk(kernel) if isinstance(node, ast.For)]
    (full,) = (one for one in loops if "tl.dot" in one and "tl.where" not in one)
    assert f"tl.range(max(0, m_start - {first}), min(l_size - 15, m_start - 15), 16)" in full


@pytest.mark.long
@pytest.mark.parametrize("name", ATTENTIONS)
def test_each_is_proved_and_right(name: str) -> None:
    of = program(ATTENTIONS[name][0])
    made = code(of)
    assert verify(of, made, seconds=120).verdict is LayerVerdict.PROVED
    for seed, (rows, columns) in enumerate(product((1, 15, 16, 17, 37), (0, 1, 16, 23, 37))):
        sizes = {"m": rows, "l": columns, "c": 5, "n": 3}
        inputs = Recipe(seed=seed).inputs(of, sizes)
        compared(imported(made), of, outputs(of)[:1], inputs, sizes, layout=Layout.SLICED)


def test_the_kernel_is_that_of_a_range() -> None:
    masked = attention("l <= m")
    ranged = masked.replace("where(l <= m, ", "").replace(", -inf);", ";")
    ranged = ranged.replace("RVar c, l;", "RVar c, l in [0, m + 1);")
    one, two = (code(program(text)).partition("@triton.jit")[2] for text in (masked, ranged))
    assert one == two


@pytest.mark.sampled
def test_a_result_that_would_change_in_an_empty_row_keeps_all_indices() -> None:
    """The logarithm of the sums of an empty row is a nan, and that of a sum of nothing is -inf."""
    lse = attention("l <= m and m - l < 7", result="f.compile(lse);", more="lse.fuse_at(f, m);")
    assert taken(program(lse)) == [()] * 3


FORMS = (
    ("rsum(where(MASK, X, 0), k)", True),
    ("rsum(where(not (MASK), 0, X), k)", True),
    ("rmax(where(MASK, X, -inf), k)", True),
    ("rmin(where(MASK, X, inf), k)", True),
    ("rprod(where(MASK, X, 1), k)", True),
    ("rsum(where(MASK, X, 0) * V[k], k)", True),
    ("rsum(V[k] * (2 * where(MASK, X, 0)), k)", True),
    ("rsum(X * cast(MASK, f32), k)", True),
    ("rdot(where(MASK, A[m, k], 0), B[m, k], k)", True),
    ("rsum(exp(where(MASK, X, -inf)), k)", True),
    ("rsum(exp2(where(MASK, X, -inf)) * V[k], k)", True),
    ("rsum(where(MASK and X > 0.5, X, 0), k)", True),
    ("rsum(maximum(where(MASK, X, -inf), 0), k)", True),
    ("cast(rany(MASK and X > 0.5, k), f32)", True),
    ("cast(rall(not (MASK) or X > 0.5, k), f32)", True),
    ("rsum(sigmoid(where(MASK, X, -inf)), k)", False),
    ("rsum(exp(where(MASK, X, -inf) - rmax(where(MASK, X, -inf), k)), k)", None),
    ("rsum(where(MASK, X, 1), k)", False),
    ("rmax(where(MASK, X, 0), k)", False),
    ("rmin(where(MASK, X, -inf), k)", False),
    ("rsum(exp(where(MASK, X, inf)), k)", False),
    ("rsum(exp(where(MASK, X, 0)), k)", False),
    ("rsum(X - where(MASK, X, 0), k)", False),
    ("rprod(where(MASK, X, 0), k)", False),
    ("rsum(1 / where(MASK, X, 0), k)", False),
    ("rsum(exp(X + where(MASK, 0, -inf)), k)", False),
)
LEFT = ("k", "m", "k - m", "m - k", "2 * k", "k + m", "len(k) - k", "2 * m - 3 * k")
RIGHT = ("m", "0", "3", "k", "len(k)", "m + 2", "len(m) - 1")


def mask(random: Random) -> str:
    """Return a condition on indices and sizes that is made of one or two comparisons."""
    parts = [
        f"{random.choice(LEFT)} {random.choice(('<', '<=', '>', '>='))} {random.choice(RIGHT)}"
        for _ in range(random.choice((1, 1, 2)))
    ]
    return f" {random.choice(('and', 'and', 'or'))} ".join(parts)


def random_program(random: Random) -> str:
    form, _ = random.choice(FORMS)
    x = random.choice(("A[m, k]", "(A[m, k] * B[m, k])"))
    body = form.replace("MASK", mask(random)).replace("X", x)
    inputs = [one for one in "ABV" if f"{one}[" in body]
    return f"Func f; In {', '.join(inputs)}; Var m; RVar k; f[m] = {body}; {TILED}"


@pytest.mark.parametrize(("form", "is_range"), FORMS)
def test_which_forms_have_a_range(form: str, is_range: bool | None) -> None:
    body = form.replace("MASK", "k <= m").replace("X", "A[m, k]")
    inputs = [one for one in "ABV" if f"{one}[" in body]
    of = program(f"Func f; In {', '.join(inputs)}; Var m; RVar k; f[m] = {body}; f.compile();")
    found = [bool(one.taken) for one in lift(of).statements if "k" in one.bound and one.body]
    assert is_range is None or found == [is_range]
    assert is_range is not None or all(found)


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_random_masks(part: int) -> None:
    """Each kernel is right at several sizes, and none is refuted; most are proved."""
    found = Counter[LayerVerdict]()
    for seed in range(30 * part, 30 * part + 30):
        random = Random(seed)
        of = program(random_program(random))
        made = code(of)
        found[verify(of, made, seconds=30).verdict] += 1
        for rows, columns in ((0, 3), (1, 1), (3, 0), (5, 9), (9, 5), (8, 8)):
            sizes: Mapping[str, int] = {"m": rows, "k": columns}
            inputs = Recipe(seed=seed).inputs(of, sizes)
            compared(imported(made), of, ("f",), inputs, sizes)
    assert found[LayerVerdict.REFUTED] == 0
    assert found[LayerVerdict.UNKNOWN] * 20 <= found[LayerVerdict.PROVED]


@pytest.mark.sampled
def test_what_a_mask_hides_is_not_read() -> None:
    """A nan that the mask of one operand hides is not multiplied by 0: a licence says so."""
    of = program(
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(where(k <= m, A[m, k], 0), B[k, n], k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    )
    report = verify(of, code(of), seconds=60)
    assert report.verdict is LayerVerdict.PROVED
    rows = torch.rand(40, 7)
    rows[32:] = float("nan")
    weights = torch.rand(40, 40)
    found = imported(code(of)).f(weights, rows)
    torch.testing.assert_close(found[:32], weights[:32, :32].tril() @ rows[:32])


def test_names_that_stand_for_one_another_in_turn_are_no_masks() -> None:
    """A matrix is unfolded and folded under two names: to look for its mask once led round."""
    program = load(
        Source(
            "f.dt",
            "Func f; In A, B, C, D; Var x, y: 32; RVar k, l, r;"
            "f[x, y] = rdot(A[x, k, l], B[y, k, l], k, l)"
            " * rsum(rdot(C[k, y, r], D[r, l, x], r), k, l);"
            "f.tensorize(x:0, y:32, k:0, l:8, r:0); f.compile(); f.block(x:32);",
        )
    )
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED
    recipe = Recipe(3, DType.F32, Layout.PLAIN)
    for x, *inner in ((1, 1, 1, 1), (33, 3, 9, 2), (5, 2, 8, 0)):
        sizes = {"x": x, "y": 32, **dict(zip("klr", inner, strict=True))}
        compared(imported(text), program, ("f",), recipe.inputs(program, sizes), sizes)
