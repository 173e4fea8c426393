"""Products whose sides are swapped: what is emitted, what it computes, and what GPUs make of it."""

from collections import Counter

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.process import told_by
from tests.codegen.cases import Outcome, outcome, random_case, swapped, verdict
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.listings import DATA
from tests.codegen.running import compared, imported
from tests.codegen.swapped import TARGETS

HEAD = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
TILES = "f.block(m:32, n:16); f.tensorize(m:0, n:0, k:16);"
PRODUCT = f"{HEAD} {TILES}"
DESCRIBED = f"{PRODUCT} f.descriptor(A, B, f);"
BATCHES = (
    "Func f; In A, B; Var b, m, n; RVar k; f[b, m, n] = rdot(A[b, m, k], B[b, k, n], k);"
    "f.block(b:2, m:16, n:32); f.tensorize(b:0, m:0, n:0, k:16); f.descriptor(A, B, f);"
)
BYTES = (
    "Func f; In A: i8, B: i8; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:32, n:16); f.tensorize(m:0, n:0, k:32); f.descriptor(A, B);"
)
MORE = (
    "Func f; In A, B; Var m, n; RVar k;f[m, n] = exp(0 - abs(rdot(A[m, k], B[k, n], k))) * B[m, n];"
)
FORMS = {
    "by addresses": PRODUCT,
    "through descriptors": DESCRIBED,
    "in halves": f"{DESCRIBED} f.store(m:16);",
    "in quarters": f"{DESCRIBED} f.store(m:16, n:8); f.persistent(); f.pitch();",
    "batches": BATCHES,
    "sides in the other order": DESCRIBED.replace(
        "rdot(A[m, k], B[k, n], k)", "rdot(B[k, n], A[m, k], k)"
    ),
    "of a matrix that is turned": DESCRIBED.replace("B[k, n]", "B[n, k]"),
    "more is computed": f"{MORE} {TILES}",
    "a sum in parts": f"{HEAD} f.block(m:32, n:16, k:32); f.tensorize(m:0, n:0, k:16);",
    "added in memory": (
        f"{HEAD} f.block(m:32, n:16, k:32); f.tensorize(m:0, n:0, k:16); f.atomic(k);"
    ),
    "two of a side": (
        "Func f; In A, B; Var m, i, n; RVar k; f[m, i, n] = rdot(A[m, i, k], B[k, n], k);"
        "f.block(m:2, i:8, n:16); f.tensorize(m:0, i:0, n:0, k:16);"
    ),
    "two of the wider side": (
        "Func f; In A, B; Var m, i, n; RVar k; f[m, i, n] = rdot(A[m, i, k], B[k, n], k);"
        "f.block(m:2, i:8, n:64); f.tensorize(m:0, i:0, n:0, k:16);"
    ),
    "a tile that another one is made of": (
        "Func f, g; In A, B; Var m, n; RVar k, l; g[m, k] = rdot(A[l, m], B[l, k], l);"
        "f[m, n] = rdot(g[m, k], B[k, n], k); g.fuse_at(f, m);"
        "f.tensorize(m:16, k:0, n:16, l:0);"
    ),
    "two of the wider side, and more": (
        "Func f, g; In A, B; Var m, i, n; RVar k; g[m, i, n] = rdot(A[m, i, k], B[k, n], k);"
        "f[m, i, n] = exp(0 - abs(g[m, i, n])); g.fuse_at(f, n);"
        "f.block(m:4, i:4, n:64); f.tensorize(m:0, i:0, n:0, g.m:0, g.i:0, g.n:0, g.k:16);"
    ),
    "one after another": (
        "Func f, g; In A, B; Var m, n; RVar k, l; g[m, k] = rdot(A[m, l], B[l, k], l);"
        "f[m, n] = rdot(g[m, k], B[k, n], k); g.fuse_at(f, m);"
        "f.block(m:16); f.tensorize(m:0, n:16, k:16, g.m:0, g.k:16, g.l:16);"
    ),
}
SIZES = ((40, 24, 20), (32, 16, 16), (5, 4, 8), (33, 17, 31), (64, 48, 1), (1, 20, 0), (31, 15, 47))


def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def check(text: str, recipe: Recipe, out: Layout = Layout.PLAIN) -> None:
    """Held against the reference at sizes around the tiles."""
    program, made = load(Source("f.dt", f"{text} f.swap(); f.compile();")), None
    for m, n, k in SIZES:
        given = {"b": 3, "i": 9, "l": k, "m": m, "n": n, "k": k}
        if "g.fuse_at" in text:  # B is read twice
            given |= {"l": k, "k": k, "n": k}
        if "B[m, n]" in text:
            given |= {"m": k}
        sizes = {label.name: given[label.name] for label in program.labels}
        made = made or imported(code_of(judge(program, DIRECTIVES).scheduled).text)
        compared(made, program, ("f",), recipe.inputs(program, sizes), sizes, layout=out)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 350, 70))
