"""Tests how much of a private copy an iteration computes, and how axes repeat it."""

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.model import by_name
from dtpoly.poly.private_copies import CopyRegion, NeededCount, Repetition, region, repetition
from dtpoly.schedule.legality import judge
from dtpoly.schedule.tree import paths
from tests.schedule.told import TWO_PRODUCTS, read

STENCIL = "Func f, g; In A; Var x, u; g[u] = exp(A[u]); f[x] = g[x] + g[x + 2]; f.compile();"
STRIDED = "Func f, g; In A; Var x, u; g[u] = exp(A[u]); f[x] = g[2 * x]; f.compile();"
SCALAR = "Func f, g; In A; RVar x; g[] = rsum(A[x], x); f[x] = A[x] / g[]; f.compile();"
X = frozenset({"f.x"})


def told(text: str) -> tuple[CopyRegion, dict[str, Repetition]]:
    """Return the region and the repetitions of the value of the first fused Func."""
    state = judge(read(text), DIRECTIVES).scheduled
    value = by_name(state.model)[state.fusions[0].copies[-1]]
    path = next(path for path in paths(state.kernels) if path.statement == value.name)
    again = {name: repetition(value, (name,)) for name in value.copies}
    return region(value, path.named, state.model), again


def test_a_tile_of_rows() -> None:
    found, again = told(
        TWO_PRODUCTS + "_2mm.block(m:16); _2mm.tensorize(m:0); mm.fuse_at(_2mm, m);"
    )
    assert found == CopyRegion(
        (
            NeededCount("m", False, 16, 16, frozenset({"_2mm.m.block"})),
            NeededCount("l", True, None, None),
        ),
        True,
    )
    assert again == {"_2mm.m.block": Repetition.NONE}


def test_two_elements_are_no_range() -> None:
    found, again = told(STENCIL + "g.fuse_at(f, x, recompute);")
    assert found == CopyRegion((NeededCount("u", False, 3, 1, X),), is_box=False)
    assert again == {"f.x": Repetition.SOME}


def test_windows_overlap() -> None:
    found, _ = told(STENCIL + "g.fuse_at(f, x, recompute); f.tensorize(x:4);")
    assert found.needed == (NeededCount("u", False, 6, 4, X),)


def test_strides_leave_gaps() -> None:
    found, again = told(STRIDED + "g.fuse_at(f, x); f.tensorize(x:4);")
    assert found == CopyRegion((NeededCount("u", False, 7, 8, X),), is_box=False)
    assert again == {"f.x": Repetition.NONE}


def test_one_value_for_all() -> None:
    found, again = told(SCALAR + "f.block(x:4); g.fuse_at(f, x, recompute);")
    assert found == CopyRegion((), is_box=True)
    assert again["f.x.block"] in (Repetition.SOME, Repetition.ALL)


@pytest.mark.parametrize(
    ("text", "axes", "how"),
    [
        (
            TWO_PRODUCTS + "mm.fuse_at(_2mm, n, recompute); _2mm.block(n:8); _2mm.tensorize(n:4);",
            ("_2mm.n.block", "_2mm.n"),
            Repetition.ALL,
        ),
        (STENCIL + "g.fuse_at(f, x, recompute); f.block(x:8);", ("f.x.block", "f.x"), "some"),
        (SCALAR + "f.block(x:4); g.fuse_at(f, x, recompute);", ("f.x.block", "f.x"), "all"),
    ],
)
def test_axes_of_one_label_together(text: str, axes: tuple[str, ...], how: str) -> None:
    state = judge(read(text), DIRECTIVES).scheduled
    value = by_name(state.model)[state.fusions[0].copies[-1]]
    assert set(value.copies) >= set(axes)
    assert repetition(value, axes) == how
