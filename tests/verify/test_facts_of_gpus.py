"""Tests that what GPUs compute otherwise than the text says is not proved: docs/semantics.md."""

import pytest

from dtpoly.verify.proof.report import Report
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.kernels_by_hand import is_proved, judged, why
from tests.verify.texts import written

ROUNDED = "a remainder of floats, whose quotient is rounded on a GPU"
SHORT = "the opposite or the size of an i16 as another value, which a GPU does not wrap"
UNREAD = [
    *(("X[i] % 3", "x % 3", one, ROUNDED) for one in ("f32", "f64", "f16", "bf16")),
    ("X[i] % 3.5", "x % 3.5", "f32", ROUNDED),
    ("1.0 % X[i]", "1.0 % x", "f64", ROUNDED),
    ("X[i] % 2.5", "x % 2.5", "i32", ROUNDED),
    ("cast(-X[i], i64)", "(-x).to(tl.int64)", "i16", SHORT),
    ("cast(-X[i], i64)", "-x", "i16", SHORT),
    ("cast(-X[i], f32)", "(-x).to(tl.float32)", "i16", SHORT),
    ("cast(abs(X[i]), i64)", "tl.abs(x)", "i16", SHORT),
    ("cast(X[i] * -1, i32)", "x * -1", "i16", SHORT),
    ("cast(0 - X[i], i32)", "0 - x", "i16", SHORT),
    ("cast(where(X[i] > 3, -X[i], X[i]), i32)", "tl.where(x > 3, -x, x)", "i16", SHORT),
    ("maximum(-X[i], X[i])", "tl.maximum(-x, x)", "i16", SHORT),
    # Brought to 32 or 64 bits by the operation that it is given to.
    ("cast(-X[i], i32) + cast(X[i], i32)", "-x + x.to(tl.int32)", "i16", SHORT),
    ("cast(X[i], i32) - cast(-X[i], i32)", "x.to(tl.int32) - (-x)", "i16", SHORT),
    ("cast(-X[i], i32) * cast(X[i], i32)", "(-x) * x.to(tl.int32)", "i16", SHORT),
    ("cast(abs(X[i]), i64) + cast(X[i], i64)", "tl.abs(x) + x.to(tl.int64)", "i16", SHORT),
    ("cast(0 - X[i], i64) * cast(X[i], i64)", "(0 - x) * x.to(tl.int64)", "i16", SHORT),
]
READ = [
    ("-X[i]", "-x", "i16"),
    ("-X[i] + 1", "-x + 1", "i16"),
    ("abs(X[i])", "tl.abs(x)", "i16"),
    ("where(X[i] > 3, -X[i], X[i])", "tl.where(x > 3, -x, x)", "i16"),
    ("cast(X[i] * 3, i64)", "x * 3", "i16"),
    ("-cast(X[i], i64)", "-x.to(tl.int64)", "i16"),
    ("cast(-X[i], i64)", "(-x).to(tl.int64)", "i8"),
    ("cast(-X[i], i64)", "(-x).to(tl.int64)", "i32"),
]


@pytest.mark.parametrize(("meant", "stored", "dtype", "reason"), UNREAD)
def test_it_is_not_read(meant: str, stored: str, dtype: str, reason: str) -> None:
    report = judged(meant, f"tl.store(out + i, {stored}, mask=m)", dtype=dtype)
    assert reason in why(report)


@pytest.mark.parametrize(("meant", "stored", "dtype"), READ)
def test_what_is_right_there_is_proved(meant: str, stored: str, dtype: str) -> None:
    assert is_proved(judged(meant, f"tl.store(out + i, {stored}, mask=m)", dtype=dtype))


SCALED = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 128),)](X, f, s, len(i))
# assume: len(i) <= 2**30


@triton.jit
def k(X, out, {0}, n):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    m = i < n
    x = tl.load(X + i, mask=m, other=0)
    tl.store(out + i, {1}, mask=m)
"""


def scaled(dtype: str, meant: str, parameter: str, stored: str) -> Report:
    """Return a kernel that is given a float."""
    program = written(f"Func f; In X: {dtype}; SIn s; Var i; f[i] = {meant}; f.compile();")
    return verify(program, SCALED.format(parameter, stored))


@pytest.mark.parametrize(
    ("dtype", "meant", "parameter", "stored"),
    [
        # Beside f16 it is an f32 where the kernel is compiled, and nothing in the interpreter.
        ("f16", "X[i] * s", "s", "x * s"),
        ("f16", "cast(X[i] * s, f32)", "s", "x * s"),
        ("bf16", "cast(X[i], f32) * s", "s", "x * s"),
        # Beside f64 it has been rounded to 32 bits.
        ("f64", "X[i] * s", "s", "x * s"),
        ("f64", "X[i] + s", "s", "x + s"),
        ("f64", "X[i] + s", "s", "x + s.to(tl.float64)"),
    ],
)
def test_a_float_that_is_passed_has_32_bits(
    dtype: str, meant: str, parameter: str, stored: str
) -> None:
    assert scaled(dtype, meant, parameter, stored).verdict is LayerVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("dtype", "meant", "parameter", "stored"),
    [
        ("f32", "X[i] * s", "s", "x * s"),
        ("f32", "X[i] + s * s", "s", "x + s * s"),
        ("f32", "where(X[i] > s, X[i], s)", "s", "tl.where(x > s, x, s)"),
        ("f16", "cast(X[i], f32) * s", "s", "x.to(tl.float32) * s"),
        ("f64", "X[i] * s", "s: tl.float64", "x * s"),
        ("f64", "X[i] * s", "s: tl.constexpr", "x * s"),
    ],
)
def test_a_float_that_is_passed_is_read(
    dtype: str, meant: str, parameter: str, stored: str
) -> None:
    assert scaled(dtype, meant, parameter, stored).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("stored", ["tl.where(x > -1, x, 0)", "x + -1", "tl.maximum(x, -3)"])
def test_a_negative_number_beside_numbers_without_a_sign(stored: str) -> None:
    report = judged("X[i]", f"tl.store(out + i, {stored}, mask=m)", dtype="u8")
    assert report.verdict is not LayerVerdict.PROVED


def test_bits_of_numbers_are_kept_where_a_branch_is_not_taken() -> None:
    """`x & True` is the last bit of x: what changes nothing is another thing for bits."""
    lines = ("v = x", "if n > 18:", "    v = x & 12", "tl.store(out + i, v, mask=m)")
    for meant in ("X[i] % 2", "where(len(i) > 18, X[i], X[i])", "X[i]"):
        assert judged(meant, *lines, dtype="i32").verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    "stored",
    [
        "tl.fdiv(x, 2)",
        "tl.fdiv(x, n)",
        "x.to(out.dtype)",
        "tl.multiple_of(x, (8, 8))",
        "x * (+n)",
    ],
)
def test_what_some_version_of_triton_refuses_is_not_read(stored: str) -> None:
    report = judged("X[i]", f"tl.store(out + i, {stored}, mask=m)")
    assert report.verdict is LayerVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("meant", "stored"),
    [
        ("X[i] / 2.0", "tl.fdiv(x, 2.0)"),
        ("X[i]", "x.to(out.dtype.element_ty)"),
        ("X[i]", "tl.multiple_of(x, 8)"),
        ("X[i]", "tl.multiple_of(x, [8])"),
    ],
)
def test_what_every_version_takes_is_read(meant: str, stored: str) -> None:
    assert is_proved(judged(meant, f"tl.store(out + i, {stored}, mask=m)"))
