"""A kernel's unit: what launches it, and all that these reach; nothing else of its file."""

import pytest

from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.triton.unit.allowed import check_unit
from dtpoly.verify.triton.unit.reach import reached_by, unit_of
from dtpoly.verify.triton.unit.unit import read_unit
from tests.verify.handwritten import text as hand_written
from tests.verify.texts import text_of, written

TWO = written(
    "Func f, g; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); g[x] = rmax(A[x, y], y);"
    "f.compile(); g.compile();"
)


def test_the_unit_of_a_kernel_is_a_unit() -> None:
    unit = read_unit(text_of(TWO))
    check_unit(unit)
    for kernel, other in (("f", "g"), ("g", "f")):
        part = unit_of(unit, f"{kernel}_kernel")
        check_unit(part)
        assert {kernel, f"{kernel}_kernel", f"{kernel}_launch", "dt_launcher"} <= part.texts.keys()
        assert not {other, f"{other}_kernel", f"{other}_launch", f"{other}_like"} & set(part.texts)
        assert part.texts.keys() == part.jitted.keys() | part.plain.keys() | part.values.keys()
    # What g needs to put its maxima together, f does not.
    assert "dt_max" in unit_of(unit, "g_kernel").jitted
    assert "dt_max" not in unit_of(unit, "f_kernel").jitted


def test_what_is_not_reached_is_left_out() -> None:
    more = "\n\ndef launched(x):\n    leaves(x)\n\n\ndef leaves(x):\n    return other(x)\n"
    more += "\n\ndef other(x):\n    matmul_kernel[(1,)](x)\n\n\ndef alone(x):\n    return x\n"
    unit = read_unit(f"{hand_written('matmul_leaky')}{more}")
    part = unit_of(unit, "matmul_kernel")
    assert set(part.plain) == {"launched", "leaves", "other"}
    assert set(part.jitted) == {"matmul_kernel", "leaky_relu"}
    assert set(unit_of(unit, "leaky_relu").jitted) == {"leaky_relu", "matmul_kernel"}
    assert reached_by(unit, "alone") == {"alone"}
    with pytest.raises(Unread, match="no kernel 'alone'"):
        unit_of(unit, "alone")
