"""Schedules that are offered first keep what they compute in registers, as far as is known."""

from dataclasses import replace
from itertools import islice

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.autoschedule.preferences import FEW_SPILLED, MANY_SPILLED, WARP, spilling
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.cost.cost import cost
from dtpoly.explore.needs.resources import Resources
from dtpoly.schedule.legality import judge
from tests.autoschedule.asked import call_of

GATED = (
    "Func out, gate, up; In A, B, C; Var m, n; RVar k;"
    "gate[m, n] = rdot(A[m, k], B[n, k], k); up[m, n] = rdot(A[m, k], C[n, k], k);"
    "out[m, n] = maximum(gate[m, n], 0) * up[m, n]; out.compile();"
)


def kernels(call: PricedCall, program: Program) -> list[Resources]:
    """The resources of each kernel of a schedule."""
    state = judge(program, DIRECTIVES).scheduled
    return [one.resources for one in cost(state, call.sizes, call.dtype, call.device).kernels]


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [
        ("f32", {"m": 1024, "n": 346, "k": 952}),  # it spilled 2256 bytes of a thread
        ("bf16", {"m": 128, "n": 1792, "k": 1108}),  # 152 bytes
    ],
)
def test_two_products_with_a_common_operand_do_not_spill(dtype: str, sizes: dict[str, int]) -> None:
    call = replace(call_of(GATED, dtype, **sizes), precision="tf32")
    (best,) = islice(schedules(call), 1)
    found = kernels(call, best.program)
    assert all(one.spilled == 0 for one in found)
    assert all(one.resident > 0 for one in found)


def test_what_spills_much_is_behind() -> None:
    def resources(spilled: int) -> Resources:
        return Resources(4, 255, spilled * 4 * WARP, 0, 1, "registers")

    assert spilling([resources(FEW_SPILLED)]) == 0
    assert spilling([resources(0), resources(FEW_SPILLED + MANY_SPILLED)]) == 1
    assert spilling([]) == 0
