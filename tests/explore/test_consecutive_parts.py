"""Parts between neighbouring offsets: the cost model knows how long they are in the mean."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.explore.cost.cost import KernelCost, cost
from dtpoly.explore.devices.devices import find_device
from tests.explore.test_footprints import state_of

NEIGHBOURS = "Func f; In A, at: i64; Var z; RVar l in [at[z], at[z + 1]); f[z] = rsum(A[l], l);"
TWO_ENDS = "Func f; In A, a: i64, b: i64; Var z; RVar l in [a[z], b[z]); f[z] = rsum(A[l], l);"
SCHEDULE = "f.block(z:1); f.tensorize(z:0, l:1024); f.compile();"
SIZES = {"z": 1000, "l": 1 << 18}


def kernel_of(text: str) -> KernelCost:
    state = state_of(f"{text} {SCHEDULE}")
    device = find_device("h200")
    return cost(state, filled(state.program, SIZES), DType.F32, device).kernels[-1]


def test_neighbouring_parts_walk_the_axis_once() -> None:
    """Of two offsets of which nothing is known, each may be the whole axis."""
    near, apart = kernel_of(NEIGHBOURS), kernel_of(TWO_ENDS)
    assert near.work.instructions * 100 < apart.work.instructions
    moved = next(one for one in near.operands if one.array == "A")
    assert 4 * SIZES["l"] <= moved.asked < 4 * (SIZES["l"] + SIZES["z"])
