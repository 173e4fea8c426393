"""Promises that no call keeps prove nothing, and a tensor that a kernel stores has no promise."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from tests.verify.test_data_named import proof_of_text

KERNEL = """\
import triton
import triton.language as tl

# tensors: ids[r].{dtype}, E[v], out(Y[r])
# verify: gather[(len(r),)](ids, E, Y)
# assume: {said}


@triton.jit
def gather(ids, E, Y):
    p = tl.program_id(0).to(tl.int64)
    t = tl.load(ids + p)
    tl.store(Y + p, tl.load(E + t))
"""
CHANGED = """\
import triton
import triton.language as tl

# tensors: inout(ids[r].i64), E[v], out(Y[r])
# verify: gather[(len(r),)](ids, E, Y, len(v))
# assume: 0 <= ids[...] < len(v)


@triton.jit
def gather(ids, E, Y, v):
    p = tl.program_id(0).to(tl.int64)
    t = tl.load(ids + p)
    tl.store(Y + p, tl.load(E + t))
    tl.debug_barrier()
    tl.store(ids + p, tl.cast(v, tl.int64))
"""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("ids[...] >= 5, ids[...] < 3", "no elements of 'ids' keep"),
        ("0 <= ids[...] < len(v), ids[...] >= len(v)", "no elements of 'ids' keep"),
        ("0 <= ids[...] < len(v), len(v) == 0, len(r) >= 1", "no elements of 'ids' keep"),
        ("0 <= ids[...] < 3, distinct(ids), len(r) >= 4, len(v) >= 3", "no elements of 'ids' keep"),
        (
            "0 <= ids[...] < len(v), len(r) * len(v) < 2**10, len(r) >= 64, len(v) >= 16",
            "no call keeps that a product is below 1024: it is at least 1024",
        ),
        ("0 <= ids[...] < len(v), len(r) >= 2, len(r) <= 1", "no call keeps what is assumed"),
    ],
)
def test_nothing_is_proved_of_promises_that_no_call_keeps(said: str, why: str) -> None:
    report = proof_of_text(KERNEL.format(dtype="i64", said=said))
    assert {one.verdict for one in report.layers} == {LayerVerdict.UNKNOWN}
    assert all(one.why.startswith(why) for one in report.layers)


def test_what_a_type_holds_counts() -> None:
    """No element of 8 bits is at least 300."""
    said = "0 <= ids[...] < len(v), ids[...] >= 300"
    verdicts = [
        proof_of_text(KERNEL.format(dtype=dtype, said=said)).verdict for dtype in ("u8", "i32")
    ]
    assert verdicts == [LayerVerdict.UNKNOWN, LayerVerdict.PROVED]


@pytest.mark.parametrize(
    "said",
    [
        "0 <= ids[...] < len(v), ids[...] != 2",
        "0 <= ids[...] < 3, distinct(ids), len(r) >= 3, len(v) >= 3",
        "0 <= ids[...] < len(v), len(r) * len(v) < 2**10, len(r) >= 63, len(v) >= 16",
        "0 <= ids[...] < len(v), len(r) == 0",
    ],
)
def test_promises_that_some_call_keeps_are_used(said: str) -> None:
    assert proof_of_text(KERNEL.format(dtype="i64", said=said)).verdict is LayerVerdict.PROVED


def test_a_tensor_that_is_stored_has_no_promise() -> None:
    """The result in place has another name, and the same memory."""
    report = proof_of_text(CHANGED)
    assert {one.verdict for one in report.layers} == {LayerVerdict.UNKNOWN}
    assert {one.why for one in report.layers} == {
        "a promise about elements of 'ids', which the kernel stores"
    }
    kept = CHANGED.replace("inout(ids[r].i64)", "ids[r].i64")
    kept = kept.replace("    tl.debug_barrier()\n    tl.store(ids + p, tl.cast(v, tl.int64))\n", "")
    assert proof_of_text(kept).verdict is LayerVerdict.PROVED
