"""Search of layouts without products: what cannot win is not priced, and the first choice stays."""

from math import inf

import pytest

from dtpoly.autoschedule.choose import candidates, nests_of
from dtpoly.autoschedule.elementwise import elementwise
from dtpoly.autoschedule.kernel_floors import least_moved
from dtpoly.autoschedule.nest import KernelNest
from dtpoly.autoschedule.pricing import PricedCall, priced
from dtpoly.autoschedule.reduction_walks import reductions
from dtpoly.autoschedule.walk_search import FEW, PROBES, walked
from dtpoly.plan.layout import Layout
from tests.autoschedule.asked import SUM, call_of, example, nest_of, plans_of

STATE = {"b": 4, "t": 2048, "d": 1024}
COLUMNS = "Func f; In A; Var x, d; RVar y; f[x, d] = rsum(A[x, y, d], y);"
WINDOWS = """\
Func f; In X; Var n, c, h, w; RVar r: 3, s: 3;
f[n, c, h, w] = rsum(pad(X, 0)[n, c, h + r - 1, w + s - 1], r, s);
"""


def every(nest: KernelNest) -> list[Layout]:
    made = reductions(nest, 132) if nest.sums else elementwise(nest)
    return list(dict.fromkeys(made))


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (SUM, {"x": 4096, "y": 8192}),
        (SUM, {"x": 8, "y": 1 << 20}),
        (COLUMNS, {"x": 64, "y": 1024, "d": 768}),
        (WINDOWS, {"n": 8, "c": 64, "h": 57, "w": 57}),
    ],
)
def test_the_best_of_all_is_found(text: str, sizes: dict[str, int]) -> None:
    call = call_of(text, **sizes)
    nest = nest_of(call)
    layouts = every(nest)
    all_of_them = min(one.score for one in priced(call, nest, layouts))
    found = walked(call, nest, layouts, inf)
    assert min(one.score for one in found) == all_of_them


def test_of_many_loops_few_are_priced_with_all_warps() -> None:
    call = call_of(COLUMNS, x=64, y=1024, d=768)
    nest = nest_of(call)
    layouts = every(nest)
    assert len(layouts) > FEW
    assert 3 * len(walked(call, nest, layouts, inf)) < 2 * len(layouts)


def test_a_kernel_without_any_hope_is_probed_alone() -> None:
    call = call_of(COLUMNS, x=64, y=1024, d=768)
    nest = nest_of(call)
    layouts = every(nest)
    assert len(walked(call, nest, layouts, inf)) > PROBES
    # It takes 50 us, and may take one.
    assert len(walked(call, nest, layouts, 1e-6)) == PROBES


def test_what_must_be_moved_is_a_lower_bound() -> None:
    call = call_of(COLUMNS, x=64, y=1024, d=768)
    nest = nest_of(call)
    bound = least_moved(call, (nest,))
    bytes_of = 4 * (64 * 1024 * 768 + 64 * 768)
    assert bound == bytes_of / call.device.memory
    assert all(bound <= one.busy for one in priced(call, nest, every(nest)))


@pytest.mark.parametrize(
    ("text", "sizes", "moved"),
    [
        # A range leaves out a part of all.
        (
            "Func f; In A; Var x; RVar y in [0, x + 1); f[x] = rsum(A[x, y], y);",
            {"x": 512, "y": 512},
            0,
        ),
        # Data may name the same row of E again; T and the result move.
        (
            "Func f; In E, T: i64; Var x, d; f[x, d] = E[T[x], d];",
            {"x": 512, "d": 64},
            8 * 512 + 4 * 512 * 64,
        ),
        # Windows share elements; the result moves.
        ("Func f; In A; Var x; RVar y: 8; f[x] = rsum(A[x + y], y);", {"x": 512}, 4 * 512),
    ],
)
def test_of_what_may_be_left_out_nothing_is_known(
    text: str, sizes: dict[str, int], moved: int
) -> None:
    call = call_of(text, **sizes)
    assert least_moved(call, (nest_of(call),)) == moved / call.device.memory


def test_states_in_memory_are_not_laid_out() -> None:
    """A selective scan: 537 MB of states take longer than the kernel that keeps them inside."""
    call = call_of(example("state_space"), **STATE)
    found = candidates(call)
    assert {len(one.plan.kernels) for one in found} == {1}
    assert found[0].seconds < _floor_of_states(call)
    assert len(found) < 60  # there are 168 layouts of one kernel


def _floor_of_states(call: PricedCall) -> float:
    """Return the seconds in which memory moves what the plan with two kernels needs."""
    return max(least_moved(call, nests_of(call, plan)) for plan in plans_of(call))


def test_windows_of_short_lines_have_several_lines_in_a_block() -> None:
    nest = nest_of(call_of(WINDOWS, n=8, c=64, h=57, w=57))
    found = every(nest)
    assert any(one.tile("s") == 1 and dict(one.blocks)["h"] > 1 for one in found)


PAIRS = """\
Func f; In A, B; Var i, j; RVar k;
f[i, j] = rsum(abs(reshape(A[i, k], i, 1, k) - B[j, k]), k);
"""


def test_sums_of_all_pairs_are_laid_out_in_squares() -> None:
    call = call_of(PAIRS, i=2048, j=2048, k=128)
    best = min(candidates(call), key=lambda one: one.score)
    layout = best.kernels[-1].layout
    assert layout.tile("k") == 1
    blocks = dict(layout.blocks)
    assert blocks["i"] >= 32
    assert blocks["j"] >= 32


def test_where_all_is_read_at_both_labels_there_are_no_squares() -> None:
    nest = nest_of(call_of(COLUMNS, x=64, y=1024, d=768))
    assert all(dict(one.blocks)["x"] == 1 for one in every(nest))
