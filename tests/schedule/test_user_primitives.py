"""Tests that a user's primitive may do anything to the tree, and that the result is judged."""

import pytest

from dtpoly.poly.order import ViolationKind
from dtpoly.schedule.legality import judge
from dtpoly.schedule.tree_text import show_tree
from tests.schedule.told import SUM, TWO, read
from tests.schedule.user_primitives import USER

LEGAL = {
    "interchange": TWO + "f.interchange(x); f.tensorize(y:16);",
    "skew": TWO + "f.skew(x, y);",
    "skew of a reduction": SUM + "total.skew(x, k);",
    "backwards, by elements": TWO + "f.backwards(x); g.fuse_at(f, y);",
    "backwards, a reduction": SUM + "total.backwards(k);",
    "nothing to turn round": TWO + "f.upside_down();",
}
REFUSED = {
    "upside down": (SUM + "total.upside_down();", ViolationKind.LATE, {"x": 1, "k": 1}),
    "fused, upside down": (
        TWO + "g.fuse_at(f, x); f.upside_down();",
        ViolationKind.LATE,
        {"x": 1, "y": 1},
    ),
    "forgotten": (SUM + "total.forget();", ViolationKind.LOST, {"x": 1, "k": 1}),
    "flattened": (SUM + "total.flatten();", ViolationKind.LOST, {"x": 2, "k": 1}),
    "leaning": (
        TWO + "g.fuse_at(f, x); f.lean(x, y);",
        ViolationKind.LATE,
        {"x": 1, "y": 2},
    ),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal(name: str) -> None:
    judged = judge(read(LEGAL[name]), USER)
    assert judged.is_legal, [str(v) for v in judged.violations]


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, kind, sizes = REFUSED[name]
    program = read(text)
    judged = judge(program, USER)
    assert program == read(text)
    first = judged.violations[0]
    assert (first.kind, first.witness.sizes) == (kind, sizes)
    assert str(judged.blame) in text


def test_a_skewed_loop_in_the_tree() -> None:
    tree = show_tree(judge(read(TWO + "f.skew(x, y);"), USER).scheduled.kernels)
    assert "loop y by 1, counting f.x + f.y" in tree
