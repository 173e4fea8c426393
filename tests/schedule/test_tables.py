"""Tests tables of which program and iteration computes which element, against tables by hand."""

from math import prod

import pytest

from dtpoly.poly.model import by_name
from dtpoly.schedule.tree import statements
from tests.schedule.tables import grid_of, instances, numbered, points, scheduled
from tests.schedule.told import MAP, SUM, TWO, TWO_PRODUCTS

FOUR = {"x": 4, "y": 4}

# Figure 3.4: iterations of one program.
ITERATIONS = {
    "f.tensorize(x:1, y:4);": [[0] * 4, [1] * 4, [2] * 4, [3] * 4],
    "f.tensorize(x:2, y:2);": [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]],
    "f.tensorize(x:1, y:1);": [[4 * x + y for y in range(4)] for x in range(4)],
    "f.tensorize(x:4, y:4);": [[0] * 4] * 4,
    "f.tensorize(x:0, y:0);": [[0] * 4] * 4,
}
# Figure 3.5, with blocks of one element: the order of programs.
PROGRAMS = {
    "f.map(x, y);": [[4 * x + y for y in range(4)] for x in range(4)],
    "f.map(y, x);": [[x + 4 * y for y in range(4)] for x in range(4)],
    "f.map(y:yi/2, x, yi);": [[0, 1, 8, 9], [2, 3, 10, 11], [4, 5, 12, 13], [6, 7, 14, 15]],
    "f.map(y:yi/2, x:xi/2, yi, xi);": [
        [0, 2, 8, 10],
        [1, 3, 9, 11],
        [4, 6, 12, 14],
        [5, 7, 13, 15],
    ],
    # Without a map the first label runs fastest (listing 3.8).
    "": [[x + 4 * y for y in range(4)] for x in range(4)],
}


@pytest.mark.parametrize("directive", ITERATIONS)
def test_iterations_of_figure_3_4(directive: str) -> None:
    found = points(scheduled(MAP + directive), "f", FOUR)
    assert grid_of(numbered(found, 1)) == ITERATIONS[directive]


@pytest.mark.parametrize("directive", PROGRAMS)
def test_programs_of_figure_3_5(directive: str) -> None:
    found = points(scheduled(MAP + "f.block(x:1, y:1);" + directive), "f", FOUR)
    assert grid_of(numbered(found, 0)) == PROGRAMS[directive]


def test_programs_of_listing_3_8() -> None:
    sizes = {"x": 40, "y": 150}
    found = numbered(points(scheduled(MAP + "f.block(x:16, y:64);"), "f", sizes), 0)
    blocks = -(-sizes["x"] // 16)
    assert all(n == x // 16 + y // 64 * blocks for (x, y), n in found.items())


def test_a_ragged_group_leaves_no_number_out() -> None:
    found = points(
        scheduled(MAP + "f.block(x:1, y:1); f.map(y:yi/3, x, yi);"), "f", {"x": 2, "y": 4}
    )
    assert grid_of(numbered(found, 0)) == [[0, 1, 2, 6], [3, 4, 5, 7]]


ONCE = [
    MAP + "f.block(x:3, y:2); f.tensorize(x:2); f.map(y:yi/2, x, yi);",
    MAP + "f.split(x:xi/2); f.reorder(xi, y, x);",
    MAP + "f.block(x:2); f.map(x:xi/1, xi);",
    MAP + "f.split(x:xi/2); f.tensorize(x:0, xi:2);",
    MAP + "f.block(x:4); f.split(x:xi/3); f.tensorize(x:2);",
    MAP + "f.split(x:xi/4, xi:xii/2); f.reorder(xii, x, xi); f.tensorize(x:2);",
    SUM + "total.block(k:3); total.tensorize(k:2);",
    SUM + "total.block(x:2, k:2); total.atomic(k);",
    SUM + "total.split(k:ki/2); total.reorder(ki, x, k); total.tensorize(k:0);",
    TWO + "g.fuse_at(f, x); f.block(x:2, y:2); f.tensorize(x:2);",
    TWO + "g.fuse_at(f, xi); f.split(x:xi/2); f.reorder(xi, y, x);",
    TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.block(m:2, n:2); _2mm.tensorize(m:0, l:2);",
    TWO_PRODUCTS + "mm.fuse_at(_2mm, l); _2mm.block(m:2); _2mm.tensorize(l:2, n:0);",
]


@pytest.mark.sampled
@pytest.mark.parametrize("text", ONCE)
@pytest.mark.parametrize("extent", [0, 1, 5])
def test_every_instance_has_a_place_of_its_own(text: str, extent: int) -> None:
    state = scheduled(text)
    sizes = dict.fromkeys(state.model.size_of, extent) | ({"k": 4} if extent == 5 else {})
    placed = {name for kernel in state.kernels for name in statements(kernel.body)}
    assert placed == by_name(state.model).keys()
    for name, statement in by_name(state.model).items():
        found = points(state, name, sizes) if not statement.copies else {}
        assert len(set(found.values())) == len(found)
        if not statement.copies and not state.model.parts:
            assert len(found) == prod(sizes[label] for label in statement.labels)
        if statement.copies:
            assert {i[len(statement.copies) :] for i in instances(state, statement, sizes)} == {
                i for i in instances(state, by_name(state.lifted)[name.split("@")[0]], sizes)
            }


def test_a_copy_is_private_to_its_iteration() -> None:
    state = scheduled(TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.block(m:2, n:2);")
    copy = by_name(state.model)["mm@_2mm"]
    assert copy.copies == ("_2mm.n.block", "_2mm.m.block", "_2mm.m")
    found = instances(state, copy, {"m": 3, "n": 3, "k": 1, "l": 2})
    # Each block of n computes every element of its rows for itself.
    assert found == [(n, m // 2 * 2, m, m, x) for n in (0, 2) for m in range(3) for x in range(2)]
