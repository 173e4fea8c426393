"""Whole numbers that are divided by what may be 0: compilers take it that no divisor is.

`tl.where(x == 0, 5, x)` beside `1 // x` is x where that is 0: on a GPU it was seen that a test of x
was left out, since x had been divided by in another statement.
"""

import pytest

from tests.verify.kernels_by_hand import is_proved, judged, why

WRONG = (
    "q = i // x",
    "q = x // x",
    "q = 7 // x",
    "q = x % x",
    "q = tl.where(x != 0, 7 // x, 0)",
    "q = x // (x - 1)",
    "q = x // -1",
    "q = x // tl.where(x == 1, 1, x)",
    "q = x // tl.where(x == 0, 0, x)",
)
RIGHT = (
    "q = x // 3",
    "q = x % -7",
    "q = x // tl.where(x == 0, 1, x)",
    "q = 7 % tl.where(0 == x, 2, x)",
    "q = x // tl.maximum(x, 1)",
)


@pytest.mark.parametrize("dtype", ["i32", "i64", "i8"])
@pytest.mark.parametrize("line", WRONG)
def test_a_divisor_that_may_be_0_is_not_read_though_nobody_uses_the_quotient(
    line: str, dtype: str
) -> None:
    store = "tl.store(out + i, tl.where(x == 0, 5, x), mask=m)"
    report = judged("where(X[i] == 0, 5, X[i])", line, store, dtype=dtype)
    assert "of which compilers make anything" in why(report)


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("line", RIGHT)
def test_a_divisor_that_is_not_0_is_read(line: str, dtype: str) -> None:
    store = "tl.store(out + i, tl.where(x == 0, 5, x), mask=m)"
    assert is_proved(judged("where(X[i] == 0, 5, X[i])", line, store, dtype=dtype))
