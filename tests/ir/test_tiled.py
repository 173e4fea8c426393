"""Tiled loops, a loop over whole tiles and what is left: taken apart, made again, run by hand."""

from dataclasses import replace

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.covered import covered_loops, covering
from dtpoly.ir.kernel import (
    Accumulate,
    Collapse,
    Fill,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Load,
    LoopScalar,
    Mask,
    Pointer,
    Product,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.parts import accessed, inside
from dtpoly.ir.step_dependences import carried, exposed
from dtpoly.ir.tiled import flat, parts_of, tiled, with_parts
from dtpoly.poly.loops import Combined, Compared
from tests.ir.by_hand import HandKernel, at, blocks_of, f32, kernel_of, run, steps, told, within
from tests.ir.test_check import PRODUCT, UNEVEN, kernels

F32 = DType.F32
REST = Combined("%", (at("y_size"), Affine((), 32)))


def of_tile(*mask: Instruction) -> tuple[Step, ...]:
    """Add a tile to the accumulator, in the lanes of a mask if there is one."""
    tests = (within("y"),) if mask else ()
    return steps(
        Lanes("y", at("y_start"), 32),
        *mask,
        Load("X_tile", "X", (at("x_start"), at("y")), tests, ("y",), 0, F32),
        Accumulate("acc", "rsum", f32("X_tile", "y"), ("y",), F32),
    )


LAST = Step(LoopScalar("y_start", Combined("-", (at("y_size"), REST))), "")
TAIL = (LAST, *of_tile(Mask("y_mask", replace(within("y"), name=None, own=()))))
LOOP = TiledLoop("y_start", at("y_size"), 32, of_tile(), TAIL, "the tail")


def row_sum(loop: TiledLoop = LOOP) -> HandKernel:
    """Sums of rows: whole tiles without a mask, and what is left with one."""
    body = steps(
        Fill("acc", (32,), 0, F32),
        loop,
        Collapse("total", "acc", "rsum", ("y",), ()),
        Store("out", (at("x_start"),), (), f32("total"), (), F32),
    )
    tensors = (Pointer("X", "X", 2), Pointer("out", "out", 1, is_written=True))
    kernel = kernel_of("row_sum", tensors, ("x", "y"), (blocks_of("x", 1),), body)
    return HandKernel(kernel, {"X": F32, "out": F32})


@pytest.mark.parametrize("columns", [1, 31, 32, 33, 100])
def test_it_computes_whole_tiles_and_what_is_left(columns: int) -> None:
    given = torch.randn(3, columns, generator=torch.Generator().manual_seed(0))
    out = torch.full((3,), torch.nan)
    hand = row_sum()
    assert not told(hand.kernel)
    run(hand, 3, {"X": given, "out": out}, {"x_size": 3, "y_size": columns})
    torch.testing.assert_close(out.double(), given.double().sum(1), rtol=1e-5, atol=1e-5)


def test_it_is_taken_apart_and_made_again() -> None:
    own = replace(LOOP, unless="even", unroll=2, is_pipelined=False)
    step = Step(own, "the loop")
    loop, rest = parts_of(step)
    assert isinstance(loop.instruction, ForLoop)
    assert loop.instruction.stop == Affine((("y_size", 1),), -31)
    assert isinstance(rest.instruction, If)
    assert (loop.origin, rest.origin) == ("the loop", "the tail")
    assert tiled(loop, rest) == step == with_parts(step, loop, rest)
    other = replace(loop, instruction=replace(loop.instruction, body=()))
    assert with_parts(step, other, rest).instruction == replace(own, main=())
    assert [*flat((step, LAST))] == [loop, rest, LAST]


CONDITION = Compared(REST, Affine((), 1))
FIRST, SECOND = parts_of(Step(LOOP, ""))


@pytest.mark.parametrize(
    ("loop", "rest"),
    [
        ({"start": Affine((), 1)}, {}),
        ({"start": at("x_start")}, {}),
        ({"stop": Affine((), 97)}, {}),
        ({"stop": at("y_size")}, {}),
        ({"step": 16}, {}),
        ({"over": ("y", "z")}, {}),
        ({"is_specialized": True}, {}),
        ({}, {"conditions": ()}),
        ({}, {"conditions": (CONDITION, CONDITION)}),
        ({}, {"conditions": (replace(CONDITION, right=Affine((), 2)),)}),
        ({}, {"conditions": (replace(CONDITION, is_equal=True),)}),
        ({}, {"conditions": (replace(CONDITION, left=at("y_size")),)}),
    ],
)
def test_other_steps_are_no_tiled_loop(loop: dict[str, object], rest: dict[str, object]) -> None:
    assert tiled(FIRST, SECOND) is not None
    one, two = FIRST.instruction, SECOND.instruction
    assert isinstance(one, ForLoop)
    assert isinstance(two, If)
    changed: Instruction = replace(one, **loop)  # type: ignore[arg-type]
    after: Instruction = replace(two, **rest)  # type: ignore[arg-type]
    assert tiled(replace(FIRST, instruction=changed), replace(SECOND, instruction=after)) is None
    assert tiled(SECOND, FIRST) is None


@pytest.mark.parametrize("text", [PRODUCT, UNEVEN])
def test_lowering_makes_them_and_passes_keep_them(text: str) -> None:
    for kernel in kernels(text):
        steps_of = [one.instruction for one in kernel.body]
        loops = [one for one in steps_of if isinstance(one, TiledLoop)]
        assert len(loops) == sum(isinstance(one, ForLoop) for one in inside(kernel.body)) > 0
        for loop in loops:
            assert bool(loop.covered) == ("descriptor" in text)
            assert any(isinstance(one, Product | Accumulate) for one in inside(loop.tail))


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        (replace(LOOP, tail=TAIL[:-1]), "the main part goes on with 'acc', and the tail does not"),
        (replace(LOOP, main=()), "the tail goes on with 'acc', and the main part does not"),
        (replace(LOOP, size=at("strange")), "'strange' is not set on every way to here"),
        (replace(LOOP, size=at("x_start"), step=0), "a loop that does not go forwards"),
        (replace(LOOP, covered=("X_blocks",)), "'X_blocks' is no descriptor of the kernel"),
        (replace(LOOP, tail=TAIL[1:]), "'y_start' is not set on every way to here"),
    ],
)
def test_a_wrong_one_is_refused(loop: TiledLoop, message: str) -> None:
    assert any(one.endswith(message) for one in told(row_sum(loop).kernel))


def test_a_covered_loop_goes_to_the_end_of_its_size() -> None:
    step = Step(replace(LOOP, covered=("X_blocks",), is_specialized=True), "the loop")
    loop = covering(step).instruction
    assert isinstance(loop, ForLoop)
    assert (loop.start, loop.stop, loop.is_specialized) == (Affine(), at("y_size"), True)
    # No value is made of lanes, and a descriptor is told where a tile starts.
    assert not any(isinstance(one.instruction, Lanes) for one in loop.body)
    assert len(loop.body) == len(LOOP.main) - 1
    assert [*covered_loops((Step(If((), (step,)), ""), *steps(LOOP)))] == [step.instruction]
    assert exposed((step,)) == {"acc", "x_start", "y_size"}
    assert carried((step,)) == {"acc"}
    assert accessed((step,), Load) == {"X"}