def test_random_products(first: int) -> None:
    compare_random_products(range(first, first + 70))


@pytest.mark.long
@pytest.mark.parametrize("first", range(350, 1400, 350))
def test_more_random_products(first: int) -> None:
    found = compare_random_products(range(first, first + 350))
    assert found[Outcome.RIGHT] > 5


def compare_random_products(seeds: range) -> Counter[Outcome]:
    cases = map(random_case, seeds)
    products = [swapped(case) for case in cases if verdict(case).is_legal]
    found = Counter(outcome(one).outcome for one in products if one is not None)
    assert found.keys() <= {Outcome.RIGHT, Outcome.NOTHING}
    return found


def test_the_tile_is_turned_while_it_is_summed() -> None:
    text = generated(f"{DESCRIBED} f.store(m:16); f.swap(); f.compile();").text
    words = " ".join(text.split())
    assert "f_acc = tl.full((16, 32), 0.0, real)" in words
    assert "f_acc = tl.dot(B_tile, A_tile, f_acc" in words.replace("( ", "(")
    assert "f_upper, f_lower = tl.split( tl.permute(tl.reshape(tl.permute(f_acc, 1, 0)," in words


@pytest.mark.long
@pytest.mark.parametrize("dtype", [DType.F16, DType.F32, DType.F64])
@pytest.mark.parametrize("name", FORMS)
def test_sizes_around_the_tiles(name: str, dtype: DType) -> None:
    check(FORMS[name], Recipe(1, dtype))


@pytest.mark.sampled
@pytest.mark.parametrize("name", FORMS)
def test_inputs_and_results_of_other_layouts(name: str) -> None:
    recipe = Recipe(2, DType.BF16, Layout.TRANSPOSED, Data.ASCENDING)
    check(FORMS[name], recipe, Layout.SLICED)


def test_bytes() -> None:
    check(BYTES, Recipe(3))


@pytest.mark.sampled
@pytest.mark.parametrize("name", FORMS)
def test_it_is_proved(name: str) -> None:
    program = load(Source("f.dt", f"{FORMS[name]} f.swap(); f.compile();"))
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("tl.permute(f_acc, 1, 0)", "tl.permute(f_acc, 0, 1)"),
        ("tl.permute(f_acc, 1, 0)", "tl.reshape(f_acc, (32, 16))"),
        ("(16, 32)", "(32, 16)"),
    ],
)
def test_a_tile_that_is_not_turned_back_is_not_proved(right: str, wrong: str) -> None:
    program = load(Source("f.dt", f"{PRODUCT} f.swap(); f.compile();"))
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert right in text
    assert (
        verify(program, text.replace(right, wrong), seconds=60).verdict is not LayerVerdict.PROVED
    )


def test_where_nothing_is_multiplied_it_changes_nothing() -> None:
    text = "Func f; In A; Var x; f[x] = A[x]; f.block(x:16); f.swap(); f.compile();"
    state = judge(load(Source("f.dt", text)), DIRECTIVES).scheduled
    (found,) = vain(state, code_of(state).stages, DIRECTIVES)
    assert (found.code, found.title) == ("DT198", "'swap' changes nothing here")
    assert [note.text for note in found.notes] == ["no kernel of it multiplies two matrices"]
    state = judge(load(Source("f.dt", f"{PRODUCT} f.swap(); f.compile();")), DIRECTIVES).scheduled
    assert not [*vain(state, code_of(state).stages, DIRECTIVES)]


@pytest.mark.long
def test_tensor_cores_multiply_more_at_once() -> None:
    """The tile is turned back on its way into shared memory, and by nothing else."""
    found = told_by("tests.codegen.swapped")
    assert [one["target"] for one in found] == [str(one) for one in TARGETS for _ in range(2)]
    plain, swapped = found[:2]
    assert (plain["multiplied"], plain["turned"]) == (["m64n128"], 0)
    assert (swapped["multiplied"], swapped["exchanged"]) == (["m64n256"], 0)
    assert swapped["turned"] > 0
    assert all(one["spilled"] == 0 for one in found)


def test_the_listing_is_swapped() -> None:
    text = (DATA / "products" / "product_swapped.dt").read_text()
    assert "tl.full((32, 64), 0.0, real)" in generated(text).text
