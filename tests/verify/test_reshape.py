"""A side of a product with several axes of lanes: `tl.reshape` is read, in the right order."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of, written

# As many lanes along b as along h: nothing but the values tells them apart.
PIXELS = written(
    "Func f; In A, W; Var b, h, n; RVar c, r;"
    "f[b, h, n] = rdot(A[b, h + r, c], W[n, r, c], r, c);"
    "f.block(b:4, h:4, n:16); f.tensorize(b:4, h:4, n:16, c:16); f.compile();"
)
REDUCED = written(
    "Func f; In A, W; Var m, n; RVar c, r;"
    "f[m, n] = rdot(A[m, r, c], W[n, r, c], r, c);"
    "f.block(m:16, n:16); f.tensorize(m:16, n:16, r:4, c:4); f.compile();"
)
# Tiles that hold a whole size: how many lanes they have is no number.
WHOLE = written(
    "Func f; In A, W; Var b, h, n; RVar c, r;"
    "f[b, h, n] = rdot(A[b, h + r, c], W[n, r, c], r, c);"
    "f.block(b:4, n:16); f.tensorize(b:4, h:0, n:16, c:16); f.compile();"
)
WHOLE_FIRST = written(
    "Func f; In A, W; Var b, h, n; RVar c, r;"
    "f[b, h, n] = rdot(A[b, h + r, c], W[n, r, c], r, c);"
    "f.block(h:4, n:16); f.tensorize(b:0, h:4, n:16, c:16); f.compile();"
)
WHOLE_REDUCED = written(
    "Func f; In A, W; Var m, n; RVar c, r;"
    "f[m, n] = rdot(A[m, r, c], W[n, r, c], r, c);"
    "f.block(m:16, n:16); f.tensorize(m:16, n:16, r:0, c:0); f.compile();"
)


@pytest.mark.sampled
@pytest.mark.parametrize("program", [PIXELS, REDUCED, WHOLE, WHOLE_FIRST, WHOLE_REDUCED])
def test_is_proved(program: Program) -> None:
    text = text_of(program)
    assert "tl.reshape" in text
    assert verify(program, text).verdict is LayerVerdict.PROVED


# All of these have the same shapes; what differs is which lane is where.
WRONG = {
    "rows in another order": (PIXELS, "f_tile = tl.reshape(f_acc", "f_tile = tl.reshape(f_acc.T"),
    "rows in two orders": (
        PIXELS,
        "A_matrix = tl.reshape(A_tile, ",
        "A_matrix = tl.reshape(tl.permute(A_tile, 1, 0, 2), ",
    ),
    "one side reduced in another order": (
        REDUCED,
        "W_matrix = tl.reshape(W_tile, ",
        "W_matrix = tl.reshape(tl.permute(W_tile, 1, 0, 2), ",
    ),
    "rows of whole tiles in another order": (
        WHOLE,
        "A_matrix = tl.reshape(A_tile, ",
        "A_matrix = tl.reshape(tl.permute(A_tile, 1, 0, 2), ",
    ),
    "whole tiles of one side reduced in another order": (
        WHOLE_REDUCED,
        "W_matrix = tl.reshape(W_tile, ",
        "W_matrix = tl.reshape(tl.permute(W_tile, 1, 0, 2), ",
    ),
    "lanes that may change places": (
        PIXELS,
        "tl.reshape(A_tile, (16, 16))",
        "tl.reshape(A_tile, (16, 16), can_reorder=True)",
    ),
    "another number of lanes": (
        PIXELS,
        "tl.reshape(A_tile, (16, 16))",
        "tl.reshape(A_tile, (16, 32))",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("change", WRONG)
def test_is_not_proved(change: str) -> None:
    program, old, new = WRONG[change]
    text = changed(text_of(program), old, new)
    assert verify(program, text).verdict is not LayerVerdict.PROVED


def test_an_order_is_refuted() -> None:
    program, old, new = WRONG["one side reduced in another order"]
    text = changed(text_of(program), old, new, count=2)
    assert verify(program, text).verdict is LayerVerdict.REFUTED


def test_both_sides_in_another_order_are_proved() -> None:
    text = text_of(REDUCED)
    for tile, order in (("A", "0, 2, 1"), ("W", "1, 0, 2")):
        old = f"tl.reshape({tile}_tile, "
        text = changed(text, old, f"tl.reshape(tl.permute({tile}_tile, {order}), ", count=2)
    assert verify(REDUCED, text).verdict is LayerVerdict.PROVED
