"""Sizes that are brought to narrower types wrap there, in the algorithm as in a kernel."""

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed, text_of, written

CUT = "Func f; In A: i32; Var x; f[x] = A[x] + (len(x) + len(x)); f.compile();"
NARROW = "Func f; SIn n: i32; In A; Var x; f[x] = A[x] + 3 * len(x); f.compile();"


def verdict(source: str, old: str = "", new: str = "") -> LayerVerdict:
    program = written(source)
    return verify(program, changed(text_of(program), old, new)).verdict


def test_a_doubled_size_beside_32_bits_is_proved() -> None:
    assert "tl.cast(" in text_of(written(CUT))
    assert verdict(CUT) is LayerVerdict.PROVED


def test_a_product_in_32_bits_is_not() -> None:
    old = "3 * tl.cast(x_size, tl.int64)"
    assert verdict(NARROW) is LayerVerdict.PROVED
    assert verdict(NARROW, old, "3 * tl.cast(x_size, tl.int32)") is not LayerVerdict.PROVED
