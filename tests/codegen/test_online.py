"""Reductions that share the loop of one that depends on them: `g.online(f, y)`."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from math import prod
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.ir.kernel import Accumulate, ForLoop, If, Product, Step
from dtpoly.ir.parts import inside
from dtpoly.ir.tiled import flat
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.running import compared, imported
from tests.verify.texts import text_of

ROWS = "In A; Var x; RVar y; top[x] = rmax(A[x, y], y);"
TILES = "f.block(x:2); f.tensorize(x:0, y:16); f.compile();"
ATTENTION = """
Func f, scores, top, e, total;
In A, K, V;
Var x, n;
RVar k, y{range};
scores[x, y] = rdot(A[x, k], K[y, k], k) / sqrt(len(k)){bias};
top[x] = rmax(scores[x, y], y);
e[x, y] = exp(scores[x, y] - reshape(top[x], x, 1));
total[x] = rsum(e[x, y], y);
f[x, n] = rdot(e[x, y], V[y, n], y) / {divisor};
f.block(x:16);
f.tensorize(x:0, y:16, k:0, n:0);
scores.fuse_at(f, y); top.online(f, y); e.inline(); total.online(f, y);
f.compile({more});
"""


def attention(among: str = "", bias: str = "", more: str = "", divisor: str = "") -> str:
    """Return attention of rows of A to those of K, some of them, with a bias of its scores."""
    divisor = divisor or "reshape(total[x], x, 1)"
    return ATTENTION.format(range=among, bias=bias, more=more, divisor=divisor)


SINK = "total[x] + exp(1 - top[x])"
SOFTMAX = (
    f"Func f, top, e, total; {ROWS} e[x, y] = exp(A[x, y] - reshape(top[x], x, 1));"
    "total[x] = rsum(e[x, y], y); f[x, y] = e[x, y] / reshape(total[x], x, 1);"
    "e.inline(); total.fuse_at(f, x); top.online(total, y);"
)
LOG_SUM = "f[x] = log(rsum(exp(A[x, y] - reshape(top[x], x, 1)), y)) + top[x];"
PROGRAMS: Mapping[str, str] = {
    "softmax": SOFTMAX + TILES,
    "softmax, one row a program": SOFTMAX + "f.block(x:1); f.tensorize(x:0, y:16); f.compile();",
    "log-sum-exp": f"Func f, top; {ROWS} {LOG_SUM} top.online(f, y); {TILES}",
    "log-sum-exp and the largest": (
        f"Func f, top; {ROWS} {LOG_SUM} top.online(f, y);"
        "f.block(x:2); f.tensorize(x:0, y:16); f.compile(top);"
    ),
    "twice a maximum": (
        f"Func f, top; {ROWS.replace('rmax(A[x, y], y)', '2 * rmax(A[x, y], y)')}"
        "f[x] = log(rsum(exp(2 * A[x, y] - reshape(top[x], x, 1)), y)) + top[x];"
        f"top.online(f, y); {TILES}"
    ),
    "less than a maximum": (
        f"Func f, top; {ROWS.replace('rmax(A[x, y], y)', 'rmax(A[x, y], y) - 3')}"
        f"{LOG_SUM} top.online(f, y); {TILES}"
    ),
    "from below": (
        "Func f, low; In A; Var x; RVar y; low[x] = rmin(A[x, y], y);"
        "f[x] = log(rsum(exp(reshape(low[x], x, 1) - A[x, y]), y)) - low[x];"
        f"low.online(f, y); {TILES}"
    ),
    "a temperature": (
        f"Func f, top; {ROWS}"
        "f[x] = log(rsum(exp((A[x, y] - reshape(top[x], x, 1)) * 0.5), y)) + top[x] * 0.5;"
        f"top.online(f, y); {TILES}"
    ),
    # Two sums go on with one maximum.
    "mean under softmax": (
        f"Func f, top, total; {ROWS} total[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);"
        "f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)) * A[x, y], y) / total[x];"
        f"top.online(f, y); total.online(f, y); {TILES}"
    ),
    # A sum goes on with two maxima.
    "two frames": (
        f"Func f, top, other; {ROWS} In B; other[x] = rmax(B[x, y], y);"
        "f[x] = log(rsum(exp(A[x, y] - reshape(top[x], x, 1))"
        "* exp(B[x, y] - reshape(other[x], x, 1)), y)) + top[x] + other[x];"
        f"top.online(f, y); other.online(f, y); {TILES}"
    ),
    "cross entropy": (
        "Func f, top, total, picked; In A, T: i64; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        "total[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);"
        "picked[x] = rsum(where(y == reshape(T[x], x, 1), A[x, y], 0), y);"
        "f[x] = log(total[x]) + top[x] - picked[x];"
        "total.fuse_at(f, x); picked.fuse_at(f, x); top.online(total, y);" + TILES
    ),
    "one index at a time": (
        f"Func f, top; {ROWS} {LOG_SUM} top.online(f, y); f.block(x:2); f.compile();"
    ),
    # A reduction that nothing in the loop depends on only walks along.
    "side by side": (
        "Func f, other; In A; Var x; RVar y; other[x] = rsum(A[x, y], y);"
        f"f[x] = rmax(A[x, y], y) + other[x]; other.online(f, y); {TILES}"
    ),
    "a sum that is stored": (
        f"Func f, top; {ROWS} f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y) * 3;"
        f"top.online(f, y); {TILES}"
    ),
    "a reciprocal of the total": SOFTMAX.replace(
        "/ reshape(total[x], x, 1)", "* reshape(1 / total[x], x, 1)"
    )
    + TILES,
    # The maximum is not the largest exponent of each of these sums, but it is the algorithm's.
    "a bias beside the maximum": (
        f"Func f, top, total; {ROWS} In B;"
        "total[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);"
        "f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1) + B[x, y]), y) / total[x];"
        f"top.online(f, y); total.online(f, y); {TILES}"
    ),
    "a further mask of a sum": (
        f"Func f, top, total; {ROWS} In B;"
        "total[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);"
        "f[x] = rsum(where(B[x, y] > 0, exp(A[x, y] - reshape(top[x], x, 1)), 0), y) / total[x];"
        f"top.online(f, y); total.online(f, y); {TILES}"
    ),
    # A row in which all is masked gives a nan, as in the algorithm.
    "a mask of data": (
        "Func f, top, total; In A, B; Var x; RVar y;"
        "top[x] = rmax(where(B[x, y] > 0, A[x, y], -inf), y);"
        "total[x] = rsum(exp(where(B[x, y] > 0, A[x, y], -inf) - reshape(top[x], x, 1)), y);"
        "f[x] = rsum(exp(where(B[x, y] > 0, A[x, y], -inf) - reshape(top[x], x, 1))"
        f"* A[x, y], y) / total[x]; top.online(f, y); total.online(f, y); {TILES}"
    ),
    "entropy of a softmax": (
        f"Func f, top, total, mean; {ROWS}"
        "total[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);"
        "mean[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)) * A[x, y], y) / total[x];"
        "f[x] = log(total[x]) + top[x] - mean[x]; mean.fuse_at(f, x);"
        f"top.online(mean, y); total.online(mean, y); {TILES}"
    ),
    # A row in which all is masked gives -inf: its sum is that of nothing.
    "a mask around the exponential": (
        "Func f, top; In A, B; Var x; RVar y;"
        "top[x] = rmax(where(B[x, y] > 0, A[x, y], -inf), y);"
        "f[x] = log(rsum(where(B[x, y] > 0, exp(A[x, y] - reshape(top[x], x, 1)), 0), y)) + top[x];"
        f"top.online(f, y); {TILES}"
    ),
    "log-sum-exp of what comes later": (
        f"Func f, top; {ROWS.replace('RVar y', 'RVar y in [x, len(y))')} {LOG_SUM}"
        f"top.online(f, y); {TILES}"
    ),
    "attention": attention(),
    "attention, causal": attention(" in [0, x + 1)"),
    "attention to a window": attention(" in [x - 7, x + 1)"),
    "attention to a window wider than a tile": attention(" in [x - 21, x + 1)"),
    "attention to a window that is apart": attention(" in [x - 50, x - 5)"),
    "attention to what comes later": attention(" in [x, len(y))"),
    "attention with a bias": attention(bias=" - 0.1 * (x - y)"),
    "attention with a sink": attention(divisor=f"reshape({SINK}, x, 1)"),
    "attention with a sink of data": attention(
        divisor="reshape(total[x] + exp(s[x] - top[x]), x, 1)"
    ).replace("In A, K, V;", "In A, K, V, s;"),
    # Rows without a key have nothing but the sink, and are 0.
    "attention with a sink, to what comes later": attention(
        " in [x, len(y))", divisor=f"reshape({SINK}, x, 1)"
    ),
    "softmax with a sink": SOFTMAX.replace(
        "total[x] = rsum(e[x, y], y);", "total[x] = rsum(e[x, y], y) + exp(2 - top[x]);"
    )
    + TILES,
    "attention and the largest score": attention(more="top"),
}
SIZES = (0, 1, 3, 15, 16, 17, 37)
RECIPES = [
    Recipe(1, DType.F32, Layout.PLAIN, Data.ASCENDING),
    Recipe(2, DType.BF16, Layout.SLICED, Data.RANDOM),
    Recipe(3, DType.F16, Layout.TRANSPOSED, Data.ASCENDING),
    Recipe(4, DType.F64, Layout.EXPANDED, Data.BELOW_ZERO),
]


@cache
def program(name: str) -> Program:
    return load(Source(f"{name}.dt", PROGRAMS[name]))


@cache
def module(name: str) -> Any:
    return imported(text_of(program(name)))


def sizes_around_tiles(of: Program) -> Iterator[dict[str, int]]:
    """Yield sizes of rows and columns around the tiles of one of the programs."""
    for rows, columns in product(SIZES, SIZES):
        known = {"x": rows, "y": columns, "n": 3, "k": 5}
        yield {label.name: known[label.name] for label in of.labels}


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_at_the_sizes_around_each_tile(name: str, recipe: Recipe) -> None:
    of = program(name)
    for sizes in sizes_around_tiles(of):
        compared(module(name), of, ("f",), recipe.inputs(of, sizes), sizes)


def reduced_in(body: tuple[Step, ...]) -> frozenset[str]:
    """Return the Funcs whose reductions take steps in a body, or in blocks inside of it."""
    found = set[str]()
    for step in flat(body):
        one, func = step.instruction, step.origin.partition(".")[0]
        if isinstance(one, Accumulate | Product) and ".update" in step.origin:
            found.add(func)
        if isinstance(one, ForLoop | If):
            found |= reduced_in(one.body)
    return frozenset(found - {"scores"})


def blocks(body: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield the bodies of loops and branches in which reductions take steps themselves."""
    for step in flat(body):
        one = step.instruction
        if isinstance(one, ForLoop | If):
            own = [s for s in one.body if isinstance(s.instruction, Accumulate)]
            if any(".update" in s.origin for s in own):
                yield one.body
            else:
                yield from blocks(one.body)


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_take_their_steps_in_one_loop(name: str) -> None:
    kernels = code_of(judge(program(name), DIRECTIVES).scheduled).stages.kernels
    found = [reduced_in(block) for block in blocks(kernels[-1].body)]
    assert found
    assert set(found) == {reduced_in(kernels[-1].body)}


