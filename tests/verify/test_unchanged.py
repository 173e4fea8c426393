"""Rows that begin at multiples of four numbers, and calls that do again what one before did."""

import pytest

from dtpoly.compile import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import changed, text_of

PRODUCT = load(
    Source(
        "f.dt",
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:16, n:32); f.tensorize(m:0, n:0, k:16); f.compile();",
    )
)
A, K = "        A_stride_0 = A_stride_0 // 4 * 4\n", "        k_size = k_size // 4 * 4\n"
AGAIN = "\n\nf = dt_again(f)\n"
SLOW = "    if dt_interpreted or not dt_is_direct():\n        return function\n"


def test_it_is_proved() -> None:
    assert verify(PRODUCT, text_of(PRODUCT), seconds=60).verdict is Verdict.PROVED


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
        ("k_size % 4 == 0", "k_size % 2 == 0"),
        ("A.stride(0) % 4 == 0", "A.stride(1) % 4 == 0"),
        ("            and k_size % 4 == 0", ""),
        ("fours=A.stride(0) % 4 == 0\n            and ", "fours="),
        ("name: is_four if", "name: True if"),
    ],
)
def test_what_may_be_no_multiple_is_not_rounded(old: str, new: str) -> None:
    text = changed(text_of(PRODUCT), old, new)
    assert verify(PRODUCT, text, seconds=60).verdict is not Verdict.PROVED


@pytest.mark.parametrize(("number", "verdict"), [(1, Verdict.PROVED), (2, Verdict.REFUTED)])
def test_a_number_of_that_name_is_a_number(number: int, verdict: Verdict) -> None:
    """It is not the truth that it is not 0."""
    text = text_of(PRODUCT)
    first = text.index("            fours=A.stride(0)")
    last = text.index("            offset=", first)
    text = f"{text[:first]}            fours={number},\n{text[last:]}"
    text = changed(text, "if fours:", "if fours > 2:")
    text = changed(text, "m_start = pid * 16", "m_start = pid * 16 * fours")
    assert verify(PRODUCT, text, seconds=60).verdict is verdict


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (AGAIN, f"{AGAIN}{AGAIN}"),
        (AGAIN, "\n\nf = dt_again(f_like)\n"),
        (AGAIN, "\n\nf = dt_again(dt_again(f))\n"),
        (AGAIN, "\n\nf_like = f = dt_again(f)\n"),
        (SLOW, ""),
        ("dt_seen = threading.local()", "dt_seen = threading.Thread()"),
        ("import threading\n", "import threading.local\n"),
        ("address & 15\n", "address & 7\n"),
        (
            '        f_launch(\n            dt_grid("f", programs),',
            "        f_kernel[(programs,)](",
        ),
    ],
)
def test_another_repetition_is_not_proved(old: str, new: str) -> None:
    text = changed(text_of(PRODUCT), old, new)
    assert verify(PRODUCT, text, seconds=60).verdict is not Verdict.PROVED


def test_without_repetition_it_is_proved() -> None:
    text = changed(text_of(PRODUCT), AGAIN, "\n")
    assert verify(PRODUCT, text, seconds=60).verdict is Verdict.PROVED
