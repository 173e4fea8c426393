"""The primitive `flatten`."""

from tests.schedule.told import SUM, told

NESTED = "Func f; In A; Var x; RVar i, j; f[x] = rsum(A[x, i, j], i, j); f.compile();"


def test_loops_of_the_kernel() -> None:
    assert told(f"{NESTED} f.flatten(i, j);") == []
    assert told(f"{NESTED} f.flatten(x, i, j);") == []


def test_a_loop_that_is_none() -> None:
    assert told(f"{NESTED} f.flatten(i, y);") == ["DT185 y"]


def test_a_loop_twice() -> None:
    assert told(f"{NESTED} f.flatten(i, j, i);") == ["DT193 i"]


def test_at_least_two_loops() -> None:
    assert told(f"{SUM} total.flatten(k);") == ["DT181 total.flatten(k)"]
