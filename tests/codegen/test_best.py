"""The best of values that do not depend on the lanes for which they are the best."""

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.running import compared, imported

INNER = (
    "Func g, f; In A; RVar k, l; g[k, l] = rsum(A[k + l], k); f[k, l] = {best}(g[k, l], l);"
    "g.fuse_at(f, l, recompute); f.block(k:16); f.tensorize(k:0); f.compile();"
)


@pytest.mark.sampled
@pytest.mark.parametrize("best", ["rargmin", "rargmax"])
@pytest.mark.parametrize("sizes", [{"k": 5, "l": 3}, {"k": 17, "l": 1}])
def test_a_single_value_meets_a_tile_of_the_best_ones(best: str, sizes: dict[str, int]) -> None:
    program = load(Source("test.dt", INNER.format(best=best)))
    made = code_of(judge(program, DIRECTIVES).scheduled)
    for data in Data:
        inputs = Recipe(layout=Layout.SLICED, data=data).inputs(program, sizes)
        compared(imported(made.text), program, made.stages.outputs, inputs, sizes)
    assert verify(program, made.text).verdict is LayerVerdict.PROVED