def test_an_entropy_reads_its_rows_once() -> None:
    text = text_of(program("entropy of a softmax"))
    assert text.count("= tl.load(") == 2  # in the loop over whole tiles, and in the tail
    assert text.count("in tl.range(") == 1


@pytest.mark.parametrize("name", ["attention", "attention, causal", "attention to a window"])
def test_scores_are_multiplied_once(name: str) -> None:
    """In each block, one product has the scores."""
    kernels = code_of(judge(program(name), DIRECTIVES).scheduled).stages.kernels
    for one in inside(kernels[-1].body):
        if isinstance(one, ForLoop | If):
            made = [step.instruction for step in one.body]
            scores = [o for o in made if isinstance(o, Product) and "scores" in o.name]
            assert len(scores) <= 1


@pytest.mark.parametrize("at", [0, 1, 2])
def test_what_is_infinite_in_the_first_tiles(at: int) -> None:
    """A frame is a finite number, so a tile whose elements are all -inf leaves no NaN."""
    A = torch.randn(3, 48, generator=torch.Generator().manual_seed(at))
    A[:, : 16 * at + 7] = float("-inf")
    wide = A.double()
    found = module("softmax").f(A)
    torch.testing.assert_close(found, torch.softmax(wide, 1).float(), rtol=1e-5, atol=1e-7)
    sums, top = module("log-sum-exp and the largest").f(A)
    torch.testing.assert_close(sums, torch.logsumexp(wide, 1).float(), rtol=1e-5, atol=1e-6)
    assert torch.equal(top, A.amax(1))


