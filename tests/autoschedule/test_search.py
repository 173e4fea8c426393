"""Tests which choices are looked at, and which candidates come first."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from dtpoly.autoschedule.chains import chain
from dtpoly.autoschedule.choose import RankedSchedule, alike, candidates
from dtpoly.autoschedule.descent import descended
from dtpoly.autoschedule.plans import PlacementPlan
from dtpoly.autoschedule.preferences import reluctance
from dtpoly.autoschedule.pricing import Priced, launching
from dtpoly.autoschedule.selection import ROUND, in_turn, kind
from dtpoly.explore.devices.devices import find_device
from dtpoly.plan.layout import Layout
from tests.autoschedule.asked import H200, call_of, example, nest_of, products_of


def test_knob_after_knob() -> None:
    looked: list[tuple[int, ...]] = []

    def price(choice: tuple[int, ...]) -> float | None:
        looked.append(choice)
        return None if choice[0] == 0 else (choice[0] - 3) ** 2 + (choice[1] - 1) ** 2 + 1.0

    found = descended([8, 4], price)
    assert min(found, key=lambda choice: found[choice]) == (3, 1)
    assert not any(choice[0] == 0 for choice in found)
    assert len(looked) == len(set(looked)) < 32


def test_it_begins_at_the_best_of_what_it_is_given() -> None:
    """Nothing that can be is one step away from the middle, nor from the first options."""

    def price(choice: tuple[int, ...]) -> float | None:
        return 1.0 + choice[1] if choice[0] == choice[2] == 7 else None

    counts = [8, 4, 8]
    assert descended(counts, price) == {}
    found = descended(counts, price, starts=[(7, 3, 7)])
    assert min(found, key=lambda choice: found[choice]) == (7, 0, 7)
    last = descended(counts, price, starts=[(7, 1, 6)], otherwise=(7, 2, 7))
    assert min(last, key=lambda choice: last[choice]) == (7, 0, 7)


def test_what_is_hopeless_is_given_up() -> None:
    def price(choice: tuple[int, ...]) -> float:
        return 10.0 + (choice[0] - choice[1]) ** 2 + (choice[1] - 6) ** 2

    assert len(descended([8, 8], price, limit=5.0)) < len(descended([8, 8], price))


def made_up(score: float, block: int, warps: int = 4) -> RankedSchedule:
    layout = Layout("f", (("x", block),), warps=warps)
    return RankedSchedule(PlacementPlan(()), (Priced(layout, score, score, ()),), score, score)


def test_not_all_are_alike() -> None:
    same = [made_up(1.0 + at / 1000, 8, at) for at in range(10)]
    other = [made_up(1.5, 16), made_up(1.6, 32), made_up(9.0, 64)]
    found = list(in_turn([*other, *same]))
    assert len(found) == 13
    assert found[0].score == 1.0
    assert [kind(one)[1:] for one in found[: ROUND - 1]].count(kind(same[0])[1:]) == 2
    assert {one.score for one in found[:ROUND]} >= {1.5, 1.6}
    assert found.index(other[2]) > ROUND


def test_variants_of_the_first_come_early() -> None:
    def variants(one: RankedSchedule) -> Iterator[RankedSchedule]:
        yield replace(one, seconds=-one.seconds)

    found = list(islice(in_turn([made_up(1 + at / 100, at) for at in range(20)], variants), 10))
    assert [one.seconds < 0 for one in found].index(True) == ROUND - 1


@pytest.mark.long
def test_plans_share_what_kernels_cost_and_the_first_is_the_fastest() -> None:
    call = call_of(example("safe_softmax"), x=4096, y=4096)
    found = candidates(call)
    assert [one.score for one in found] == sorted(one.score for one in found)
    assert {len(one.plan.kernels) for one in found} == {1}
    assert launching(call, 2) == H200["launch"] + H200["next_launch"]
    first = next(one for one in found if one.kernels[0].layout.tile("y") > 1)
    assert [one.kernels[0].layout.turned for one in alike(call, first)] == [("y",)]


def test_tensor_cores_want_32_bits_along_the_sum() -> None:
    call = call_of(example("tf32_matmul"), m=8192, n=8192, k=8192)
    nest = nest_of(call)
    layout = products_of(nest, precision="tf32")[0]
    assert nest.func.name == "tf32_matmul"
    assert reluctance(nest, layout, H200) > 1.0
    assert reluctance(nest, layout, find_device("a100")) < 0.5


def test_a_search_does_not_begin_far_from_where_it_must_come() -> None:
    def price(choice: tuple[int, ...]) -> float:
        return 10.0 + choice[0]

    assert len(descended([8], price, starts=[(4,)], near=9.0)) == 3
    assert min(descended([8], price, starts=[(4,)], near=11.0).values()) == 10.0


def test_a_chain_begins_where_another_plan_ended() -> None:
    call = call_of(example("attention"), "bf16", m=512, l=512, k=64, n=64)
    nest = nest_of(call)
    made = chain(nest, "", 132)
    start = next(one for one in made.starts if made.layout(one) is not None)
    layout = made.layout(start)
    assert layout is not None
    assert made.chosen(layout) == start
    assert made.chosen(replace(layout, warps=2)) is None
