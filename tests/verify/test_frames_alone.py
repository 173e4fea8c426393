"""The exponential of a maximum alone may be infinite, also beside a sum that a loop keeps."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import written

SOFTMAX = written(
    "Func y: f32, top: f32, e: f32; In x: f32; Var i; RVar k; top[i] = rmax(x[i, k], k);"
    "e[i, k] = exp(x[i, k] - reshape(top[i], i, 1));"
    "y[i, k] = e[i, k] / reshape(rsum(e[i, k], k), i, 1); y.compile();"
)
KERNEL = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](x, y, len(k), x.stride(0), y.stride(0))
# assume: len(k) <= 2**20, len(k) >= 1, reach(x) < 2**31, reach(y) < 2**31, finite


@triton.jit
def k(x_ptr, y_ptr, n, along_x, along_y):
    row = tl.program_id(0).to(tl.int64)
    m = tl.full((), -1.2676506002282294e30, tl.float32)
    s = tl.zeros((), tl.float32)
    for j in range(0, n, 16):
        at = j + tl.arange(0, 16)
        x = tl.load(x_ptr + row * along_x + at, mask=at < n, other=float("-inf"))
        new = tl.maximum(m, tl.max(x, 0))
        s = s * tl.exp(m - new) + tl.sum(tl.exp(x - new), 0)
        m = new
    for j in range(0, n, 16):
        at = j + tl.arange(0, 16)
        x = tl.load(x_ptr + row * along_x + at, mask=at < n, other=0.0)
        tl.store(y_ptr + row * along_y + at, VALUE, mask=at < n)
"""


def verdict(value: str) -> LayerVerdict:
    return verify(SOFTMAX, KERNEL.replace("VALUE", value)).verdict


def test_the_largest_is_subtracted() -> None:
    assert verdict("tl.exp(x - m) / s") is LayerVerdict.PROVED


@pytest.mark.parametrize("divisor", ["s * tl.exp(m)", "tl.exp(m) * s"])
def test_nothing_is_subtracted(divisor: str) -> None:
    """Where x is 100, exp(x) is infinite in f32, and the quotient is a nan."""
    assert verdict(f"tl.exp(x) / ({divisor})") is LayerVerdict.UNKNOWN
