"""A size of 64 bits brings numbers of 32 bits to 64 beside a promised reach: they must fit."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from tests.verify.test_data_named import proof_of_text

TEXT = """\
import triton
import triton.language as tl

# tensors: x[r, n], w[z], out(y[r, n])
# verify: k[(cdiv(len(n), 16), len(r))](x, w, y, len(n), len(z), 3 * 2**30)
# assume: reach(x) < 2**31, reach(y) < 2**31, len(n) <= 2**31 - 100{more}


@triton.jit
def k(x, w, y, n, z, big):
    r = tl.program_id(1)
    o = tl.program_id(0) * 16 + tl.arange(0, 16)
    m = o < n
    q = r * n + o
{body}
    tl.store(y + a, tl.load(x + q, mask=m), mask=m)
"""
# With two rows of 2^30 - 10, and z = 2^31, q + 100 wraps before it gets 64 bits. With two rows of
# 2^29, n * 4 does, and n * 3 does not.
WRONG = {
    "a sum": ("a = q + 100 + z - z - 100",),
    "a number that the launch gives": ("a = q + 100 + big - big - 100",),
    "in one order or the other": ("a = z + (q + 100) - z - 100",),
    "the end of a loop": (
        "a = o + z",
        "for i in range(0, r):",
        "    a += n * 4",
        "    a -= n * 3",
        "a -= z",
    ),
    "a number that the type may not hold": ("a = q + 4294967296 - 4294967296",),
}
SMALL = ", len(z) < 2**31"


def judged(more: str, *lines: str) -> LayerVerdict:
    body = "\n".join(f"    {line}" for line in lines)
    return proof_of_text(TEXT.format(more=more, body=body)).verdict


@pytest.mark.parametrize("case", WRONG)
def test_what_wraps_before_it_is_widened_is_not_proved(case: str) -> None:
    assert judged("", *WRONG[case]) in (LayerVerdict.UNKNOWN, LayerVerdict.REFUTED)


def test_where_no_size_has_64_bits_nothing_is_widened() -> None:
    text = TEXT.replace(", 3 * 2**30)", ")").replace(", big)", ")")
    for lines, more in (("a = q + 100 + z - z - 100", SMALL), ("a = q", "")):
        report = proof_of_text(text.format(more=more, body=f"    {lines}"))
        assert report.verdict is LayerVerdict.PROVED
