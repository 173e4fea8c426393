"""Kernels that codegen makes are valid, and each planted fault is told, at the step that has it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dtpoly.algorithm.expressions import Affine
from dtpoly.checking import check
from dtpoly.frontend.reading import read_file
from dtpoly.generate import code_of
from dtpoly.ir.check import complaints
from dtpoly.ir.kernel import (
    Accumulate,
    Address,
    Collapse,
    Fill,
    GridAxis,
    Instruction,
    Lanes,
    Let,
    Load,
    LoopScalar,
    Mask,
    Product,
    Step,
    Store,
    TiledLoop,
    TileKernel,
)
from dtpoly.ir.parts import inside
from dtpoly.ir.rewriting import rewritten
from dtpoly.source import Source

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    *sorted((ROOT / "tests/data/thesis").glob("*.dt")),
    *sorted((ROOT / "tests/data/products").glob("*.dt")),
    *sorted((ROOT / "tests/data/indirect").glob("*.dt")),
    *sorted((ROOT / "examples").glob("*.dt")),
)
PRODUCT = (
    "Func mm; In A: f16, B: f16; Var m, n; RVar k;"
    " mm[m, n] = rdot(A[m, k], B[k, n], k) + A[m, 0];"
    " mm.block(m:64, n:64); mm.tensorize(m:64, n:64, k:32); mm.descriptor(A, B); mm.compile();"
)
ROWS = (
    "Func out; In X; Var x; RVar y; Func total;"
    " total[x] = rsum(exp(X[x, y]), y); out[x] = total[x] / 2.0;"
    " total.fuse_at(out, x); out.block(x:4); out.tensorize(x:4, y:0); out.compile();"
)
UNEVEN = (
    "Func f; In X; Var x; RVar y; f[x] = rmax(X[x, y], y);"
    " f.block(x:4); f.tensorize(x:4, y:32); f.compile();"
)


@cache
def kernels(text: str) -> tuple[TileKernel, ...]:
    """Return the kernels of a program."""
    return _kernels(Source("test.dt", text))


def _kernels(source: Source) -> tuple[TileKernel, ...]:
    checked = check(source)
    if checked.verdict is None or not checked.verdict.is_legal:
        return ()
    return code_of(checked.verdict.scheduled).stages.kernels


def told(kernel: TileKernel) -> list[str]:
    """Return what is wrong with a kernel."""
    return [str(one) for one in complaints(kernel)]


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_codegen_makes_is_valid(path: Path) -> None:
    for kernel in _kernels(read_file(str(path))):
        assert not told(kernel)


@pytest.mark.parametrize("text", [PRODUCT, ROWS, UNEVEN])
def test_the_kernels_with_faults_are_valid_without_them(text: str) -> None:
    assert kernels(text)
    assert not [one for kernel in kernels(text) for one in told(kernel)]


Change = Callable[[Any], Instruction | None]


def first(of: type[Instruction], change: Change) -> Callable[[TileKernel], TileKernel | None]:
    """Change the first instruction of a kind; without a result, drop it."""

    def planted(kernel: TileKernel) -> TileKernel | None:
        is_done = False

        def step_by_step(step: Step) -> tuple[Step, ...]:
            nonlocal is_done
            if is_done or not isinstance(step.instruction, of):
                return (step,)
            is_done = True
            made = change(step.instruction)
            return () if made is None else (replace(step, instruction=made),)

        body = rewritten(kernel.body, step_by_step)
        return replace(kernel, body=body) if is_done else None

    return planted


def with_(**fields: Any) -> Change:
    """Return the instruction with other fields."""

    def changed(one: Any) -> Instruction:
        made: Instruction = replace(one, **fields)
        return made

    return changed


def more_indices(one: Load) -> Load:
    """Return the load with three times as many indices."""
    return replace(one, indices=(*one.indices, *one.indices, *one.indices))


def left_batch(one: Product) -> Product:
    """Return the product of which the left side has one more axis."""
    return replace(one, left_axes=("b", *one.left_axes))


def two_batches(one: Product) -> Product:
    """Return the product of which each side has one more axis, and not the same."""
    return replace(one, left_axes=("a", *one.left_axes), right_axes=("b", *one.right_axes))


def dropped(_: Instruction) -> None:
    """No instruction."""


def whole(**fields: Any) -> Callable[[TileKernel], TileKernel | None]:
    """Return the kernel with other fields."""

    def changed(kernel: TileKernel) -> TileKernel:
        return replace(kernel, **fields)

    return changed


STRANGE = Affine((("strange", 1),))


def _with_lane_bound(kernel: TileKernel) -> TileKernel | None:
    lanes = next((one.name for one in inside(kernel.body) if isinstance(one, Lanes)), None)
    if lanes is None:
        return None
    loops = first(TiledLoop, with_(size=Affine(((lanes, 1),))))(kernel)
    # The lanes must be set before the loop, or that is what is told.
    return loops


FAULTS: dict[str, tuple[Callable[[TileKernel], TileKernel | None], str]] = {
    "lanes are dropped": (first(Lanes, dropped), "is not set on every way"),
    "a mask is dropped": (first(Mask, dropped), "is not set on every way"),
    "a start is dropped": (first(Fill, dropped), "is not set on every way"),
    "a load is dropped": (first(Load, dropped), "is not set on every way"),
    "an address is dropped": (first(Address, dropped), "is not set on every way"),
    "a value is dropped": (first(Let, dropped), "is not set on every way"),
    "a reduction is dropped": (first(Collapse, dropped), "is not set on every way"),
    "another tensor": (first(Load, with_(tensor="strange")), "'strange' is no tensor"),
    "another output": (first(Store, with_(tensor="strange")), "'strange' is no tensor"),
    "an index too many": (first(Load, more_indices), "indices here"),
    "no index": (first(Store, with_(indices=())), "indices here"),
    "an unknown index": (first(Store, with_(indices=(STRANGE,), base=None)), "'strange'"),
    "lanes from nowhere": (first(Lanes, with_(start=STRANGE)), "'strange' is not set"),
    "a bound from nowhere": (first(TiledLoop, with_(size=STRANGE)), "'strange' is not set"),
    "a scalar from nowhere": (first(LoopScalar, with_(value=STRANGE)), "'strange' is not set"),
    "a loop that stands still": (first(TiledLoop, with_(step=0)), "does not go forwards"),
    "a tile without lanes": (first(Fill, with_(shape=(0,))), "a tile without lanes"),
    "axes that are not there": (first(Collapse, with_(kept=("strange",))), "are kept of"),
    "sides that do not meet": (first(Product, with_(left_axes=("a", "b"))), "do not meet"),
    "one side has a batch": (first(Product, left_batch), "do not meet"),
    "two batches": (first(Product, two_batches), "are of two batches"),
    "a value along more axes": (first(Accumulate, with_(axes=())), "is laid out along ()"),
    "no descriptor": (whole(described=()), "is no descriptor"),
    "no flag": (whole(flags=()), "is no flag"),
    "nothing is written": (
        lambda kernel: replace(
            kernel, tensors=tuple(replace(one, is_written=False) for one in kernel.tensors)
        ),
        "is only read by what the kernel says",
    ),
    "two of one name": (
        lambda kernel: replace(kernel, tensors=(*kernel.tensors, kernel.tensors[0])),
        "two parameters are called",
    ),
    "a grid of no size": (
        lambda kernel: replace(
            kernel, grid=(GridAxis("g", "g", "strange", 1, 1, None, "g"), *kernel.grid)
        ),
        "which is no size of it",
    ),
    "groups of no blocks": (
        lambda kernel: replace(
            kernel,
            grid=(
                GridAxis("g", kernel.grid[0].label, kernel.grid[0].size, 8, 1, 2, "strange"),
                *kernel.grid,
            ),
        ),
        "which counts blocks of no axis: 'strange'",
    ),
    "a bound with lanes": (_with_lane_bound, "has lanes"),
}


def _planted(name: str) -> Iterator[TileKernel]:
    plant, _ = FAULTS[name]
    for text in (PRODUCT, ROWS, UNEVEN):
        for kernel in kernels(text):
            made = plant(kernel)
            if made is not None and made != kernel:
                yield made


@pytest.mark.sampled
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_told(name: str) -> None:
    found = [told(one) for one in _planted(name)]
    assert found
    assert any(FAULTS[name][1] in line for lines in found for line in lines), found
