"""Indices and sizes that a kernel brings to f32: from 2^24 on these are other numbers there."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.kernels_by_hand import is_proved, judged
from tests.verify.texts import text_of, written

# A kernel that takes neighbours for equal loses an element, or takes one too many.
WRONG = (
    ("X[i]", "tl.where(i.to(tl.float32) < n, x, 0.0)"),
    ("X[i]", "tl.where(i * 1.0 != n, x, 0.0)"),
    ("X[i]", "tl.where(i.to(tl.float32) - n < 0, x, 0.0)"),
    ("X[i]", "tl.where(2.0 * i - n < i, x, 0.0)"),
    ("X[i]", "tl.where((i * 1.0 - n).to(tl.int1), x, 0.0)"),
    ("X[i]", "tl.where(i.to(tl.float32).to(tl.float64) < n, x, 0.0)"),
    ("X[i]", "tl.where(tl.floor(i * 1.0) < n, x, 0.0)"),
    ("X[i]", "tl.where((i * 1.0).to(tl.int32) < n, x, 0.0)"),
    ("where(i == len(i) - 1, X[i], 0)", "tl.where(i.to(tl.float32) == n - 1, x, 0.0)"),
    ("where(2 * i < len(i), X[i], 0)", "tl.where(2.0 * i < n, x, 0.0)"),
    ("where(i < 16777217, X[i], 0)", "tl.where(i.to(tl.float32) < 16777217, x, 0.0)"),
    ("where(i < 16777217, X[i], 0)", "tl.where(i.to(tl.float32) <= 16777216.5, x, 0.0)"),
    ("where(i < 16777217, X[i], 0)", "tl.where(i < tl.cast(16777217, tl.float32), x, 0.0)"),
)
RIGHT = (
    ("where(i == len(i) - 1, X[i], 0)", "tl.where(i == n - 1, x, 0.0)"),
    ("where(i < 100.5, X[i], 0)", "tl.where(i < 100.5, x, 0.0)"),
    ("where(cast(i, f32) < 100, X[i], 0)", "tl.where(i.to(tl.float32) < 100, x, 0.0)"),
    ("X[i]", "tl.where(i.to(tl.float64) < n, x, 0.0)"),
    ("X[i]", "tl.where(i < float('inf'), x, 0.0)"),
    ("where(i < X[i], X[i], 0)", "tl.where(i < x, x, 0.0)"),
)

# In f32, 7 * 0.1 is 0.7 and 3 * 0.1 * 10 is 3, and with more digits they are not.
RIGHT_IN_F32 = (
    ("where(i == 7, X[i], 0)", "tl.where((i * 0.1) == 0.7, x, 0.0)"),
    ("where(i == 3, X[i], 0)", "tl.where((i * 0.1) * 10 == 3, x, 0.0)"),
    ("where(i == 3, X[i], 0)", "tl.where((i * 0.1) - 0.3 == 0, x, 0.0)"),
    ("where(i < 30, X[i], 0)", "tl.where((i * 0.1).to(tl.int32) < 3, x, 0.0)"),
)
WRONG_IN_F32 = (
    ("where(i == 7, X[i], 0)", "tl.where((i * 0.1) == 0.8, x, 0.0)"),
    ("where(i == 3, X[i], 0)", "tl.where((i * 0.1) - 0.4 > 0, x, 0.0)"),
)


@pytest.mark.parametrize(("value", "line"), RIGHT_IN_F32)
def test_what_f32_rounds_to_the_same_number_is_not_refuted(value: str, line: str) -> None:
    report = judged(value, f"tl.store(out + i, {line}, mask=m)")
    assert report.verdict is LayerVerdict.UNKNOWN


@pytest.mark.parametrize(("value", "line"), WRONG_IN_F32)
def test_what_f32_has_apart_is_refuted(value: str, line: str) -> None:
    report = judged(value, f"tl.store(out + i, {line}, mask=m)")
    assert report.verdict is LayerVerdict.REFUTED


@pytest.mark.parametrize(("value", "line"), WRONG)
def test_what_is_compared_as_f32_is_not_compared_as_it_is(value: str, line: str) -> None:
    assert not is_proved(judged(value, f"tl.store(out + i, {line}, mask=m)"))


@pytest.mark.parametrize(("value", "line"), RIGHT)
def test_what_f32_or_the_algorithm_allows_is_proved(value: str, line: str) -> None:
    assert is_proved(judged(value, f"tl.store(out + i, {line}, mask=m)"))


@pytest.mark.parametrize("line", ["i.to(tl.float32)", "(i * 1.0).to(tl.float64)"])
def test_f32_is_not_what_is_added_to_f64(line: str) -> None:
    assert is_proved(judged("X[i] + i", "tl.store(out + i, x + i, mask=m)", dtype="f64"))
    assert is_proved(
        judged("X[i] + cast(i, f32)", f"tl.store(out + i, x + {line}, mask=m)", dtype="f64")
    )
    assert not is_proved(judged("X[i] + i", f"tl.store(out + i, x + {line}, mask=m)", dtype="f64"))


# Where callers decide the type, it may be f64, and then f32 rounds what is brought to it.
FREE = (
    """Func f; In A; Var x; f[x] = A[x] + {value}; f.block(x:16); f.tensorize(x:0); f.compile();"""
)


@pytest.mark.parametrize(
    "line",
    [
        "x.to(tl.float32)",
        "x.to(tl.float32).to(real)",
        "(x * 1.0)",
        "tl.where(x > 3, x.to(tl.float32), x.to(real))",
        "tl.maximum(x.to(tl.float32), x.to(real))",
    ],
)
def test_f32_is_not_what_is_added_where_callers_decide_the_type(line: str) -> None:
    of = written(FREE.format(value="x"))
    text = text_of(of)
    assert "A_tile + x.to(real)" in text
    assert not is_proved(verify(of, text.replace("A_tile + x.to(real)", f"A_tile + {line}")))


@pytest.mark.parametrize("value", ["x", "cast(x, f32)"])
def test_what_the_program_adds_is_proved(value: str) -> None:
    of = written(FREE.format(value=value))
    assert is_proved(verify(of, text_of(of)))


CHOICES = (
    "tl.where(i > 5, i.to(tl.float64), i.to(tl.float32))",
    "tl.where(i > 5, i.to(tl.float32), i.to(tl.float64))",
    "tl.where(x > 5.0, i * 1.0, i.to(tl.float64))",
    "tl.where(i > 5, x, i.to(tl.float32))",
    "tl.maximum(i.to(tl.float64), i.to(tl.float32))",
    "tl.minimum(i * 1.0, i.to(tl.float64))",
    "tl.minimum(i.to(tl.float32), n.to(tl.float64))",
    "tl.maximum(i.to(tl.float32), x - x)",
)


@pytest.mark.parametrize("choice", CHOICES)
def test_f32_is_not_what_f64_is_chosen_from(choice: str) -> None:
    store = f"tl.store(out + i, x + {choice}, mask=m)"
    assert not is_proved(judged("X[i] + i", store, dtype="f64"))


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("X[i] + i", "tl.where(i > 5, i.to(tl.float64), i.to(tl.float64))"),
        ("X[i] + i", "tl.maximum(i.to(tl.float64), i.to(tl.float64))"),
        ("X[i] + maximum(i, 3)", "tl.maximum(i, 3).to(tl.float64)"),
        ("X[i] + where(i > 5, cast(i, f32), 0)", "tl.where(i > 5, i.to(tl.float32), 0.0)"),
        ("X[i] + where(i > 5, i, X[i])", "tl.where(i > 5, i.to(tl.float64), x)"),
    ],
)
def test_f64_may_be_chosen_from_what_holds_the_number(value: str, choice: str) -> None:
    store = f"tl.store(out + i, x + {choice}, mask=m)"
    assert is_proved(judged(value, store, dtype="f64"))


@pytest.mark.parametrize(
    "line",
    [
        "tl.cast(tl.cast(16777217, tl.float32), tl.int64)",
        "tl.full((128,), 16777217, tl.int32).to(tl.float32).to(tl.int64)",
    ],
)
def test_a_number_as_written_is_the_nearest_one_that_f32_has(line: str) -> None:
    store = f"tl.store(out + i, x.to(tl.int64) + {line}, mask=m)"
    assert not is_proved(judged("cast(X[i], i64) + 16777217", store, dtype="i32"))
    near = store.replace("16777217", "16777216")
    assert is_proved(judged("cast(X[i], i64) + 16777216", near, dtype="i32"))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
@pytest.mark.parametrize(
    "value",
    [
        "where(cast(i, f32) < cast(len(i), f32), X[i], 0)",
        "where(i * 1.0 < len(i), X[i], 0)",
        "where(i < 16777216.5, X[i], 0)",
        "where(cast(cast(i, f32), f64) < len(i), X[i], 1)",
        "maximum(cast(i, f32), len(i)) + X[i]",
        "X[i] * (1.0 * i + 3)",
        "X[i] + cast(i * 1.0, i32)",
    ],
)
def test_what_is_emitted_for_labels_as_floats_is_proved(value: str, dtype: str) -> None:
    program = written(f"Func f; In X: {dtype}; Var i; f[i] = {value}; f.block(i:128); f.compile();")
    assert is_proved(verify(program, text_of(program)))
