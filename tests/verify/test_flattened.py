"""Loops over products of sizes: what is proved, and what is not."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of, written

PROGRAM = written(
    "Func f; In A, W; Var m, n; RVar r, s, c;"
    "f[m, n] = rdot(A[m, r, s, c], W[n, r, s, c], r, s, c);"
    "f.block(m:16, n:16); f.tensorize(m:0, n:0, c:16); f.flatten(r, s, c); f.compile();"
)
LOOP = "tl.range(0, tl.cast(r_size, offset) * s_size * c_steps)"
WRONG = {
    "one round too many": (LOOP, LOOP.replace("c_steps)", "c_steps + 1)")),
    "a round is left out": (LOOP, LOOP.replace("range(0", "range(1")),
    "every second round": (LOOP, LOOP.replace("c_steps)", "c_steps, 2)")),
    "rounds of another size": (LOOP, LOOP.replace("* s_size", "* r_size")),
    "a size is left out": (LOOP, LOOP.replace(" * s_size", "")),
    "divided by another size": ("step // c_steps % s_size", "step // c_steps % r_size"),
    "divided twice by one": ("step // c_steps // s_size", "step // c_steps // c_steps"),
    "places change": ("step // c_steps // s_size", "step // c_steps % s_size"),
    "a step of another width": ("step % c_steps * 16", "step % c_steps * 8"),
    "the round itself is an index": ("r = step // c_steps // s_size", "r = step"),
    "a product in 32 bits": ("tl.cast(r_size, offset)", "r_size"),
    "nobody looks how many rounds there are": (
        '"counts": ("r * s", "r * s * cdiv(c, 16)")',
        '"counts": ("r * s",)',
    ),
    "steps that do not cover": ("(c_size + 15) // 16\n", "c_size // 16\n"),
    "a sum that starts anew": (
        "        c_start = step % c_steps * 16\n",
        "        c_start = step % c_steps * 16\n        f_acc = tl.full((16, 16), 0.0, real)\n",
    ),
}


def test_as_it_is_emitted_it_is_proved() -> None:
    assert verify(PROGRAM, text_of(PROGRAM)).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_is_not_proved(name: str) -> None:
    old, new = WRONG[name]
    text = changed(text_of(PROGRAM), old, new)
    assert verify(PROGRAM, text).verdict is not LayerVerdict.PROVED


def test_sides_that_change_places_together_are_proved() -> None:
    """The order of rounds does not matter to a sum, nor which coordinate is which."""
    text = changed(
        text_of(PROGRAM), LOOP, LOOP.replace("(r_size", "(s_size").replace("* s_", "* r_")
    )
    text = changed(text, "step // c_steps % s_size", "step // c_steps // r_size")
    text = changed(text, "r = step // c_steps // s_size", "r = step // c_steps % r_size")
    assert verify(PROGRAM, text).verdict is LayerVerdict.PROVED


CONV = written(
    "Func f; In A, W; Var b, h, w, k; RVar r, s, c;"
    "f[b, h, w, k] = rdot(A[b, h + r, w + s, c], W[k, r, s, c], r, s, c);"
    "f.block(b:2, h:4, w:4, k:64); f.tensorize(b:0, h:0, w:0, k:0, c:16);"
    "f.flatten(r, s, c); f.descriptor(A, W); f.compile();"
)
TURNED = '"block": (64, 1, 1, 16), "axes": (1, 2, 0, 3)'
WRONG_BLOCKS = {
    "axes in another order": (TURNED, TURNED.replace("1, 2, 0, 3)", "2, 1, 0, 3)")),
    "an axis twice": (TURNED, TURNED.replace("1, 2, 0, 3)", "1, 1, 0, 3)")),
    "the last axis is not the last": (TURNED, TURNED.replace("1, 2, 0, 3)", "1, 2, 3, 0)")),
    "not turned": (TURNED, TURNED.replace("1, 2, 0, 3)", "0, 1, 2, 3)")),
    "a box that starts elsewhere": ("tl.cast(h_start + r, tl.int32)", "tl.cast(h_start, tl.int32)"),
    "a box of other pictures": ('"block": (2, 4, 4, 16)', '"block": (4, 2, 4, 16)'),
}


@pytest.mark.long
def test_lanes_that_overhang_are_proved() -> None:
    assert verify(CONV, text_of(CONV)).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG_BLOCKS)
def test_other_blocks_are_not(name: str) -> None:
    old, new = WRONG_BLOCKS[name]
    text = changed(text_of(CONV), old, new)
    assert verify(CONV, text).verdict is not LayerVerdict.PROVED


def test_factors_in_another_order_than_the_algorithm_writes_them() -> None:
    """The kernel multiplies W by X; both show all indices, but only laid over each other.

    A tile has all of rx, so that no loop shows which part of a lane it is.
    """
    program = written(
        "Func f; In X, W; Var z, n, x; RVar c, rx: 2;"
        "f[z, n, x] = rdot(X[z, c, x + rx], W[n, c, rx], c, rx);"
        "f.block(z:1, n:16, x:16); f.tensorize(z:0, n:0, x:0, c:8, rx:0); f.flatten(c, rx);"
        "f.compile();"
    )
    text = text_of(program)
    assert verify(program, text).verdict is LayerVerdict.PROVED
    doubled = changed(text, "rx = tl.arange(0, 2)", "rx = tl.arange(0, 2) * 0")
    assert verify(program, doubled).verdict is not LayerVerdict.PROVED
