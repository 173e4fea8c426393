"""Functions that are known by their texts do what is known of them for some types alone."""

import pytest

from tests.verify.kernels_by_hand import is_proved, judged, why

# `clamp` of a NaN is one; whole numbers of 64 bits are not exact as floats; others do not compile.
WRONG = [
    *(("dt_clamp_whole(x, x, x)", "clamp(X[i], X[i], X[i])", one) for one in ("f32", "f16", "f64")),
    *(("dt_clamp(x, x, x)", "clamp(X[i], X[i], X[i])", one) for one in ("i32", "i8", "f16")),
    *(("dt_cdiv(x, x)", "cdiv(X[i], X[i])", one) for one in ("i64", "i32", "u8", "f16")),
    *(("dt_pow(x, x)", "pow(X[i], X[i])", one) for one in ("i64", "i32", "u8", "bf16")),
    *(("dt_pow_whole(x, x)", "pow(X[i], X[i])", one) for one in ("f32", "f16")),
    *(("dt_mod(x, x)", "X[i] % X[i]", one) for one in ("i64", "i32", "u8", "f16")),
    *(("dt_mod_whole(x, x)", "X[i] % X[i]", one) for one in ("f16", "f32")),
    *(("dt_cdiv_whole(x, x)", "cdiv(X[i], X[i])", one) for one in ("f32", "f64")),
    *(("dt_tanh(x)", "tanh(X[i])", one) for one in ("f16", "bf16", "i32")),
    *(("dt_sqrt_rn(x)", "sqrt_rn(X[i])", one) for one in ("f16", "bf16", "i32")),
    *(("dt_div_rn(x, x)", "div_rn(X[i], X[i])", one) for one in ("f16", "i32")),
    *(("dt_round(x)", "round(X[i])", one) for one in ("f16", "bf16", "i32")),
    *(("dt_trunc(x)", "trunc(X[i])", one) for one in ("f16", "bf16", "i32")),
    *(("dt_quotient(x, x)", "cast(X[i], i32) // 3", one) for one in ("f32", "f16")),
    ("dt_quotient(x.to(tl.uint32), x.to(tl.uint32))", "X[i] // X[i]", "i32"),
    ("dt_shl(x, x.to(tl.int64))", "X[i] << X[i]", "i32"),
    ("dt_shr(x.to(tl.uint16), x.to(tl.uint16))", "X[i] >> X[i]", "i16"),
    ("dt_div_rn(x, 2.0)", "div_rn(X[i], 2.0)", "f32"),
    ("dt_clamp_whole(x, x, x.to(tl.int64))", "clamp(X[i], X[i], X[i])", "i32"),
]
RIGHT = [
    *(("dt_clamp_whole(x, x, x)", "clamp(X[i], X[i], X[i])", one) for one in ("i32", "i8")),
    *(("dt_clamp(x, x, x)", "clamp(X[i], X[i], X[i])", one) for one in ("f32", "f64")),
    *(("dt_cdiv_whole(x, x)", "cdiv(X[i], X[i])", one) for one in ("i64", "i8")),
    *(("dt_pow(x, x)", "pow(X[i], X[i])", one) for one in ("f32", "f64")),
    *(("dt_tanh(x)", "tanh(X[i])", one) for one in ("f32", "f64")),
    ("dt_div_rn(x, x)", "div_rn(X[i], X[i])", "f32"),
    ("dt_mod_whole(x, x)", "X[i] % X[i]", "i32"),
    *(("dt_round(x)", "round(X[i])", one) for one in ("f32", "f64")),
    *(("dt_trunc(x)", "trunc(X[i])", one) for one in ("f32", "f64")),
    *(("dt_quotient(x, x)", "X[i] // X[i]", one) for one in ("i64", "i32", "i16", "i8", "u8")),
    *(("dt_shl(x, x)", "X[i] << X[i]", one) for one in ("i64", "i32", "i16", "i8", "u8")),
    *(("dt_shr(x, x)", "X[i] >> X[i]", one) for one in ("i64", "i32", "i16", "i8", "u8")),
]


@pytest.mark.parametrize(("stored", "meant", "dtype"), WRONG)
def test_other_types_are_not_read(stored: str, meant: str, dtype: str) -> None:
    function = stored.partition("(")[0]
    store = f"tl.store(out + i, {stored}, mask=m)"
    report = judged(meant, store, dtype=dtype, functions=(function,))
    assert "of which its text is not known to be right" in why(report)


@pytest.mark.parametrize(("stored", "meant", "dtype"), RIGHT)
def test_types_that_they_are_for_are_read(stored: str, meant: str, dtype: str) -> None:
    function = stored.partition("(")[0]
    store = f"tl.store(out + i, {stored}, mask=m)"
    assert is_proved(judged(meant, store, dtype=dtype, functions=(function,)))
