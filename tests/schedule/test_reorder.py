"""The primitive `reorder`."""

from tests.schedule.told import MAP, SUM, told


def test_loops_of_the_kernel() -> None:
    assert told(f"{SUM} total.reorder(k, x);") == []
    assert told(f"{MAP} f.split(x:xi/4); f.reorder(x, y, xi);") == []


def test_a_loop_that_is_none() -> None:
    assert told(f"{SUM} total.reorder(k, y);") == ["DT185 y"]


def test_a_loop_twice() -> None:
    assert told(f"{SUM} total.reorder(k, x, k);") == ["DT193 k"]


def test_at_least_two_loops() -> None:
    assert told(f"{SUM} total.reorder(k);") == ["DT181 total.reorder(k)"]


def test_one_order() -> None:
    assert told(f"{SUM} total.reorder(k, x); total.reorder(x, k);") == ["DT187 total.reorder(x, k)"]
