"""Rows that begin at multiples of four numbers."""

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of

PRODUCT = load(
    Source(
        "f.dt",
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:16, n:32); f.tensorize(m:0, n:0, k:16); f.compile();",
    )
)
A, K = "        A_stride_0 = A_stride_0 // 4 * 4\n", "        k_size = k_size // 4 * 4\n"
FOURS = '"fours": ("A.stride(0)", "B.stride(0)", "f.stride(0)", "k", "n")'


def test_it_is_proved() -> None:
    assert verify(PRODUCT, text_of(PRODUCT), seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if fours:", "if not fours:"),
        ("if fours:", "if even:"),
        (A, A.replace("4 * 4", "8 * 8")),
        (A, A.replace("4 * 4", "4 * 8")),
        (A, A.replace("= A_stride_0", "= B_stride_0")),
        (A, A.replace("A_stride_0", "A_stride_1")),
        (K, K.replace("k_size", "m_size")),
        (K, f"{K}        k_size = k_size - 1\n"),
        (K, f"{K}    else:\n        k_size = k_size - 1\n"),
        (FOURS, FOURS.replace('"k"', '"2 * k"')),
        (FOURS, FOURS.replace('"k"', '"k + 1"')),
        (FOURS, FOURS.replace(', "k"', "")),
        (FOURS, FOURS.replace('"A.stride(0)", ', "")),
        (FOURS, FOURS.replace("A.stride(0)", "A.stride(1)")),
        (FOURS, '"fours": ()'),
        (FOURS, '"fours": ("0",)'),
    ],
)
def test_what_may_be_no_multiple_is_not_rounded(old: str, new: str) -> None:
    text = changed(text_of(PRODUCT), old, new)
    assert verify(PRODUCT, text, seconds=60).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    "given", ['"flags": {"fours": "m == m", ', '"lanes": {"fours": "lanes(k)"}, "flags": {']
)
def test_nothing_else_is_given_by_that_name(given: str) -> None:
    """The runtime tells by it what may be passed as False for itself."""
    text = changed(text_of(PRODUCT), f"            {FOURS},\n", "")
    text = changed(text, '"flags": {', given)
    (function,) = verify(PRODUCT, text, seconds=60).functions
    assert "'fours', which the runtime gives" in function.layers[0].why
