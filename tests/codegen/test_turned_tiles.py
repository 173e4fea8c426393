"""Tiles that products need turned: what is emitted, what it computes, and that it is proved."""

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.running import compared, imported

# A product s[m, l] is a side of a sum over m, which needs it as [l, m].
SIDES = """
Func s, f{more}; In Q, K, G; Var l, n; RVar k, m;
s[m, l] = rdot(Q[m, k], K[l, k], k);
f[l, n] = rdot({side}, G[m, n], m);
f.block(l:16); f.tensorize(l:0, n:0, m:16, s.k:0); s.fuse_at(f, m);
"""
WEIGHTS = SIDES.format(more=", w", side="w[m, l]").replace(
    "f[l, n]", "w[m, l] = exp(0 - abs(s[m, l])) * {};\nf[l, n]"
)
FORMS = {
    "a product": SIDES.format(more="", side="s[m, l]"),
    "an exponential": WEIGHTS.format("2") + "w.fuse_at(f, m);",
    "with a row": WEIGHTS.format("reshape(L[m], m, 1)").replace("K, G", "K, G, L")
    + "w.fuse_at(f, m);",
    "with a matrix": WEIGHTS.format("D[m, l]").replace("K, G", "K, G, D") + "w.fuse_at(f, m);",
    "with a mask": WEIGHTS.format("where(l <= m, 1, 0)") + "w.fuse_at(f, m);",
    "two results": SIDES.format(more=", g", side="s[m, l]").replace(
        "f.block", "g[l, k] = rdot(s[m, l], Q[m, k], m);\ng.online(f, m); f.block"
    )
    + "f.tensorize(k:0);",
}
SIZES = ((40, 24, 20, 16), (16, 16, 16, 32), (5, 4, 8, 3), (33, 17, 31, 18), (0, 20, 3, 16))


def text_of(source: str) -> str:
    return code_of(judge(load(Source("f.dt", source)), DIRECTIVES).scheduled).text


def whole(name: str) -> str:
    form = FORMS[name]
    if name == "two results":
        form = form.replace("f.tensorize(k:0);", "").replace("n:0, m:16", "n:0, k:0, m:16")
        return f"{form} f.compile(g);"
    return f"{form} f.compile();"


@pytest.mark.parametrize("name", FORMS)
def test_no_tile_in_registers_is_turned(name: str) -> None:
    words = " ".join(text_of(whole(name)).split())
    assert "s_acc = tl.full((16, 16), 0.0, real)" in words
    assert "tl.permute(s" not in words
    assert "tl.permute(w" not in words


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16, DType.F32, DType.F64])
@pytest.mark.parametrize("name", FORMS)
def test_sizes_around_the_tiles(name: str, dtype: DType) -> None:
    program = load(Source("f.dt", whole(name)))
    made = imported(text_of(whole(name)))
    for each in SIZES:
        sizes = dict(zip("mlkn", each, strict=True))
        inputs = Recipe(1, dtype).inputs(program, sizes)
        compared(made, program, ("f",), inputs, sizes)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FORMS)
def test_inputs_and_results_of_other_layouts(name: str) -> None:
    program = load(Source("f.dt", whole(name)))
    made = imported(text_of(whole(name)))
    sizes = {"m": 33, "l": 17, "k": 16, "n": 19}
    recipe = Recipe(2, DType.F32, Layout.TRANSPOSED, Data.ASCENDING)
    compared(made, program, ("f",), recipe.inputs(program, sizes), sizes, layout=Layout.SLICED)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FORMS)
def test_it_is_proved(name: str) -> None:
    program = load(Source("f.dt", whole(name)))
    assert verify(program, text_of(whole(name)), seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "tl.dot(K_tile, Q_tile, s_acc",
            "tl.dot(tl.permute(Q_tile, 1, 0), tl.permute(K_tile, 1, 0), s_acc",
        ),
        ("tl.abs(s_acc)", "tl.abs(tl.permute(s_acc, 1, 0))"),
        ("w.to(", "tl.permute(w, 1, 0).to("),
        ("k_mask[:, None] & m_mask[None, :]", "k_mask[:, None]"),
        ("m[None, :] * Q_stride_0", "m[None, :] * Q_stride_1"),
    ],
)
def test_a_tile_of_the_wrong_order_is_not_proved(right: str, wrong: str) -> None:
    name = "an exponential"
    program, text = load(Source("f.dt", whole(name))), text_of(whole(name))
    assert right in text
    changed = text.replace(right, wrong)
    assert verify(program, changed, seconds=60).verdict is not LayerVerdict.PROVED
