"""A tile that its load has masked is multiplied as it is, and comes by a descriptor if it may."""

from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.running import compared, imported

# Pictures have their channels innermost, as copies of them have.
WINDOWS = """
Func f; In X, W; Var z, y, x, o; RVar c, r: 3, s: 3;
f[z, y, x, o] = rdot({read}, W[o, r, s, c], c, r, s);
f.block(z:1, y:2, x:16, o:16); f.tensorize(z:0, y:0, x:0, o:0, c:16);
f.flatten(c, r, s); f.descriptor(X, W); f.num_stages(3); f.compile();
"""
READS = {
    "padded": "pad(X, 0)[z, y + r - 1, x + s - 1, c]",
    "padded with a number": "pad(X, 1)[z, y + r - 1, x + s - 1, c]",
    "computed": "exp(X[z, y + r, x + s, c])",
    "inside": "X[z, y + r, x + s, c]",
}
BARE = ("padded", "inside")
DESCRIBED = "X_blocks is not None"


@cache
def program(name: str) -> Program:
    return load(Source("windows.dt", WINDOWS.format(read=READS[name])))


@cache
def text(name: str) -> str:
    return code_of(judge(program(name), DIRECTIVES).scheduled).text


@cache
def module(name: str) -> Any:
    return imported(text(name))


@pytest.mark.parametrize("name", READS)
def test_what_a_load_masks_is_not_masked_again(name: str) -> None:
    assert ("tl.where(c_mask" not in text(name)) is (name in BARE)
    assert (DESCRIBED in text(name)) is (name in BARE)


@pytest.mark.sampled
@pytest.mark.parametrize("name", READS)
def test_proved(name: str) -> None:
    assert verify(program(name), text(name), seconds=120).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("layout", [Layout.PLAIN, Layout.SLICED])
@pytest.mark.parametrize("dtype", [DType.F32, DType.BF16, DType.F16])
@pytest.mark.parametrize("name", READS)
def test_it_computes_the_same(name: str, dtype: DType, layout: Layout) -> None:
    """With a row more than a block has, and one less; channels of which no tile is whole."""
    for y, x, o, c in ((1, 15, 16, 16), (3, 17, 17, 8), (2, 16, 5, 40), (3, 3, 3, 0)):
        sizes = {"z": 2, "y": y, "x": x, "o": o, "c": c, "r": 3, "s": 3}
        inputs = Recipe(y + c, dtype, layout, Data.RANDOM).inputs(program(name), sizes)
        compared(module(name), program(name), ("f",), inputs, sizes)


def test_more_rows_than_the_picture_has_are_limited() -> None:
    """Boxes begin at numbers of 32 bits: a row far behind the picture must not be one in it."""
    X, W = torch.ones(1, 4, 4, 16), torch.ones(16, 3, 3, 16)
    f = module("padded").f
    assert f(X, W, y=6, x=4).shape == (1, 6, 4, 16)
    with pytest.raises(ValueError, match="y"):
        f(X, W, y=2**32 + 2, x=4)
    assert '"limits": {' not in text("inside")


@pytest.mark.sampled
def test_a_label_of_another_tensor_is_limited_too() -> None:
    """C has as many rows as it likes, and A is padded there."""
    text = (
        "Func f; In A, C; Var m, n; RVar k;"
        " f[m, n] = rdot(pad(A, 0)[m, k], A[n, k + 8], k) + C[m, n + 8];"
        " f.block(m:32, n:32); f.tensorize(m:0, n:0, k:32); f.descriptor(A, C); f.compile();"
    )
    rows = load(Source("rows.dt", text))
    made = code_of(judge(rows, DIRECTIVES).scheduled).text
    assert '"limits": {"m": ' in made
    assert verify(rows, made, seconds=60).verdict is LayerVerdict.PROVED
