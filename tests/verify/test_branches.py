"""Branches in loops: what all iterations take alike is two loops, and nothing else is."""

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of

WINDOWS = load(
    Source(
        "f.dt",
        "Func f; In A, W; Var h, w, g; RVar r, s, c;"
        "f[h, w, g] = rdot(A[h + r, w + s, c], W[g, r, s, c], r, s, c);"
        "f.block(h:2, w:8, g:16); f.tensorize(h:0, w:0, g:0, c:16); f.descriptor(A, W);"
        "f.compile();",
    )
)
THERE = "if A_blocks is not None and W_blocks is not None:\n"
WRONG: dict[str, tuple[str, str]] = {
    "the second loop begins later": ("range(0, c_size - 15, 16)", "range(16, c_size - 15, 16)"),
    "the first loop ends earlier": ("range(0, c_size, 16)", "range(0, c_size - 15, 16)"),
    "it depends on the iteration": (THERE, "if s_start == 0:\n"),
    "it depends on the loop outside": (THERE, "if r_start == 0:\n"),
    "the sides are exchanged": (THERE, "if A_blocks is None or W_blocks is None:\n"),
}
SUM = load(
    Source(
        "f.dt",
        "Func f; In A: f32; Var x; RVar k; f[x] = rsum(A[x, k], k);"
        "f.block(x:4); f.tensorize(x:0, k:16); f.compile();",
    )
)
ADDED = "        f_acc += A_tile\n"
BRANCH = """\
        if {}:
            f_acc = f_acc + A_tile
        else:
            f_acc = {}
"""


@pytest.mark.long
def test_a_loop_in_two_loops_with_descriptors_or_without_is_proved() -> None:
    assert verify(WINDOWS, text_of(WINDOWS), seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_is_not(name: str) -> None:
    report = verify(WINDOWS, changed(text_of(WINDOWS), *WRONG[name]), seconds=60)
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("condition", ["x_size > 5", "x_start == 0", "tl.program_id(0) > 1"])
def test_both_sides_may_say_the_same_in_other_words(condition: str) -> None:
    text = changed(text_of(SUM), ADDED, BRANCH.format(condition, "A_tile + f_acc"))
    assert verify(SUM, text).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(
    "condition",
    ["x_size > 5", "x_start == 0", "k_start == 0", "k_start // 32 == 1", "k_start < x_size"],
)
@pytest.mark.parametrize(
    "other", ["f_acc + A_tile * 2", "f_acc", "A_tile + 0.0 * f_acc", "tl.maximum(f_acc, A_tile)"]
)
def test_a_side_that_says_something_else_is_found(condition: str, other: str) -> None:
    text = changed(text_of(SUM), ADDED, BRANCH.format(condition, other))
    assert verify(SUM, text).verdict is not LayerVerdict.PROVED
