"""Copies that go on while a kernel computes: right kernels pass, and wrong ones are told why."""

from dataclasses import replace

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.building import Unsupported
from dtpoly.codegen.triton_text import kernel_lines
from dtpoly.ir import tile_values
from dtpoly.ir.copy_steps import Commit, CopyLater, LoadSlot, SharedBuffer, WaitFor
from dtpoly.ir.kernel import (
    Barrier,
    Fill,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Load,
    Pointer,
    Product,
    Store,
    TileKernel,
)
from dtpoly.ir.kernel_text import show_kernel
from dtpoly.ir.parts import accessed
from dtpoly.poly.loops import Compared
from tests.ir.by_hand import at, blocks_of, f32, kernel_of, steps, told

F32, WIDTH = DType.F32, 16
# A step of a round: where a wrong kernel has another one.
NEXT = Affine((("step", 1),), 1)


def copy(slot: Affine, tensor: str = "A", step: Affine = NEXT) -> tuple[CopyLater]:
    """Copy the tile of a round into a slot."""
    index = Affine(tuple((name, WIDTH * n) for name, n in step.terms), WIDTH * step.constant)
    index = index + at("j")
    test = tile_values.Test(at("k_size") - index + Affine((), -1), ("j",))
    indices = (at("m"), index) if tensor == "A" else (index, at("n"))
    axes = ("m", "j") if tensor == "A" else ("j", "n")
    return (CopyLater(f"{tensor}_slots", slot, tensor, indices, (test,), axes),)


def load(slot: Affine, tensor: str = "A") -> tuple[LoadSlot]:
    """Take the tile out of a slot."""
    axes = ("m", "j") if tensor == "A" else ("j", "n")
    return (LoadSlot(f"{tensor}_tile", f"{tensor}_slots", slot, axes, F32),)


SUM = (
    Product(
        "acc", f32("A_tile", "m", "j"), ("m", "j"), f32("B_tile", "j", "n"), ("j", "n"), F32, None
    ),
)
COMMIT, BARRIER = (Commit(),), (Barrier(),)
ZERO, ONE, HERE = Affine(), Affine((), 1), at("step")
BOTH = "AB"
(COPY_A,), (LOAD_A,) = copy(ZERO, "A", ZERO), load(ZERO)


def copies(slot: Affine, step: Affine = NEXT) -> tuple[Instruction, ...]:
    """Copy a tile of both sides."""
    return tuple(part for one in BOTH for part in copy(slot, one, step))


def loads(slot: Affine) -> tuple[Instruction, ...]:
    """Take both sides out of their slots."""
    return tuple(part for one in BOTH for part in load(slot, one))


def wait(pending: int = 0) -> tuple[Instruction, ...]:
    """Wait until so many groups are under way."""
    return (WaitFor(pending),)


FIRST = (*copies(ZERO, ZERO), *COMMIT)
# While a round multiplies, the tiles of the next round are under way.
ROUND = (*wait(), *BARRIER, *copies(NEXT), *COMMIT, *loads(HERE), *SUM)


def pipelined(
    first: tuple[Instruction, ...] = FIRST,
    round_of: tuple[Instruction, ...] = ROUND,
    last: tuple[Instruction, ...] = wait(),
    slots: int = 2,
    start: Affine = ZERO,
    shape: tuple[int, int] = (WIDTH, WIDTH),
) -> TileKernel:
    """Return a product of matrices whose tiles are copied before they are needed."""
    body = steps(
        Lanes("m", at("m_start"), WIDTH),
        Lanes("n", ZERO, WIDTH),
        Lanes("j", ZERO, WIDTH),
        *(SharedBuffer(f"{one}_slots", slots, shape, F32) for one in BOTH),
        Fill("acc", (WIDTH, WIDTH), 0, F32),
        *first,
        ForLoop("step", start, at("rounds_size"), 1, steps(*round_of)),
        *last,
        Store("out", (at("m"), at("n")), (), f32("acc", "m", "n"), ("m", "n"), F32),
    )
    tensors = (
        Pointer("A", "A", 2),
        Pointer("B", "B", 2),
        Pointer("out", "out", 2, is_written=True),
    )
    return kernel_of("pipelined", tensors, ("m", "k", "rounds"), (blocks_of("m", WIDTH),), body)