def test_rows_without_a_number() -> None:
    """NaN passes through, and so does an infinity above."""
    A = torch.zeros(4, 20)
    A[0, 3], A[1, 18], A[2] = float("nan"), float("inf"), float("-inf")
    found = module("softmax").f(A)
    assert found[:3].isnan().all()
    assert torch.equal(found[3], torch.full((20,), 0.05))
    sums, top = module("log-sum-exp and the largest").f(A)
    assert sums[0].isnan()
    assert sums[1].isnan()
    assert top[0].isnan()
    assert top[1] == float("inf")
    assert top[2] == float("-inf")


@pytest.mark.parametrize(
    ("sink", "known"), [("inf", True), ("-inf", True), ("nan", False), ("0.5", True)]
)
def test_a_sink_that_is_no_number(sink: str, known: bool) -> None:
    """It takes all of the weight, none of it, or leaves a NaN; without a key the rest is 0."""
    made = torch.Generator().manual_seed(5)
    Q, K, V = (torch.randn(one, generator=made) for one in ((3, 4), (37, 4), (37, 5)))
    s = torch.full((3,), float(sink))
    found = module("attention with a sink of data").f(Q, K, V, s)
    scores = torch.cat(((Q @ K.T).double() / 2, s[:, None].double()), 1)
    # An infinite sink is a weight of 1, in the algorithm as here: exp(inf - top) is inf.
    wanted = torch.zeros(3, 5) if sink == "inf" else (torch.softmax(scores, 1)[:, :-1] @ V.double())
    assert found.isnan().all() if not known else not found.isnan().any()
    torch.testing.assert_close(
        found.double(), wanted.double(), rtol=1e-5, atol=1e-6, equal_nan=True
    )
    without = module("attention with a sink of data").f(Q, K[:0], V[:0], s)
    has_none = sink in ("nan", "-inf")
    assert without.isnan().all() if has_none else torch.equal(without, torch.zeros(3, 5))


