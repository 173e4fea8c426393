"""Kernels by hand whose addresses are made of data: what is proved, and what is not."""

import pytest

from dtpoly.verify.checker import check_certificate
from dtpoly.verify.proof.certificate import certificate
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import text_of, written

DT = "Func out;\nIn T: i64, E: f32;\nVar l, k;\nout[l, k] = E[T[l], k];\nout.compile();\n"
PROGRAM = written(DT)
HEAD = """\
import triton
import triton.language as tl

# verify: kernel[(len(l), cdiv(len(k), 64))](
#     T, E, out, T.stride(0), E.stride(0), E.stride(1), out.stride(0), out.stride(1),
#     len(k), E.shape[0], len(l)
# )


@triton.jit
def kernel(T, E, out, ts, es, ek, os, ok, n, v, m):
    l = tl.program_id(0).to(tl.int64)
    k = tl.program_id(1).to(tl.int64) * 64 + tl.arange(0, 64)
"""
RIGHT = {
    "in one sum": """\
    t = tl.load(T + l * ts)
    e = tl.load(E + t * es + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "in two steps": """\
    t = tl.load(T + l * ts)
    row = E + t * es
    e = tl.load(row + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
}
# None of these is read so that it could be proved; all but the first are wrong.
NOT_PROVED = {
    "chosen before it is tested": """\
    t = tl.load(T + l * ts)
    ok_ = (t >= 0) & (t < v)
    s = tl.where(ok_, t, 0)
    e = tl.load(E + s * es + k * ek, mask=ok_ & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "the mask is that of the next row": """\
    t = tl.load(T + l * ts)
    u = tl.load(T + (l + 1) * ts, mask=l + 1 < m, other=0)
    e = tl.load(E + t * es + k * ek, mask=(u >= 0) & (u < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "the index is that of the next row": """\
    t = tl.load(T + l * ts)
    u = tl.load(T + (l + 1) * ts, mask=l + 1 < m, other=0)
    e = tl.load(E + u * es + k * ek, mask=(u >= 0) & (u < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "the address of a row before": """\
    row = E
    t = tl.load(T + l * ts)
    for i in range(0, 2):
        e = tl.load(row + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
        tl.store(out + l * os + k * ok, e, mask=k < n)
        row = E + t * es
""",
    "data is added in a loop": """\
    t = tl.load(T + l * ts)
    row = E + t * es
    for i in range(0, 2):
        row += t * es
    e = tl.load(row + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "data is added twice": """\
    t = tl.load(T + l * ts)
    e = tl.load(E + t * es + t * es + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "data and a number": """\
    t = tl.load(T + l * ts)
    e = tl.load(E + t * es + es + k * ek, mask=(t >= 0) & (t < v - 1) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "the product has 32 bits": """\
    t = tl.load(T + l * ts).to(tl.int32)
    e = tl.load(E + t * es + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "the index is cut to 32 bits": """\
    t = tl.load(T + l * ts).to(tl.int32).to(tl.int64)
    e = tl.load(E + t * es + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "an index that is not loaded": """\
    t = tl.load(T + l * ts, mask=l < m - 1)
    e = tl.load(E + t * es + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "a store at data": """\
    t = tl.load(T + l * ts)
    e = tl.load(E + t * es + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + t * os + k * ok, e, mask=(t >= 0) & (t < m) & (k < n))
""",
    "data is subtracted": """\
    t = tl.load(T + l * ts)
    e = tl.load(E - t * es + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "a load at data of what is stored": """\
    t = tl.load(T + l * ts)
    e = tl.load(E + t * es + k * ek, mask=(t >= 0) & (t < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
    tl.debug_barrier()
    e = tl.load(out + t * os + k * ok, mask=(t >= 0) & (t < m) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
    "the test is made of floats": """\
    t = tl.load(T + l * ts)
    f = t.to(tl.float32)
    e = tl.load(E + t * es + k * ek, mask=(f >= 0) & (f < v) & (k < n), other=0.0)
    tl.store(out + l * os + k * ok, e, mask=k < n)
""",
}


def verdict(body: str) -> LayerVerdict:
    """Return what is proved of a kernel with this body."""
    return verify(PROGRAM, HEAD + body, seconds=60).verdict


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_proved(name: str) -> None:
    assert verdict(RIGHT[name]) is LayerVerdict.PROVED


@pytest.mark.parametrize("name", NOT_PROVED)
def test_it_is_not_proved(name: str) -> None:
    assert verdict(NOT_PROVED[name]) is not LayerVerdict.PROVED


def test_a_certificate_is_accepted() -> None:
    """The checker without isl decides the same sets, in which a number that is data has a name."""
    text = text_of(PROGRAM)
    checked = check_certificate(certificate(PROGRAM, DT, text), DT, text)
    assert checked.complaints == ()
    assert checked.accepted
    assert checked.not_decided == 0


TABLE = """\
import triton
import triton.language as tl

# verify: kernel[(cdiv(len(i), 64),)](T, E, out, len(i))
# assume: len(i) < 2**30


@triton.jit
def kernel(T, E, out, n):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    t = tl.load(T + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(E + AT), mask=i < n)
"""
LOOKED_UP = {
    # All numbers of 8 bits without a sign are indices of 256 elements, and no others need be.
    "as it was loaded": ("u8", 256, "t", "PROVED"),
    "in a shorter table": ("u8", 255, "t", "REFUTED"),
    "with a sign": ("i8", 256, "t", "REFUTED"),
    "of 32 bits": ("i32", 256, "t", "REFUTED"),
    "chosen": ("u8", 256, "tl.where(i < n, t, 0)", "PROVED"),
    "brought to more bits": ("u8", 256, "t.to(tl.int32)", "PROVED"),
    # In 8 bits these wrap.
    "brought to fewer bits": ("i32", 256, "t.to(tl.uint8)", "UNKNOWN"),
    "with a sign that it had not": ("u8", 256, "t.to(tl.int8)", "UNKNOWN"),
    "computed in few bits": ("u8", 256, "t * 2", "UNKNOWN"),
    "added in few bits": ("u8", 256, "(t + 1)", "UNKNOWN"),
}


@pytest.mark.parametrize("case", LOOKED_UP)
def test_a_table_for_numbers_of_few_bits(case: str) -> None:
    dtype, size, index, wanted = LOOKED_UP[case]
    of = f"RVar j: {size}; out[i] = E[T[i]] + rsum(E[j] * 0, j);"
    program = written(f"Func out; In T: {dtype}, E: f32; Var i; {of} out.compile();")
    found = verify(program, TABLE.replace("AT", index), seconds=60)
    bounds = [one for one in found.functions[0].layers if one.name == "bounds"]
    assert [one.verdict.name for one in bounds] == [wanted]


def test_two_axes_with_one_stride_are_not_told_apart() -> None:
    program = written(
        "Func out; In T: i64, E: f32; Var i; RVar a: 1, b: 1;"
        "out[i] = E[T[i], 0] + rsum(E[a, b] * 0, a, b); out.compile();"
    )
    found = verify(program, TABLE.replace("AT", "t"), seconds=60)
    assert found.verdict is LayerVerdict.UNKNOWN
