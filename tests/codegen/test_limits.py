"""Tests how many elements the largest tiles of a kernel have."""

import pytest

from dtpoly.checking import load
from dtpoly.codegen.tile_limits import ElementCount, largest_tiles
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import stages_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

SUM = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k);"
MATMUL = "Func f; In A, B; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k);"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (SUM, {ElementCount(1)}),
        (SUM + "f.tensorize(x:4);", {ElementCount(4)}),
        (SUM + "f.tensorize(x:4, k:64);", {ElementCount(256)}),
        (SUM + "f.tensorize(x:4, k:0);", {ElementCount(4, ("k_lanes",))}),
        (SUM + "f.tensorize(x:0, k:0);", {ElementCount(1, ("k_lanes", "x_lanes"))}),
        # A product has no tile of all three labels.
        (MATMUL + "f.tensorize(x:32, y:64, k:128);", {ElementCount(128 * 64)}),
        (
            MATMUL + "f.block(x:32, y:64); f.tensorize(x:0, y:0, k:0);",
            {ElementCount(32 * 64), ElementCount(64, ("k_lanes",))},
        ),
    ],
)
def test_largest_tiles(source: str, expected: set[ElementCount]) -> None:
    (kernel,) = stages_of(judge(load(Source("test.dt", source)), DIRECTIVES).scheduled).kernels
    assert set(largest_tiles(kernel)) == expected


def test_one_that_is_part_of_another_is_left_out() -> None:
    assert ElementCount(4).is_within(ElementCount(8))
    assert ElementCount(4).is_within(ElementCount(4, ("x",)))
    assert ElementCount(4, ("x",)).is_within(ElementCount(4, ("x", "y")))
    assert not ElementCount(4, ("x", "x")).is_within(ElementCount(4, ("x", "y")))
    assert not ElementCount(8).is_within(ElementCount(4, ("x",)))