def test_an_infinity_that_a_row_does_not_reach() -> None:
    """In a tile that the range cuts, its weight is 0: rows before it get a NaN, as with torch."""
    made = torch.Generator().manual_seed(3)
    Q, K, V = (torch.randn(one, generator=made) for one in ((40, 16), (40, 16), (40, 5)))
    exact = module("attention, causal").f(Q, K, V)
    V[37, 2] = float("inf")
    found = module("attention, causal").f(Q, K, V)
    assert torch.equal(found[:32], exact[:32])
    assert torch.equal(found[:37, [0, 1, 3, 4]], exact[:37, [0, 1, 3, 4]])
    assert found[32:37, 2].isnan().all()
    assert (found[37:, 2] == float("inf")).all()


def test_a_minimum_goes_on_with_a_maximum() -> None:
    """A sum brings a minimum up to date when the maximum grows that it subtracts; it rounds."""
    given = (
        f"Func f, top; {ROWS} f[x] = rmin(A[x, y] - reshape(top[x], x, 1), y) + top[x];"
        f"top.online(f, y); {TILES}"
    )
    A = torch.arange(111, dtype=torch.float64).reshape(3, 37)
    found = imported(text_of(load(Source("f.dt", given)))).f(A)
    torch.testing.assert_close(found, A.amin(1))


@pytest.mark.parametrize("label", ["y", "z"])
@pytest.mark.parametrize("tiles", ["x:0", "x:0, y:16", "x:0, y:16, z:2"])
def test_of_two_labels(label: str, tiles: str) -> None:
    given = (
        "Func f, top; In A; Var x; RVar y, z; top[x] = rmax(A[x, z, y], z, y);"
        "f[x] = log(rsum(exp(A[x, z, y] - reshape(top[x], x, 1, 1)), z, y)) + top[x];"
        f"top.online(f, {label}); f.block(x:2); f.tensorize({tiles}); f.compile();"
    )
    found = imported(text_of(load(Source("f.dt", given))))
    for sizes in ((3, 5, 17), (2, 0, 4), (1, 1, 1), (4, 2, 32)):
        A = torch.arange(prod(sizes), dtype=torch.float64).reshape(sizes).sin() * 30
        torch.testing.assert_close(found.f(A), A.flatten(1).logsumexp(1))


