"""A search for a frame is bounded by its time, says what it did not decide, and asks little."""

import random
import time
from collections.abc import Callable
from itertools import product

import pytest

from dtpoly.framing.formula_costs import FormulaCosts
from dtpoly.framing.frame_search import (
    LATE,
    OPEN,
    PROVED,
    UNREADABLE,
    FoundFrame,
    found_frame,
    search_time,
)
from dtpoly.framing.kernel_frame import KernelFrame
from dtpoly.framing.launch_groups import BOTH, GroupTensor, LaunchGroup, Row
from dtpoly.framing.size_formulas import UNCLEAR, SizeFacts, formulas_of, grid_formulas
from dtpoly.framing.tensor_axes import axes_choices


def _tensor(name: str, *sizes: Row) -> GroupTensor:
    strides: list[Row] = []
    inner: Row = tuple(1 for _ in sizes[0])
    for row in reversed(sizes):
        strides.insert(0, inner)
        inner = tuple(one * other for one, other in zip(inner, row, strict=True))
    return GroupTensor(name, (name,), "f32", BOTH, sizes, tuple(strides))


def _group(*tensors: GroupTensor, grid: tuple[Row, ...], **numbers: Row) -> LaunchGroup:
    names = (*(one.name for one in tensors), *numbers)
    return LaunchGroup("k", 3, grid, tensors, numbers, {}, names, ("BLOCK",))


B, H, S, T, D = (2, 3, 5), (3, 5, 7), (131, 257, 1031), (67, 101, 149), (37, 71, 139)
ROWS = _group(_tensor("X", S, T), grid=(S,), n=T, BLOCK=(128, 128, 256))


def _searched(
    answer: Callable[[KernelFrame], str], seconds: float = 60.0
) -> tuple[FoundFrame, list[tuple[str, ...]]]:
    """Return what is found with a prover that answers so, and the promises that it was asked."""
    asked: list[tuple[str, ...]] = []

    def prove(frame: KernelFrame, seconds: float, *, decides: bool) -> str:
        assert seconds > 0
        if decides:
            asked.append(frame.promises)
        return answer(frame)

    found = found_frame(ROWS, axes_choices(ROWS), prove, search_time(seconds))
    assert isinstance(found, FoundFrame)
    return found, asked


def test_the_promises_that_are_needed_are_found_with_few_proofs() -> None:
    needed = {"len(r) <= 2**20", "reach(X) < 2**31"}
    found, asked = _searched(lambda frame: PROVED if needed <= {*frame.promises} else OPEN)
    assert found.end == PROVED
    assert {*found.frame.promises} == needed
    assert len(asked) <= 8
    assert found.undecided == ()


def test_what_has_failed_is_not_asked_again_with_fewer_promises() -> None:
    needed = {"len(r) <= 2**20", "reach(X) < 2**31"}
    _, asked = _searched(lambda frame: PROVED if needed <= {*frame.promises} else OPEN)
    failed: list[set[str]] = []
    for one in map(set, asked):
        assert not any(one <= other for other in failed)
        if not needed <= one:
            failed.append(one)


def test_a_search_ends_when_its_time_is_over() -> None:
    def slowly(_: KernelFrame) -> str:
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            pass
        return OPEN

    began = time.thread_time()
    found, asked = _searched(slowly, seconds=0.2)
    assert time.thread_time() - began < 2.0
    assert found.end == OPEN
    assert len(asked) == 1
    assert found.undecided == ("other frames that fit the launches were not looked at",)


def test_a_proof_that_takes_too_long_is_said() -> None:
    found, _ = _searched(lambda _: LATE)
    assert found.end == OPEN
    assert found.undecided == ("a frame that fits the launches takes too long to prove",)
    needed = {"reach(X) < 2**31"}
    found, _ = _searched(lambda frame: PROVED if {*frame.promises} > needed else LATE)
    assert found.end == PROVED
    assert any("whether these promises are enough" in one for one in found.undecided)


def test_a_kernel_that_cannot_be_taken_out_is_asked_about_once() -> None:
    found, asked = _searched(lambda _: UNREADABLE)
    assert (found.end, len(asked), found.undecided) == (OPEN, 1, ())


@pytest.mark.parametrize("is_constant", [False, True])
def test_the_cost_of_a_formula_is_that_of_the_first_one(is_constant: bool) -> None:
    """The costs that are kept are those of the formulas that are written later."""
    drawn = random.Random(3)
    rows = [B, H, S, (64, 64, 64), (1, 1, 1), (4, 6, 10)]
    blocks = (64, 32)
    costs = FormulaCosts(3, blocks)
    for _ in range(60):
        sizes = drawn.sample(rows, drawn.randint(1, 4))
        facts = SizeFacts(3, {f"l{at}": one for at, one in enumerate(sizes)}, blocks)
        row = drawn.choice(
            [
                *rows,
                tuple(one * other for one, other in zip(B, H, strict=True)),
                tuple(-(-one // 64) for one in S),
                tuple(3 * one for one in S),
                (17, 19, 23),
            ]
        )
        found = formulas_of(row, facts, is_constant=is_constant)
        wanted = found[0].cost if found else UNCLEAR
        assert costs.of_number(row, sizes, is_constant=is_constant) == pytest.approx(wanted)
        programs = grid_formulas(row, facts)
        wanted = programs[0].cost if programs else UNCLEAR
        assert costs.of_grid(row, sizes) == pytest.approx(wanted)


def test_tensors_of_five_axes_are_seen_in_little_time() -> None:
    """There are 16 * 16 ways to put their axes together, and each asks for many formulas."""
    tensors = [_tensor("X", B, S, H, T, D), _tensor("Y", B, H, S, D, T)]
    strides = {
        f"stride_{one.name}{axis}": one.strides[axis] for one, axis in product(tensors, range(5))
    }
    group = _group(*tensors, grid=(B, H, S), batch=B, heads=H, length=S, t=T, d=D, **strides)
    began = time.thread_time()
    best = axes_choices(group)[0]
    assert time.thread_time() - began < 10.0
    assert [one.words for one in best.tensors] == [
        ("batch", "length", "heads", "t", "d"),
        ("batch", "heads", "length", "d", "t"),
    ]


def test_ways_are_looked_at_until_the_time_is_over() -> None:
    tensors = [_tensor(name, B, S, H, T, D) for name in "XY"]
    group = _group(*tensors, grid=(B,), batch=B)
    assert axes_choices(group, time.thread_time())
