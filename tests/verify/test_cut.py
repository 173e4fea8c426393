"""Sizes that are brought to narrower types wrap there, in the algorithm as in a kernel."""

from dtpoly.verify.report import Verdict
from dtpoly.verify.verify import verify
from tests.verify.texts import changed, text_of, written

CUT = "Func f; In A: i32; Var x; f[x] = A[x] + (len(x) + len(x)); f.compile();"
NARROW = "Func f; SIn n: i32; In A; Var x; f[x] = A[x] + 3 * len(x); f.compile();"


def overflow(source: str, old: str = "", new: str = "") -> Verdict:
    program = written(source)
    (function,) = verify(program, changed(text_of(program), old, new)).functions
    return next(layer.verdict for layer in function.layers if layer.name == "overflow")


def test_a_doubled_size_beside_32_bits_is_not_refuted() -> None:
    assert "tl.cast(" in text_of(written(CUT))
    assert overflow(CUT) is Verdict.UNKNOWN


def test_a_product_in_32_bits_is() -> None:
    old = "3 * tl.cast(x_size, tl.int64)"
    assert overflow(NARROW) is Verdict.PROVED
    assert overflow(NARROW, old, "3 * tl.cast(x_size, tl.int32)") is Verdict.REFUTED