AHEAD = Affine((("step", 1),), 2)


def three_stages(slots: int) -> TileKernel:
    """Return the same, with the tiles of two rounds under way."""
    return pipelined(
        first=(*copies(ZERO, ZERO), *COMMIT, *copies(ONE, ONE), *COMMIT),
        round_of=(*wait(1), *BARRIER, *copies(AHEAD, AHEAD), *COMMIT, *loads(HERE), *SUM),
        slots=slots,
    )


RIGHT: dict[str, TileKernel] = {
    "two stages": pipelined(),
    "three stages": three_stages(3),
    "more slots than are needed": pipelined(slots=4),
    "nothing is under way while it multiplies": pipelined(
        first=(),
        round_of=(*BARRIER, *copies(HERE, HERE), *COMMIT, *wait(), *BARRIER, *loads(HERE), *SUM),
        slots=1,
    ),
    "a group for each side": pipelined(
        first=(*copy(ZERO, "A", ZERO), *COMMIT, *copy(ZERO, "B", ZERO), *COMMIT),
        round_of=(
            *(*wait(1), *BARRIER, *load(HERE, "A")),
            *(*wait(), *BARRIER, *load(HERE, "B")),
            *(*copy(NEXT, "A"), *COMMIT, *copy(NEXT, "B"), *COMMIT, *SUM),
        ),
    ),
    "it begins at another number": pipelined(first=(*copies(ONE, ONE), *COMMIT), start=ONE),
}
FAR = (*wait(1), *ROUND[1:])
WRONG: dict[str, tuple[TileKernel, str]] = {
    "nothing waits": (
        pipelined(round_of=ROUND[1:]),
        "LoadSlot: slot 0 of 'A_slots' is read, and nothing waits for its copy before",
    ),
    "it waits for too few": (
        pipelined(round_of=FAR),
        "LoadSlot: slot 1 of 'B_slots' is read, and nothing waits for its copy before",
    ),
    "no barrier is behind the wait": (
        pipelined(round_of=(*ROUND[:1], *ROUND[2:])),
        "LoadSlot: slot 0 of 'A_slots' is read, and no barrier is behind the wait, so other lanes "
        "may not have waited",
    ),
    "the barrier is before the wait": (
        pipelined(round_of=(*BARRIER, *wait(), *ROUND[2:])),
        "LoadSlot: slot 0 of 'A_slots' is read, and no barrier is behind the wait, so other lanes "
        "may not have waited",
    ),
    "the copies of a round are not committed": (
        pipelined(round_of=(*wait(), *BARRIER, *copies(NEXT), *loads(HERE), *SUM)),
        "LoadSlot: slot 1 of 'A_slots' is read, and its copy is not committed",
    ),
    "the first tile is not copied": (
        pipelined(first=()),
        "LoadSlot: slot 0 of 'A_slots' is read, and nothing was copied into it",
    ),
    "the slot of this round is overwritten": (
        pipelined(round_of=(*wait(), *BARRIER, *loads(HERE), *copies(HERE), *COMMIT, *SUM)),
        "CopyLater: slot 0 of 'A_slots' is written again, and no barrier is behind its last read",
    ),
    "the slot of the next round is read": (
        pipelined(round_of=(*ROUND[:-3], *loads(NEXT), *SUM)),
        "LoadSlot: slot 1 of 'A_slots' is read, and nothing waits for its copy before",
    ),
    "there is one slot": (
        pipelined(slots=1),
        "LoadSlot: slot 0 of 'A_slots' is read, and nothing waits for its copy before",
    ),
    "copies begin before the barrier": (
        pipelined(round_of=(*wait(), *copies(NEXT), *COMMIT, *BARRIER, *loads(HERE), *SUM)),
        "CopyLater: slot 0 of 'A_slots' is written again, and no barrier is behind its last read",
    ),
    "three stages in two slots": (
        three_stages(2),
        "LoadSlot: slot 0 of 'A_slots' is read, and nothing waits for its copy before",
    ),
    "the last copies are not waited for": (
        pipelined(last=()),
        "CopyLater: the copy is never waited for",
    ),
    "the first copies are not committed": (
        pipelined(first=copies(ZERO, ZERO), round_of=ROUND[:1], last=wait()),
        "CopyLater: the copy is never committed",
    ),
    "rounds copy and never wait": (
        pipelined(round_of=(*copies(NEXT), *COMMIT)),
        "Commit: more than 16 groups of copies are under way: nothing waits for them",
    ),
    "rounds copy again what is under way": (
        pipelined(round_of=(*copies(NEXT), *COMMIT), slots=1),
        "CopyLater: slot 0 of 'A_slots' is written again, and the copy before may be under way",
    ),
    "a copy may be left out": (
        pipelined(
            round_of=(
                *ROUND[:2],
                If((Compared(at("k_size"), NEXT),), steps(*copies(NEXT))),
                *ROUND[4:],
            )
        ),
        "LoadSlot: slot 1 of 'A_slots' is read, and nothing was copied into it",
    ),
    "nobody knows the slot": (
        pipelined(start=at("k_size")),
        "LoadSlot: which slot of 'A_slots' it is cannot be told: it must be counted by loops that "
        "go from a number on",
    ),
    "a tile of another shape": (
        pipelined(shape=(WIDTH, 32)),
        "CopyLater: a slot of 'A_slots' is 16 x 32 of f32, and is used as 16 x 16",
    ),
    "a buffer without slots": (
        pipelined(slots=0),
        "SharedBuffer: a buffer without slots, or slots without lanes",
    ),
    "no buffer": (
        pipelined(last=(*wait(), LoadSlot("x", "C_slots", ZERO, ("m", "j"), F32))),
        "LoadSlot: 'C_slots' is no shared buffer of the kernel",
    ),
    "a buffer that is made in each round": (
        pipelined(round_of=(*ROUND, SharedBuffer("C_slots", 1, (WIDTH,), F32))),
        "SharedBuffer: a buffer is made inside of a block: it is there from the start",
    ),
    "another type": (
        pipelined(last=(*wait(), *BARRIER, replace(LOAD_A, dtype=DType.F16))),
        "LoadSlot: a slot of 'A_slots' is 16 x 16 of f32, and is used as 16 x 16 of f16",
    ),
    "no tensor": (
        pipelined(first=(replace(COPY_A, tensor="C"), *FIRST)),
        "CopyLater: 'C' is no tensor of the kernel",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_passes(name: str) -> None:
    assert not told(RIGHT[name])


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_kernel_is_told_why(name: str) -> None:
    kernel, message = WRONG[name]
    found = told(kernel)
    assert f"pipelined: {message}" in found, found


def test_it_is_shown_and_not_printed() -> None:
    shown = "\n".join(show_kernel(RIGHT["two stages"]))
    assert "  shared A_slots = 2 slots, 16 x 16 of f32 each" in shown
    assert "  copy later A_slots, slot step + 1 = A[m, 16 * step + j + 16] where" in shown
    assert "  let A_tile[m, j] = A_slots, slot step" in shown
    with pytest.raises(Unsupported, match="not printed yet"):
        kernel_lines(RIGHT["two stages"])


def test_a_copy_reads_its_tensor() -> None:
    assert accessed(RIGHT["two stages"].body, Load) == {"A", "B"}
