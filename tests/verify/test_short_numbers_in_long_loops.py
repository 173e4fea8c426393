"""A number of 32 bits that a loop moves on has 32 bits also where the loop counts in 64."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from tests.verify.test_data_named import proof_of_text

HEAD = """\
import triton
import triton.language as tl

# tensors: x[n], out(y[n])
# verify: k[(7,)](x, y, len(n), P=7)
# assume: {said}


@triton.jit
def k(x, y, n, P: tl.constexpr):
    o = tl.arange(0, 16)
"""
ALONG = """\
    t = {start}
    for i in range(tl.program_id(0) * 16, n, 112):
        tl.store(y + t, tl.load(x + t, mask=t < n), mask=t < n)
        t += 112
"""
BESIDE = """\
    t = tl.program_id(0) - P
    for i in range(tl.program_id(0), tl.cdiv(n, 16), P):
        t += P
        a = tl.cast(t, tl.int64) * 16 + o
        tl.store(y + a, tl.load(x + a, mask=a < n), mask=a < n)
"""
SHORT = "tl.program_id(0) * 16 + o"
LONG = "tl.cast(tl.program_id(0) * 16 + o, tl.int64)"


@pytest.mark.parametrize(
    ("said", "start", "is_right"),
    [
        ("len(n) <= 2**30", SHORT, True),
        ("2**32 <= len(n)", SHORT, False),
        ("2**32 <= len(n)", LONG, True),
        ("len(n) % 112 == 0", SHORT, False),
    ],
)
def test_lanes_along_a_loop(said: str, start: str, is_right: bool) -> None:
    report = proof_of_text(HEAD.format(said=said) + ALONG.format(start=start))
    assert (report.verdict is LayerVerdict.PROVED) == is_right


@pytest.mark.parametrize(
    ("said", "is_right"),
    [
        ("len(n) <= 2**30", True),
        ("2**32 <= len(n), len(n) <= 2**34", True),
        ("2**32 <= len(n), len(n) <= 2**36", False),
        ("2**40 <= len(n)", False),
    ],
)
def test_a_number_beside_a_counter(said: str, is_right: bool) -> None:
    """The counter has 64 bits there, and the number beside it has not."""
    report = proof_of_text(HEAD.format(said=said) + BESIDE)
    assert (report.verdict is LayerVerdict.PROVED) == is_right


COUNTER = """\
    for i in range(tl.program_id(0), tl.cdiv(n, 16), P):
        a = i * 16 + o
        tl.store(y + a, tl.load(x + a, mask=a < n), mask=a < n)
"""


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("len(n) <= 2**30", LayerVerdict.PROVED),
        ("len(n) <= 2**31 - 8", LayerVerdict.REFUTED),
        ("2**32 <= len(n), len(n) <= 2**33", LayerVerdict.UNKNOWN),
    ],
)
def test_a_counter_of_64_bits_is_not_refuted(said: str, verdict: LayerVerdict) -> None:
    """It is not proved either: it is read as the id of a program."""
    assert proof_of_text(HEAD.format(said=said) + COUNTER).verdict is verdict
