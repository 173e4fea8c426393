"""Counters of loops: tensors where a kernel is compiled, numbers of Python's in the interpreter.

In `tl.static_range` they are numbers of Python's everywhere. `~` and arithmetic with floats of 16
bits give other values then, so such kernels are not read.
"""

import pytest

from tests.verify.kernels_by_hand import is_proved, judged, why

LOOPS = ("tl.static_range(1, 2)", "range(1, 2)", "tl.range(1, 2)", "tl.range(1, 2, num_stages=1)")
# What is stored, and what it would be if the counter was a number of 32 bits.
OTHERWISE = (
    ("x * (s / 3) * 7.0", "X[i] * (1.0 / 3.0) * 7.0"),
    ("x * (s * 2.0) * 1.5", "X[i] * 2.0 * 1.5"),
    ("x * (s + 0.1) * 3.0", "X[i] * 1.1 * 3.0"),
    ("x * (0.1 - s) * 3.0", "X[i] * (0.1 - 1.0) * 3.0"),
)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(("stored", "meant"), OTHERWISE)
def test_products_with_a_counter_have_no_known_type(loop: str, stored: str, meant: str) -> None:
    lines = (f"for s in {loop}:", f"    tl.store(out + i, {stored}, mask=m)")
    assert "type that is not known" in why(judged(meant, *lines, dtype="f16"))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("test", ["~(s == 1)", "~(s < 2)", "~(1 == s)", "~~(s == 0)"])
def test_what_is_denied_of_a_counter_is_not_read(loop: str, test: str) -> None:
    lines = (
        f"for s in {loop}:",
        "    tl.store(out + i, x * 2.0, mask=m)",
        f"    if {test}:",
        "        tl.store(out + i, x, mask=m)",
    )
    assert "'~" in why(judged("X[i] * 2.0", *lines))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("stored", ["x + 0 * s", "tl.load(X + i + s - 1, mask=m)", "x + (s - s)"])
def test_counters_are_read_where_all_give_the_same(loop: str, stored: str) -> None:
    lines = (f"for s in {loop}:", f"    tl.store(out + i, {stored}, mask=m)")
    assert is_proved(judged("X[i]", *lines))
