"""Tests that kernels which Triton's compiler refuses are not proved."""

import pytest

from dtpoly.verify.proof.verify import verify
from tests.verify.kernels_by_hand import is_proved, judged, kernel, program, why

STORE = "tl.store(out + i, x * 2.0, mask=m)"
# Each with a part of the reason.
REFUSED = [
    # Arguments that Python does not bind, and options that nobody looks at.
    ("z = tl.load(X + i, m, 0.0, mask=m)", "given twice"),
    ("z = tl.load(X + i, m, 0.0, other=0.0)", "given twice"),
    ("z = tl.zeros((4,), tl.float32, dtype=tl.float32)", "given twice"),
    ("z = tl.program_id(0, axis=0)", "given twice"),
    ("z = tl.sum(x, 0, axis=0)", "given twice"),
    ("z = tl.load(X, other=0.0)", "'other' without 'mask'"),
    ("tl.debug_barrier(5)", "debug_barrier"),
    ("z = tl.load(X + i, mask=m, cache_modifier='.wb')", "cache_modifier"),
    ("tl.store(out + i, x, mask=m & (n < 0), cache_modifier='.ca')", "cache_modifier"),
    ("tl.atomic_add(out + i, x, mask=m & (n < 0), sem='bogus')", "sem="),
    ("tl.atomic_add(out + i, x, mask=m & (n < 0), sem=tl.store(out + i, x))", "sem="),
    ("tl.static_assert(True, tl.store(out + i, x, mask=m))", "no text as written"),
    ("z = tl.multiple_of(i, tl.store(out + i, x, mask=m))", "no number as written"),
    ("tl.static_assert(n == n)", "not sure to be true"),
    ("z = max(x, x, propagate_nan=tl.PropagateNan.ALL)", "'max'"),
    ("z = tl.maximum(x, x, 7)", "maximum"),
    # Methods that tensors have not, or that numbers of Python's have not.
    ("z = x.fma(2.0, 0.0)", "which tensors have not"),
    ("z = (X + i).load(m, 0.0)", "which tensors have not"),
    ("z = (0).arange(128)", "which tensors have not"),
    ("z = n.cdiv(4)", "may be a number of Python's"),
    ("z = n.to(tl.int64)", "may be a number of Python's"),
    ("z = triton.cdiv(n, 4)", "may be a tensor"),
    # Names that change their types.
    ("acc = 0\nfor s in range(n):\n    acc = acc + tl.sum(x, 0)", "another type"),
    ("acc = 0.0\nfor s in range(n):\n    acc = acc + x", "another type"),
    ("acc = 0.0\nfor s in range(n):\n    acc = acc + tl.sum(x, 0)[None]", "another type"),
    ("acc = tl.zeros((128,), tl.float16)\nfor s in range(n):\n    acc += x", "another type"),
    ("for s in range(3):\n    n = n + 1", "makes a constant where it is 1"),
    ("y = x\nif n > 5:\n    y = x.to(tl.float64)", "another type"),
    ("y = 0.0\nif n > 5:\n    y = tl.sum(x, 0)[None]", "another type"),
    ("if n > 5:\n    y = x\nelse:\n    y = x[:, None]", "another type"),
    # Tiles that there are not.
    ("z = tl.arange(0, 4194304)", "lanes, which Triton does not compile"),
    ("z = tl.arange(0, 2048)[:, None] + tl.arange(0, 2048)[None, :]", "lanes"),
    ("z = tl.zeros((3,), tl.float32)", "lanes"),
    ("z = tl.zeros(4, tl.float32)", "in brackets"),
    ("z = tl.arange(-128, 0)", "32 bits"),
    ("z = tl.arange(8589934592, 8589934593)", "32 bits"),
    ("z = tl.broadcast_to(x, (1,))", "broadcast_to"),
    ("z = tl.broadcast_to(x, (128, 128))", "broadcast_to"),
    ("a = tl.zeros((2, 2), tl.float32)\nz = tl.dot(a, a)", "a dot of fewer than 16"),
    ("a = tl.zeros((16, 16), tl.float16)\nz = tl.dot(a, a, input_precision='no')", "precision"),
    ("a = tl.zeros((16, 16), tl.float32)\nz = tl.dot(a, a, input_precision=5)", "precision"),
    ("a = tl.zeros((16, 16), tl.float32)\nz = tl.dot(a, a, a[0:1])", "a[0:1]"),
    ("z = tl.load(X + tl.arange(0, 1), mask=n > 0, other=x)", "has lanes that its addresses lack"),
    # What Triton makes no tensor of.
    ("a = 'text'", "makes no tensor"),
    ("a = k", "makes no tensor"),
    ("a = 99999999999999999999999", "makes no tensor"),
    ("a = 1 / 0", "divided by 0"),
    ("a = 5 % 0.0", "divided by 0"),
    # Options of loops.
    ("for s in tl.static_range(1, num_stages=3):\n    z = s", "a loop over"),
    ("for s in tl.range(0, 1, 1, num_stages=n == n):\n    z = s", "a loop over"),
]
TAKEN = [
    "z = tl.exp(x).to(tl.float16)",
    "tl.static_assert(True, 'a text')",
    "z = tl.multiple_of(i, 8)",
    "z = tl.max_contiguous(i, [8])",
    "z = tl.load(X + i, mask=m, cache_modifier='.cg', eviction_policy='evict_last')",
    "acc = 0.0\nfor s in range(n):\n    acc = acc + tl.sum(x, 0)",
    "count = 0\nfor s in range(n):\n    count += 1",
    "y = 0.0\nif n > 5:\n    y = tl.sum(x, 0)",
    "for s in tl.static_range(2):\n    y = x\n    if s == 1:\n        y = x + 1.0",
    "z = tl.zeros([2, 2], dtype=tl.float32)",
    "z = tl.broadcast_to(x[:, None], (128, 4))",
    "a = tl.zeros((16, 16), tl.float32)\nz = tl.dot(a, a, a, input_precision='ieee')",
    "z = tl.maximum(x, x, tl.PropagateNan.NONE)",
    "for s in tl.range(1, num_stages=2, loop_unroll_factor=2):\n    z = s",
]


@pytest.mark.sampled
@pytest.mark.parametrize(("lines", "reason"), REFUSED)
def test_what_triton_refuses_is_not_read(lines: str, reason: str) -> None:
    assert reason in why(judged("X[i] * 2.0", *lines.split("\n"), STORE))


@pytest.mark.parametrize("lines", TAKEN)
def test_what_triton_takes_is_read(lines: str) -> None:
    assert is_proved(judged("X[i] * 2.0", *lines.split("\n"), STORE))


def test_a_method_is_of_what_was_computed_once() -> None:
    """The object of a method is not loaded twice, nor confused with an argument."""
    lines = (
        "x = tl.load(X + i, mask=m, other=0.0).to(tl.float32)",
        "y = x.broadcast_to((x + x.to(tl.float32)).sum(0).to(tl.float32) * 0.0 + 1.0)",
    )
    assert why(verify(program("X[i] * 2.0"), kernel(*lines, STORE)))
    plain = ("x = (tl.load(X + i, mask=m, other=0.0).to(tl.float32) * 2.0).to(tl.float32)",)
    assert is_proved(verify(program("X[i] * 2.0"), kernel(*plain, "tl.store(out + i, x, mask=m)")))
