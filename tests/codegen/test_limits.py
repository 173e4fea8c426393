"""How many elements the largest tiles of a kernel have."""

import pytest

from dtpoly.codegen.limits import Elements, largest_tiles
from dtpoly.compile import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import stages_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

SUM = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k);"
MATMUL = "Func f; In A, B; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k);"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (SUM, {Elements(1)}),
        (SUM + "f.tensorize(x:4);", {Elements(4)}),
        (SUM + "f.tensorize(x:4, k:64);", {Elements(256)}),
        (SUM + "f.tensorize(x:4, k:0);", {Elements(4, ("k_lanes",))}),
        (SUM + "f.tensorize(x:0, k:0);", {Elements(1, ("k_lanes", "x_lanes"))}),
        # A product has no tile of all three labels.
        (MATMUL + "f.tensorize(x:32, y:64, k:128);", {Elements(128 * 64)}),
        (
            MATMUL + "f.block(x:32, y:64); f.tensorize(x:0, y:0, k:0);",
            {Elements(32 * 64), Elements(64, ("k_lanes",))},
        ),
    ],
)
def test_largest_tiles(source: str, expected: set[Elements]) -> None:
    (kernel,) = stages_of(judge(load(Source("test.dt", source)), DIRECTIVES).scheduled).kernels
    assert set(largest_tiles(kernel)) == expected


def test_one_that_is_part_of_another_is_left_out() -> None:
    assert Elements(4).is_within(Elements(8))
    assert Elements(4).is_within(Elements(4, ("x",)))
    assert Elements(4, ("x",)).is_within(Elements(4, ("x", "y")))
    assert not Elements(4, ("x", "x")).is_within(Elements(4, ("x", "y")))
    assert not Elements(8).is_within(Elements(4, ("x",)))
