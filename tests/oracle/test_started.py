"""Tests how the oracle judges sums that begin with a Func."""

from tests.oracle.cases import understood
from tests.oracle.nest import build
from tests.oracle.old_values import added_too_early
from tests.oracle.run import Legal, judge_schedule

COUNTED = """
Func zero: i32, counted into zero at [T[l]] add; In T: i32; Var l, v: 3;
zero[v] = 0; counted[l] = 1; counted.block(l:2); zero.block(v:2); counted.compile();
"""


def test_all_is_stored_before_anything_is_added() -> None:
    program = understood(COUNTED)
    assert program is not None
    sizes = {"l": 4, "v": 3}
    assert isinstance(judge_schedule(program, sizes), Legal)
    placed = build(program, sizes).placed
    assert {one.write[0]: one.kernel for one in placed} == {"zero": 0, "counted": 1}
    assert not list(added_too_early(program, placed))
    swapped = [one._replace(kernel=1 - one.kernel) for one in placed]
    (found,) = added_too_early(program, swapped)
    assert found[0] == "runs too late"
    together = [one._replace(kernel=0) for one in placed]
    # In one launch nothing puts them in order.
    assert list(added_too_early(program, together))
