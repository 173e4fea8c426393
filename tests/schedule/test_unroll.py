"""The primitive `unroll`."""

from tests.schedule.told import SUM, told


def test_loops_of_the_kernel() -> None:
    assert told(f"{SUM} total.unroll(k:4, x:2);") == []
    assert told(f"{SUM} total.block(k:kb/64); total.unroll(kb:4);") == []


def test_what_is_wrong() -> None:
    assert told(f"{SUM} total.unroll(y:4);") == ["DT185 y"]
    assert told(f"{SUM} total.unroll(k:0);") == ["DT182 k:0"]
    assert told(f"{SUM} total.unroll(k);") == ["DT181 k"]
