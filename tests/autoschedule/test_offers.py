"""Tests that a kernel is offered nothing impossible, and enough to keep a device busy."""

from dataclasses import replace
from functools import cache
from math import prod

import pytest

from dtpoly.autoschedule.choose import RankedSchedule, candidates
from dtpoly.autoschedule.plans import ChosenPlace
from dtpoly.autoschedule.reduction_walks import reductions
from dtpoly.autoschedule.schedules import schedules
from dtpoly.plan.layout import Layout
from tests.autoschedule.asked import H200, call_of, nest_of, plans_of, products_of

PRODUCT = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
NORM = """Func norm, square; In X; Var x, y; RVar k;
square[x] = rsum(pow(X[x, k], 2), k); norm[x, y] = X[x, y] * rsqrt(reshape(square[x], x, 1));"""
STEP = """Func param into P, moment into M; In P, G, M; Var x;
moment[x] = 0.9 * M[x] + G[x]; param[x] = P[x] - 0.1 * moment[x]; param.compile(moment);"""
PAIR = """Func f, g; In A, B; Var x, y;
f[x, y] = A[x, y] - B[x, y]; g[x, y] = A[x, y] + B[x, y]; f.compile(g);"""
CASES = {
    "rows of two labels": (
        "Func f; In A; Var x, z; RVar y; f[x, z] = rsum(A[x, y, z], y);",
        {"x": 16, "y": 65536, "z": 16},
    ),
    "the place of an extreme": (
        "Func f; In A; Var x; RVar y; f[x] = rargmax(A[x, y], y);",
        {"x": 16, "y": 1 << 20},
    ),
    "a list": (
        "Func f; In A; Var x, j: 4; RVar y; f[x, j] = rtopk(A[x, y], y, j);",
        {"x": 16, "y": 1 << 20},
    ),
    "a result in place beside another one": (STEP, {"x": 1 << 20}),
}


@cache
def looked_at(name: str) -> tuple[list[RankedSchedule], list[str]]:
    """Return the candidates of a case, and the codes for which others were given up."""
    text, sizes = CASES[name]
    refused: list[str] = []
    found = candidates(replace(call_of(text, **sizes), tell_refused=refused.append))
    return found, refused


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_offered_that_cannot_be(name: str) -> None:
    """Each candidate that is given up for an error is a place that the search never sees."""
    found, refused = looked_at(name)
    assert found
    assert refused == []


def test_rows_of_two_labels_are_split() -> None:
    """The order of programs would leave out the label that is cut (DT192)."""
    best = looked_at("rows of two labels")[0][0].kernels[-1].layout
    assert best.partial is not None
    assert best.order == ()


def test_results_in_place_may_share_a_kernel() -> None:
    best = looked_at("a result in place beside another one")[0][0]
    assert len(best.plan.kernels) == 1


def parts_of(layout: Layout) -> int | None:
    return None if layout.partial is None else layout.partial.size


def test_products_with_few_results_are_split() -> None:
    """Each program has several steps, and there are parts only where the device is not full."""
    nest = nest_of(call_of(PRODUCT, "f16", m=64, n=64, k=1 << 17))
    found = [one for one in products_of(nest) if parts_of(one)]
    assert found
    for one in found:
        size = parts_of(one) or 0
        assert size >= 8 * one.tile("k")
        assert -(-nest.sizes["k"] // size) <= 4 * 132 + 1
    full = nest_of(call_of(PRODUCT, "f16", m=8192, n=8192, k=4096))
    assert not any(parts_of(one) for one in products_of(full))


def test_short_lines_are_reduced_several_at_a_time() -> None:
    """A line of 14 alone would leave most lanes of a program idle."""
    text = "Func f; In A; RVar a, k, l; f[] = rsum(A[a, k, l], a, k, l);"
    nest = nest_of(call_of(text, a=48, k=65536, l=14))
    found = [one for one in reductions(nest, 132) if one.partial is not None]
    assert any(one.tile("k") * 16 >= 1024 and one.tile("l") == 0 for one in found)
    best = candidates(call_of(text, a=48, k=65536, l=14))[0]
    assert best.seconds < 2 * 48 * 65536 * 14 * 4 / H200.memory


def test_a_norm_goes_along_a_row_at_both_labels() -> None:
    """The row is read at k and at y; a program that has rows has all of both."""
    nest = nest_of(call_of(NORM, x=100000, y=20, k=20))
    found = [one for one in reductions(nest, 132) if dict(one.blocks).keys() == {"x"}]
    assert any(prod(size for _, size in one.blocks) >= 16 for one in found)
    assert all(one.tile("y") == one.tile("k") for one in found)


def test_results_that_read_the_same_are_computed_together() -> None:
    first, *_ = plans_of(call_of(PAIR, x=1024, y=1024))
    assert first.find("g").how is ChosenPlace.FUSED
    assert first.find("g").host == "f"
    apart = PAIR.replace("A[x, y] + B[x, y]", "C[x, y]").replace("In A, B", "In A, B, C")
    first, *_ = plans_of(call_of(apart, x=1024, y=1024))
    assert first.find("g").how is ChosenPlace.KERNEL


@pytest.mark.parametrize("text", [STEP, PAIR])
def test_they_have_code(text: str) -> None:
    labels = {"x": 4096, "y": 4096, "z": 16}
    sizes = {one: size for one, size in labels.items() if f"{one}]" in text or f"{one}," in text}
    assert next(iter(schedules(call_of(text, **sizes)))).lines


def test_merges_have_room_in_registers() -> None:
    """Each partial result has an address: a thread has 64 of them at most, or one part."""
    nest = nest_of(call_of(PRODUCT, "f16", m=176, n=80, k=1 << 17))
    found = [one for one in products_of(nest) if one.partial]
    assert found
    for one in found:
        assert one.partial is not None
        at_once = one.tile(one.partial.name)
        lanes = prod(size for _, size in one.blocks) * at_once
        assert at_once == 1 or lanes <= 64 * 32 * one.warps


def test_exact_products_have_small_shares_of_a_thread() -> None:
    sizes = {"m": 4096, "n": 4096, "k": 4096}
    for dtype, most in (("f32", 64), ("f16", 128)):
        found = products_of(nest_of(call_of(PRODUCT, dtype, **sizes)))
        each = [prod(size for _, size in one.blocks) / (32 * one.warps) for one in found]
        assert max(each) == most
