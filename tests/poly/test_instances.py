"""Tests which instances there are at some sizes, and which sizes go together."""

from itertools import product

from dtpoly.poly.instances import fit_together, instances, labels_needed, with_known
from dtpoly.poly.lift import lift
from dtpoly.poly.model import by_name
from tests.schedule.tables import scheduled
from tests.schedule.told import SUM, TWO_PRODUCTS, read

SHIFTED = """
Func f, g; In A; Var x, y;
g[x] = exp(A[x]); f[y] = g[y + 1]; f.compile();
"""


def test_instances_in_order() -> None:
    model = lift(read(SUM))
    update = by_name(model)["total.k.update"]
    assert instances(model, update, {"x": 2, "k": 3}) == list(product(range(2), range(3)))
    assert instances(model, update, {"x": 0, "k": 3}) == []


def test_sizes_that_decide_nothing_may_be_left_out() -> None:
    model = lift(read(SUM))
    statements = by_name(model)
    assert labels_needed(model, statements["total"]) == ("x",)
    assert labels_needed(model, statements["total.k.update"]) == ("x", "k")
    assert instances(model, statements["total"], {"x": 2}) == [(0,), (1,)]


def test_instances_of_a_copy_name_their_place_first() -> None:
    state = scheduled(TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.block(m:2);")
    copy = by_name(state.model)["mm@_2mm"]
    found = instances(state.model, copy, {"m": 3, "l": 1, "n": 1, "k": 1})
    # The block, the iteration over m, then the element.
    assert found == [(0, 0, 0, 0), (0, 1, 1, 0), (2, 2, 2, 0)]


def test_sizes_that_follow() -> None:
    model = lift(read(SHIFTED))
    assert with_known(model, {"y": 4}) == {"y": 4, "x": 5}
    assert with_known(model, {"x": 5}) == {"x": 5, "y": 4}
    assert with_known(lift(read(SUM)), {"x": 5}) == {"x": 5}


def test_sizes_that_do_not_go_together() -> None:
    shifted, alike = lift(read(SHIFTED)), lift(read(SHIFTED.replace("y + 1", "y")))
    assert fit_together(shifted, {"x": 5, "y": 4})
    assert not fit_together(shifted, {"x": 5, "y": 5})
    assert fit_together(alike, {"x": 5, "y": 5})
    assert not fit_together(alike, {"x": 5, "y": 4})
    assert fit_together(alike, {"another": 3})
