"""What atomic additions cost: by how many bytes there are, and how many go to one element."""

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.explore.cost.cost import KernelCost, cost
from dtpoly.explore.cost.sentences import what_would_help
from dtpoly.explore.devices.devices import find_device
from dtpoly.explore.devices.probe import ADDED, TO_ONE
from dtpoly.explore.devices.probe_torch import ADDING
from tests.explore.test_footprints import state_of

H200 = find_device("h200")
PLACED = """Func out into O at [T[t], d] {word}; In O, T: i64, G; Var t, d; out[t, d] = G[t, d];
out.block(t:16, d:128); out.tensorize(t:0, d:0); out.compile();"""
PARTS = """Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k);
f.block(x:{rows}, k:{part}); f.tensorize(x:0, k:{part}); {word} f.compile();"""
UNIT = "atomic additions"


def last(text: str, dtype: DType = DType.F32, **sizes: int) -> KernelCost:
    state = state_of(text)
    return cost(state, filled(state.program, sizes), dtype, H200).kernels[-1]


def test_what_is_added_takes_longer_than_what_is_stored() -> None:
    added = last(PLACED.format(word="add"), t=16384, d=1024)
    stored = last(PLACED.format(word="distinct"), t=16384, d=1024)
    assert UNIT not in stored.limits
    assert added.limits[UNIT] == pytest.approx(4 * 16384 * 1024 / H200.atomic_rate)
    assert added.bound == UNIT
    assert added.seconds > 1.3 * stored.seconds


def test_two_bytes_are_added_like_four() -> None:
    sizes = {"t": 16384, "d": 1024}
    f32, f16 = (last(PLACED.format(word="add"), one, **sizes) for one in (DType.F32, DType.F16))
    assert f16.limits[UNIT] == f32.limits[UNIT]
    assert f16.limits["memory"] < f32.limits["memory"]


def test_elements_that_lie_apart_take_a_sector_each() -> None:
    apart = "Func out into O at [T[t]] add; In O, T: i64, G; Var t; out[t] = G[t];"
    apart += "out.block(t:1024); out.tensorize(t:0); out.compile();"
    found = last(apart, t=1 << 20)
    assert found.limits[UNIT] == pytest.approx(32 * (1 << 20) / H200.atomic_rate)
    (place,) = (one for one in found.operands if one.array == "out")
    (table,) = (one for one in found.operands if one.array == "T")
    assert (place.run, place.is_added, table.ideal) == (4, True, 8 << 20)


def test_sums_that_begin_with_a_func() -> None:
    begun = "Func zero, out into zero at [T[t], d] add; In T: i32 within len(c), G; Var t, d, c;"
    begun += "zero[c, d] = 0; out[t, d] = G[t, d]; out.block(t:16); out.tensorize(t:0, d:0);"
    found = last(f"{begun} out.compile();", t=16384, d=1024, c=100)
    assert found.limits[UNIT] == pytest.approx(4 * 16384 * 1024 / H200.atomic_rate)
    (place,) = (one for one in found.operands if one.is_added)
    assert place.ideal == 4 * 100 * 1024


def test_additions_to_one_element_follow_each_other() -> None:
    few = last(PARTS.format(rows=1, part=256, word="f.atomic(k);"), x=1, k=1 << 26)
    assert few.limits[UNIT] == pytest.approx((1 << 18) * H200.atomic_wait)
    more = last(PARTS.format(rows=1, part=512, word="f.atomic(k);"), x=1, k=1 << 26)
    assert more.limits[UNIT] == pytest.approx(few.limits[UNIT] / 2)
    assert UNIT not in last(PARTS.format(rows=1, part=256, word=""), x=1, k=1 << 26).limits


def test_what_would_help_is_said() -> None:
    state = state_of(PARTS.format(rows=1, part=16, word="f.atomic(k);"))
    found = cost(state, filled(state.program, {"x": 1, "k": 1 << 24}), DType.F32, H200)
    (said,) = (one for one in what_would_help(found, found.kernels[-1]) if "added" in one)
    assert said.startswith("1.05e+06 numbers are added to each element of 'f'")


def test_numbers_of_a_device_that_measured_none() -> None:
    assert "atomic_rate" not in H200.values
    assert H200.atomic_rate == H200["l2_rate"] / 8
    assert H200.atomic_wait * H200["clock"] == 2


def test_the_kernel_that_measures_them_adds() -> None:
    found = last(ADDING, x=ADDED)
    assert found.bound == UNIT
    assert ADDED > TO_ONE