REFUSED = {
    "in another way": (
        f"Func f, top; {ROWS} f[x] = rsum(floor(A[x, y] / reshape(top[x], x, 1) * 127), y);"
        "top.online(f, y);" + TILES,
        "no factor and no sum",
    ),
    "a quotient of each operand": (
        f"Func f, top; {ROWS} f[x] = rsum(A[x, y] / reshape(top[x], x, 1), y);"
        "top.online(f, y);" + TILES,
        "no factor and no sum",
    ),
    "an exponential times its exponent": (
        f"Func f, top; {ROWS} f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)) *"
        "(A[x, y] - reshape(top[x], x, 1)), y);"
        "top.online(f, y);" + TILES,
        "no factor and no sum",
    ),
    "a loop between the two": (
        f"Func f, top, own, other; {ROWS.replace('In A', 'In A, B')}"
        "own[x] = rsum(pow(A[x, y] / reshape(top[x], x, 1), 2), y);"
        "other[x] = rsum(B[x, y] * B[x, y], y);"
        "f[x] = rsum(A[x, y] / reshape(top[x], x, 1) * B[x, y], y) * rsqrt(own[x] * other[x]);"
        "top.online(f, y); own.online(f, y); other.fuse_at(f, x);" + TILES,
        "a loop stands between the two",
    ),
    "by a sum of squares": (
        f"Func f, top; {ROWS} f[x] = rsum(pow(A[x, y] - reshape(top[x], x, 1), 2), y);"
        "top.online(f, y);" + TILES,
        "no factor and no sum",
    ),
    "the first factor would be infinite": (
        f"Func f, top; {ROWS} f[x] = log(rsum(exp(reshape(top[x], x, 1) - A[x, y]), y)) - top[x];"
        "top.online(f, y);" + TILES,
        "exponents subtract a maximum, and add a minimum",
    ),
    "the factor of a minimum would be infinite": (
        "Func f, low; In A; Var x; RVar y; low[x] = rmin(A[x, y], y);"
        "f[x] = log(rsum(exp(A[x, y] - reshape(low[x], x, 1)), y)) + low[x];"
        "low.online(f, y);" + TILES,
        "exponents subtract a maximum, and add a minimum",
    ),
    "a factor does not pass a maximum": (
        f"Func f, top; {ROWS}"
        "f[x] = log(rmax(exp(A[x, y] - reshape(top[x], x, 1)), y)) + top[x];"
        "top.online(f, y);" + TILES,
        "does not pass through it",
    ),
    "a sum does not pass a sum": (
        f"Func f, top; {ROWS} f[x] = rsum(A[x, y] - reshape(top[x], x, 1), y);"
        "top.online(f, y);" + TILES,
        "does not pass through it",
    ),
    "a frame that is a sum": (
        "Func f, mean; In A; Var x; RVar y; mean[x] = rsum(A[x, y], y);"
        "f[x] = log(rsum(exp(A[x, y] - reshape(mean[x], x, 1)), y)) + mean[x];"
        "mean.online(f, y);" + TILES,
        "it is no maximum and no minimum",
    ),
    "a frame of whole numbers": (
        "Func f, top; In A: i64; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        "f[x] = log(rsum(exp(cast(A[x, y] - reshape(top[x], x, 1), f32)), y)) + cast(top[x], f32);"
        "top.online(f, y);" + TILES,
        "it is no float",
    ),
    "a frame that something is computed from": (
        f"Func f, top; {ROWS.replace('rmax(A[x, y], y)', 'abs(rmax(A[x, y], y))')}"
        "f[x] = log(rsum(exp(A[x, y] - reshape(top[x], x, 1)), y)) + top[x];"
        "top.online(f, y);" + TILES,
        "between the loops, something else is computed from its result",
    ),
    "an index": (
        "Func f, top; In A: i64, E; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        "f[x] = rsum(E[A[x, y] - reshape(top[x], x, 1)], y); top.online(f, y);" + TILES,
        "no factor and no sum",
    ),
    "a frame of each index of another loop": (
        "Func f, top; In A; Var x; RVar y, z; top[x, z] = rmax(A[x, z, y], y);"
        "f[x] = log(rsum(exp(A[x, z, y] - reshape(top[x, z], x, z, 1)), z, y));"
        "top.online(f, y);" + TILES,
        "what depends on it is needed behind the block of the two loops",
    ),
    "other tiles": (
        f"Func f, top; {ROWS} {LOG_SUM} top.online(f, y);"
        "f.block(x:2); f.tensorize(x:0, y:16, top.y:8); f.compile();",
        "their loops do not go over the same indices in the same tiles",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    given, why = REFUSED[name]
    verdict = judge(load(Source("f.dt", given)), DIRECTIVES)
    assert verdict.is_legal, str(verdict)
    with pytest.raises(DtpolyError) as caught:
        code_of(verdict.scheduled)
    (found,) = caught.value.diagnostics
    assert found.code == "DT307"
    assert found.span is not None
    assert any(why in note.text for note in found.notes), found.notes
