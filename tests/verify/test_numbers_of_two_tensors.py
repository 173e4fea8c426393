"""A number of 32 bits that is a part of two addresses must fit as a part of each of them."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import written

PROGRAM = written(
    "Func z: f32; In x: f32; Var a, j, q, p; RVar i; "
    "z[a, j, q, p] = rsum(x[i, j], i) + a + q + p; z.compile();"
)
KERNEL = """\
import triton
import triton.language as tl

# verify: k[(len(a), len(j))](x, z, len(i), len(j), len(q), len(p))
# assume: reach(x) < 2**31, len(q) <= 1024, len(p) <= 1024{0}


@triton.jit
def k(x_ptr, z_ptr, n, width, nq, np):
    a = tl.program_id(0)
    j = tl.program_id(1)
    at = a * width + j
    x = tl.load(x_ptr + at, mask=a < n, other=0.0)
    for q in range(0, nq):
        for p in range(0, np):
            tl.store(z_ptr + {1} * nq * np + tl.cast(q, tl.int64) * np + p, x)
"""
WIDENED = ("tl.cast(at, tl.int64)", "(at + tl.cast(j, tl.int64) * 0)")


@pytest.mark.parametrize("widened", WIDENED)
def test_a_number_that_is_masked_in_the_address_of_the_tensor_that_is_promised(
    widened: str,
) -> None:
    """With one row of x, 65536 rows of z and as many columns, the number wraps."""
    report = verify(PROGRAM, KERNEL.format("", widened), only=("overflow",))
    assert report.verdict is LayerVerdict.REFUTED


@pytest.mark.parametrize("widened", WIDENED)
def test_both_tensors_are_promised(widened: str) -> None:
    text = KERNEL.format(", reach(z) < 2**31", widened)
    assert verify(PROGRAM, text, only=("overflow",)).verdict is LayerVerdict.PROVED
