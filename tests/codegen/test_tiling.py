"""Tests which lanes of a tile compute where conditions tie lanes to others that a load lacks."""

from itertools import product

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.cases import Outcome, outcome, random_case
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.running import compared, imported

# Each row wants few of the columns, and the sides of the product have rows or columns alone.
PRODUCT = (
    "f[x, k] = rdot(reshape({A}[x, y], x, y, 1), reshape(B[y, k], 1, y, k), y); f.fuse_at(g, x);"
    "g.compile(); g.tensorize(x:{lanes}, k:{lanes}, y:{lanes});"
)
COMPUTED = "Func f, g, h; In A, B; RVar x, y, k; h[x, y] = A[x, y] + 1;"
READ = "Func f, g; In A, B; RVar x, y, k;"
DIAGONAL = "g[x] = pad(f, 0)[x + 2, x + 1];"
DIAGONALS = "g[x] = pad(f, 0)[x + 2, x + 1] + pad(f, 0)[x, x + 2];"
ROW = "g[x] = pad(f, 0)[3, 2 * x - 1] + pad(f, 0)[3 - x, x + 1];"
STEPS = "g[x] = pad(f, 0)[2 * x, 3 * x];"
TEXTS = {
    "diagonal": READ + DIAGONAL + PRODUCT.format(A="A", lanes=0),
    "diagonal, in blocks": READ + DIAGONAL + PRODUCT.format(A="A", lanes=16) + "g.block(x:16);",
    "two diagonals": READ + DIAGONALS + PRODUCT.format(A="A", lanes=0),
    # What is known of a block has a number that its 32 bits do not hold: 2 * x_start.
    "a row and a diagonal": READ + ROW + PRODUCT.format(A="A", lanes=16),
    "steps": READ + STEPS + PRODUCT.format(A="A", lanes=0),
    "computed": COMPUTED + DIAGONALS + PRODUCT.format(A="h", lanes=0) + "h.inline();",
    "held": COMPUTED + DIAGONALS + PRODUCT.format(A="h", lanes=0) + "h.fuse_at(g, x);",
}
SLOPE = """
Func f0, f1, f2; In A0, A1, A2; RVar x, y, w;
f0[w, x, y] = A0[x, y, w];
f1[x, y, w] = pad(f0, 0)[w + 1, x, y] * reshape(A1[y, w], 1, y, w);
f2[w] = rdot(pad(f1, 0)[w, y, w + 2] * pad(f1, 0)[w + 1, y, w], A2[y, w], y);
f2.compile(); f0.fuse_at(f1, x); f1.fuse_at(f2, w); f2.block(w:2);
"""


@pytest.mark.sampled
@pytest.mark.parametrize("name", TEXTS)
def test_a_side_of_a_product_is_loaded_where_any_lane_of_the_other_wants_it(name: str) -> None:
    program = load(Source("f.dt", TEXTS[name]))
    made = code_of(judge(program, DIRECTIVES).scheduled)
    assert "tl.dot" in made.text
    assert verify(program, made.text).verdict is LayerVerdict.PROVED
    recipe = Recipe(layout=Layout.SLICED, data=Data.SOME_NAN)
    known = 0
    for x, y, k in product((0, 1, 18), (0, 3), (1, 17)):
        sizes = {"x": x, "y": y, "k": k}
        inputs = recipe.inputs(program, sizes)
        known += compared(imported(made.text), program, made.stages.outputs, inputs, sizes).known
    assert known


def test_what_is_subtracted_from_may_need_more_bits_than_what_is_left() -> None:
    """`3 * w_start + 3 - 2 * x_start` is an index; `3 * w_start` may not be."""
    program = load(Source("f.dt", SLOPE))
    made = code_of(judge(program, DIRECTIVES).scheduled)
    assert "3 * tl.cast(w_start_2, tl.int64) + 3 - 2 * tl.cast(x_start, tl.int64)" in made.text
    assert verify(program, made.text).verdict is LayerVerdict.PROVED


def test_a_diagonal_of_two_fused_funcs() -> None:
    assert outcome(random_case(30733)).outcome is Outcome.RIGHT
