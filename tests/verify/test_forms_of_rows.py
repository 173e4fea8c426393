"""Forms of public kernels that work on rows: what is right is proved and computes that."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.handwritten import launch
from tests.verify.texts import written

KERNEL = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](x, y, s, len(j), BLOCK=next_power_of_2(len(j)))
# assume: len(j) <= 1024, len(j) >= 1, finite


@triton.jit
def k(x_ptr, y_ptr, s_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    s = tl.load(s_ptr + row)
    BODY
    tl.store(y_ptr + row * n + at, y, mask=at < n)
"""
SUM = "reshape(rsum(x[i, j], j), i, 1)"
FORMS = {
    "an axis that stays": (
        f"x[i, j] + {SUM}",
        "y = x + tl.sum(x, axis=0, keep_dims=True)",
        "y = x + tl.max(x, axis=0, keep_dims=True)",
    ),
    "all axes": (
        f"x[i, j] + {SUM}",
        "y = x + tl.sum(tl.reshape(x, (BLOCK, 1)))",
        "y = x + tl.max(tl.reshape(x, (BLOCK, 1)))",
    ),
    "a number by a size": (
        f"x[i, j] + 1 / len(j) * {SUM}",
        "y = x + (1 / n) * tl.sum(x, 0)",
        "y = x + (1 / BLOCK) * tl.sum(x, 0)",
    ),
    "a float of Python": (
        "x[i, j] * 1.5",
        "y = x * float(1.5)",
        "y = x * float(1.25)",
    ),
    "a choice by data": (
        "x[i, j] / reshape(where(s[i] == 0, 1, s[i]), i, 1)",
        "d = 1.0 if s == 0 else s\n    y = x / d",
        "d = s if s == 0 else 1.0\n    y = x / d",
    ),
    "0 times what is finite": (
        "x[i, j] + reshape(rsum(x[i, j] * reshape(s[i], i, 1), j), i, 1)",
        "y = x + tl.sum(x * s, 0)",
        "y = x + tl.sum(x * s, 0) * s",
    ),
    "a clamp": (
        "clamp(x[i, j], -1, 1)",
        "y = tl.clamp(x, -1.0, 1.0)",
        "y = tl.clamp(x, -1.0, 2.0)",
    ),
    "a clamp by names": (
        "clamp(x[i, j], -1, 1)",
        "y = tl.clamp(x, min=-1.0, max=1.0)",
        "y = tl.clamp(x, min=-1.0, max=1.5)",
    ),
    "a reduction by names": (
        f"x[i, j] + {SUM}",
        "y = x + tl.reduce(x, axis=0, combine_fn=add)",
        "y = x + tl.reduce(x, axis=0, combine_fn=larger)",
    ),
}
HELPERS = """

@triton.jit
def add(a, b):
    return a + b


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)
"""


def program(value: str) -> Program:
    uses = "" if "s[i]" in value else " + 0 * reshape(s[i], i, 1)"
    return written(
        f"Func y: f32; In x: f32, s: f32; Var i; RVar j; y[i, j] = {value}{uses}; y.compile();"
    )


def kernel(body: str, value: str) -> str:
    uses = "" if "s[i]" in value else "\n    y = y + 0 * s"
    return KERNEL.replace("BODY", body + uses) + HELPERS


@pytest.mark.parametrize("form", FORMS)
def test_it_is_proved(form: str) -> None:
    value, right, _ = FORMS[form]
    assert verify(program(value), kernel(right, value)).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("form", FORMS)
def test_a_mistake_is_not_proved(form: str) -> None:
    value, _, wrong = FORMS[form]
    assert verify(program(value), kernel(wrong, value)).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("columns", [1, 7, pytest.param(64, marks=pytest.mark.sampled)])
def test_it_computes_what_is_proved(form: str, columns: int) -> None:
    value, right, _ = FORMS[form]
    launch(program(value), kernel(right, value), {"i": 3, "j": columns})


PLANES = """\
import triton
import triton.language as tl

# verify: k[(len(i), len(j))](x, y, len(j) * len(k), len(k), len(k), BLOCK=next_power_of_2(len(k)))
# assume: len(k) <= 1024, len(j) <= 65536


@triton.jit
def k(x_ptr, y_ptr, plane, line, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    here = tl.program_id(0) * tl.cast(plane, dtype=tl.int64) + tl.program_id(1).to(tl.int64) * line
    x = tl.load(x_ptr + here + at, mask=at < n)
    tl.store(y_ptr + here + at, x, mask=at < n)
"""
COPY = "Func y: f32; In x: f32; Var i, j, k; y[i, j, k] = x[i, j, k]; y.compile();"


def test_a_stride_is_a_product_that_is_passed() -> None:
    assert verify(written(COPY), PLANES).verdict is LayerVerdict.PROVED
    swapped = PLANES.replace("len(j) * len(k), len(k), len(k)", "len(i) * len(k), len(k), len(k)")
    assert verify(written(COPY), swapped).verdict is not LayerVerdict.PROVED


def test_a_product_that_the_kernel_makes_must_fit() -> None:
    """A product that is passed has as many bits as it needs; the same one in the kernel has not."""
    made = PLANES.replace("tl.cast(plane, dtype=tl.int64)", "tl.cast(m * n, tl.int64)")
    made = made.replace("len(k), len(k), len(k)", "len(k), len(k), len(k), len(j)")
    made = made.replace("line, n, BLOCK", "line, n, m, BLOCK")
    assert verify(written(COPY), made).verdict is LayerVerdict.PROVED  # it is at most 2**26
    made = made.replace("len(j) <= 65536", "len(j) <= 2**22")
    assert verify(written(COPY), made).verdict is not LayerVerdict.PROVED
