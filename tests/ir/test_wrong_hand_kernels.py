"""Each mistake in a kernel that was built by hand is refused, in words that say what is wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.kernel import (
    Accumulate,
    Barrier,
    Collapse,
    Described,
    DescribedBlock,
    Fill,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Let,
    Load,
    Product,
    Step,
    Store,
    TileKernel,
)
from dtpoly.ir.rewriting import rewritten
from dtpoly.ir.tile_values import Converted, IndexValue, Variable
from dtpoly.poly.loops import Compared
from tests.ir.by_hand import at, call, f32, steps, told
from tests.ir.hand_kernels import KERNELS

Change = Callable[[TileKernel], TileKernel]


def called(one: Instruction) -> str:
    """Return the name that an instruction sets, or the tensor that it stores to."""
    return str(getattr(one, "name", None) or getattr(one, "tensor", ""))


def other(kind: type[Instruction], name: str, **fields: Any) -> Change:
    """Return the kernel in which instructions of a name have other fields."""

    def changed(step: Step) -> tuple[Step, ...]:
        one = step.instruction
        if not isinstance(one, kind) or called(one) != name:
            return (step,)
        made: Instruction = replace(one, **fields)
        return (replace(step, instruction=made),)

    return lambda kernel: replace(kernel, body=rewritten(kernel.body, changed))


def without(kind: type[Instruction], name: str) -> Change:
    """Return the kernel without the instructions of a name."""

    def kept(step: Step) -> tuple[Step, ...]:
        one = step.instruction
        return () if isinstance(one, kind) and called(one) == name else (step,)

    return lambda kernel: replace(kernel, body=rewritten(kernel.body, kept))


def last_first(kernel: TileKernel) -> TileKernel:
    """Return the kernel in whose rounds the last step is done first."""

    def moved(step: Step) -> tuple[Step, ...]:
        one = step.instruction
        if not isinstance(one, ForLoop):
            return (step,)
        return (replace(step, instruction=replace(one, body=(one.body[-1], *one.body[:-1]))),)

    return replace(kernel, body=rewritten(kernel.body, moved))


def with_a_barrier(kernel: TileKernel) -> TileKernel:
    """Return the kernel with a barrier that only lanes inside of the tensor come to."""
    branch = If((Compared(Affine((("x_size", 1), ("x", -1))), Affine((), 1)),), steps(Barrier()))
    return replace(kernel, body=(*kernel.body, *steps(branch)))


def through(
    block: tuple[int, ...], described: tuple[int, ...], starts: int, order: tuple[int, ...]
) -> Change:
    """Return the kernel that loads Q in blocks of a descriptor."""
    box = DescribedBlock("Q_blocks", (at("m_start"), Affine(), Affine())[:starts], block, order)

    def changed(kernel: TileKernel) -> TileKernel:
        kernel = replace(kernel, described=(Described("Q", "Q_blocks", described, (0, 1)),))
        return other(Load, "Q_tile", block=box)(kernel)

    return changed


F16, F32 = DType.F16, DType.F32
NARROW = Converted(f32("weights", "m", "l"), ("m", "l"), F16)
TOO_LONG = f32("V_tile", "k", "n")
WRONG: dict[str, tuple[str, Change, str]] = {
    "an accumulator of another shape": (
        "attention",
        other(Fill, "scores", shape=(16, 16)),
        "the accumulator 'scores' is 16 x 16 of f32, and 16 x 32 of f32 is added to it",
    ),
    "an accumulator of another type": (
        "attention",
        other(Fill, "acc", dtype=DType.F64),
        "'acc' is 16 x 16 of f64, and is used as 16 x 16 of f32",
    ),
    "an accumulator of another rank": (
        "rms_norm",
        other(Fill, "acc", shape=(4,)),
        "the accumulator 'acc' is 4 of f32, and 4 x 32 of f32 is added to it",
    ),
    "a round leaves another type": (
        "attention",
        other(Fill, "top", dtype=F16),
        "'top' is 16 of f16 before a loop, and 16 of f32 at the end of a round",
    ),
    "a round leaves another shape": (
        "attention",
        other(Let, "total", axes=("m", "n"), value=f32("acc", "m", "n")),
        "'total' is 16 of f32 before a loop, and 16 x 16 of f32 at the end of a round",
    ),
    "lanes of another number": (
        "attention",
        other(Lanes, "n", count=32),
        "'acc' is 16 x 16 of f32, and is used as 16 x 32 of f32",
    ),
    "a maximum along the wrong axis": (
        "attention",
        other(Collapse, "round_top", kept=("l",)),
        "'round_top' is 32 of f32, and is used as 16 of f32",
    ),
    "a name is used before it is set": (
        "attention",
        without(Fill, "top"),
        "'top' is not set on every way to here",
    ),
    "a name is set too late": (
        "attention",
        last_first,
        "'next_top' is not set on every way to here",
    ),
    "sides of two types": (
        "attention",
        other(Product, "acc", left=NARROW),
        "sides of f16 and f32 are multiplied",
    ),
    "sides of two lengths": (
        "attention",
        other(Product, "acc", right=TOO_LONG, right_axes=("k", "n")),
        "sides of (m, l) and (k, n) do not meet",
    ),
    "operands of two types": (
        "attention",
        other(Let, "next_top", value=call("maximum", f32("top", "m"), Variable("k", (), F16))),
        "an operand of 'maximum' is f16, and f32 is asked for",
    ),
    "a sum of another type": (
        "rms_norm",
        other(Accumulate, "acc", dtype=DType.F64),
        "what is accumulated is f32, and f64 is asked for",
    ),
    "a result that is no parameter": (
        "rms_norm",
        lambda kernel: replace(kernel, tensors=kernel.tensors[:-1]),
        "'scales' is no tensor of the kernel",
    ),
    "a result that is only read": (
        "rms_norm",
        lambda kernel: replace(
            kernel, tensors=tuple(replace(one, is_written=False) for one in kernel.tensors)
        ),
        "'scales' is stored, and is only read by what the kernel says",
    ),
    "a result of another rank": (
        "rms_norm",
        other(Store, "scales", indices=(at("x"), at("x"))),
        "'scales' has 1 axes, and 2 indices here",
    ),
    "a bound that was not loaded": (
        "ragged_sum",
        without(Load, "end"),
        "'end' is not set on every way to here",
    ),
    "a bound that is a tile": (
        "ragged_sum",
        lambda kernel: other(ForLoop, "x_start", stop=at("wide"))(
            replace(
                kernel,
                body=(
                    *steps(
                        Lanes("w", Affine(), 4),
                        Load("wide", "offsets", (at("w"),), (), ("w",), None, DType.I32),
                    ),
                    *kernel.body,
                ),
            )
        ),
        "'wide' has lanes, and a number is asked for",
    ),
    "an index that is no whole number": (
        "embedding",
        other(Load, "row", taken=(Variable("token", ("x",), DType.F32),)),
        "'token' is taken as an index, and is no whole number",
    ),
    "an index along an axis that the tile has not": (
        "embedding",
        other(Load, "row", taken=(Variable("token", ("y",), DType.I32),)),
        "'token' is taken along y, which the tile has not",
    ),
    "an index that is not said to be taken": (
        "embedding",
        other(Load, "row", taken=()),
        "'token' has lanes, and is an index of a tile that has no such axis",
    ),
    "an index of another width": (
        "embedding",
        other(Store, "out", taken=(Variable("place", ("x",), DType.I32),)),
        "'place' is 8 of i64, and is used as 8 of i32",
    ),
    "a tile along what are no lanes": (
        "attention",
        other(Let, "correction", axes=("rows",), value=Variable("next_top", ("rows",), F32)),
        "the tile varies along 'rows', which is no name of lanes",
    ),
    "an index that varies along more": (
        "rms_norm",
        other(Let, "scale", value=Converted(IndexValue(at("x"), ()), (), F32)),
        "'x' has lanes, and is in an index that has no such axis",
    ),
    "a barrier that not all lanes come to": (
        "embedding",
        with_a_barrier,
        "a barrier is under a condition in which lanes differ: some would not come to it",
    ),
    "a block of another size": (
        "attention",
        through((16, 32), (16, 16), 2, (0, 1)),
        "'Q_blocks' has blocks of 16 x 16, and 16 x 32 is asked for",
    ),
    "a block that is no tile": (
        "attention",
        through((32, 16), (32, 16), 2, (0, 1)),
        "a tile of 16 x 16 is accessed in a block of 32 x 16",
    ),
    "a block with too many starts": (
        "attention",
        through((16, 16), (16, 16), 3, (0, 1)),
        "'Q_blocks' has 2 axes, and 3 starts here",
    ),
    "a block whose axes are no order": (
        "attention",
        through((16, 16), (16, 16), 2, (0, 0)),
        "the axes of a block of 'Q_blocks' are no order of 2",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_refused(name: str) -> None:
    kernel, change, message = WRONG[name]
    found = told(change(KERNELS[kernel].kernel))
    assert any(one.endswith(message) for one in found), found


def test_a_block_that_is_right_is_not_refused() -> None:
    change = through((16, 16), (16, 16), 2, (0, 1))
    assert not told(change(KERNELS["attention"].kernel))


def test_a_complaint_names_the_kernel_and_the_step() -> None:
    (one,) = told(without(Load, "end")(KERNELS["ragged_sum"].kernel))[:1]
    assert one == "ragged_sum: ForLoop: 'end' is not set on every way to here"
