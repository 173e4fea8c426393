"""Programs of which the file fixes all sizes: what is legal is what the oracle says for those."""

from dataclasses import replace

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.legality import judge
from dtpoly.schedule.tree import leaves
from dtpoly.source import Source
from tests.oracle.cases import ordinary_case
from tests.oracle.run import Illegal

WINDOW = (
    "Func f; In A; Var x; RVar r: 3; f[x] = rmax(A[2 * x + r], r);"
    "f.block(x:16); f.tensorize(x:0, r:{}); f.compile();"
)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(80))
def test_the_verdict_is_that_of_the_oracle(seed: int) -> None:
    found = ordinary_case(seed)
    sizes = {label: max(size, 1) for label, size in found.sizes.items()}
    if sizes != found.sizes:
        return  # a size of 0 cannot be fixed
    labels = tuple(replace(label, size=sizes[label.name]) for label in found.program.labels)
    fixed = replace(found.program, labels=labels)
    expected = found.judged()
    assert judge(fixed, DIRECTIVES).is_legal == (not isinstance(expected, Illegal)), expected


@pytest.mark.parametrize(("tile", "lanes"), [(0, 4), (2, 2), (16, 16)])
def test_how_many_lanes_a_tile_has(tile: int, lanes: int) -> None:
    state = judge(load(Source("t.dt", WINDOW.format(tile))), DIRECTIVES).scheduled
    found = {
        lane.extent
        for kernel in state.kernels
        for leaf, _ in leaves(kernel.body)
        for lane in leaf.lanes
        if lane.label == "r"
    }
    assert found == {lanes}
