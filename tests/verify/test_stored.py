"""Stores through descriptors and rows that begin aligned: proved, and mistakes in them not."""

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of

PRODUCT = load(
    Source(
        "f.dt",
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:16, n:32); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f); f.pitch();"
        "f.compile();",
    )
)
STARTS = "[tl.cast(m_start, tl.int32), tl.cast(n_start, tl.int32)]"


def test_it_is_proved() -> None:
    assert verify(PRODUCT, text_of(PRODUCT), seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (STARTS, STARTS.replace("n_start", "m_start")),
        (STARTS, STARTS.replace("m_start, ", "m_start + 1, ")),
        ('"of": "f", "block": (16, 32)', '"of": "f", "block": (16, 16)'),
        ("if f_blocks is not None:", "if A_blocks is not None:"),
    ],
)
def test_mistakes(old: str, new: str) -> None:
    text = changed(text_of(PRODUCT), old, new)
    assert verify(PRODUCT, text, seconds=60).verdict is not LayerVerdict.PROVED


def test_rows_that_begin_anywhere_are_proved_too() -> None:
    """Kernels ask for the strides of what they are given."""
    text = changed(text_of(PRODUCT), ', "pitched": True', "")
    assert verify(PRODUCT, text, seconds=60).verdict is LayerVerdict.PROVED
