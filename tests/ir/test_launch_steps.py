"""Steps that a program does once: which kernels have them, and which mistakes in them are told."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from dtpoly.codegen.launch_text import launch_lines
from dtpoly.ir.kernel import Row, Step, TiledLoop, TileKernel
from dtpoly.ir.kernel_text import show_kernel
from dtpoly.ir.launch_steps import LetNextBegin, MakeDescriptor, TellFours, WaitForLaunch
from dtpoly.ir.rewriting import rewritten
from tests.ir.test_check import kernels, told

PANELS = (
    "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
    " f[m, n] = rdot(A[m, k], g[n, k], k); g.block(n:32); g.tensorize(n:32, k:32);"
    " f.block(m:64, n:64); f.tensorize(m:64, n:64, k:32); f.panels(n:1024); f.compile();"
)
HALVES = (
    "Func f; In A: f16, B: f16; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    " f.block(m:128, n:128); f.tensorize(m:0, n:0, k:64); f.num_warps(8); f.num_stages(3);"
    " f.descriptor(A, B, f); f.warp_specialize(); f.compile();"
)
ROWS = (
    "Func f; In A: f32; Var x, y; f[x, y] = A[x, y] * 2.0;"
    " f.block(x:1); f.tensorize(x:1, y:128); f.early(); f.compile();"
)


@cache
def of(text: str, at: int = 0) -> TileKernel:
    """A kernel of a program."""
    return kernels(text)[at]


def test_kernels_of_panels_wait_for_each_other() -> None:
    first, last = kernels(PANELS)
    assert first.head[0] == WaitForLaunch(in_first_panel=True)
    assert first.foot == (WaitForLaunch(),)
    assert last.head[:2] == (WaitForLaunch(), LetNextBegin())
    assert last.foot == ()


def test_descriptors_are_made_in_place_of_those_that_are_passed() -> None:
    kernel = of(HALVES)
    assert [one.name for one in kernel.own] == [one.name for one in kernel.described]
    assert [one.block for one in kernel.own] == [(128, 64), (64, 128), (128, 128)]
    assert not kernel.is_early


def test_rows_that_a_launch_looks_at_are_told() -> None:
    kernel = of(ROWS)
    rows = tuple(row.variable for row in kernel.fours)
    assert rows
    assert kernel.head == (WaitForLaunch(), TellFours(rows))
    assert f"  show that {', '.join(rows)} are multiples of four, if fours" in show_kernel(kernel)


def test_steps_under_one_truth_share_its_condition() -> None:
    lines = launch_lines((WaitForLaunch(), LetNextBegin(), TellFours(("a", "b"))))
    assert [line.text for line in lines if line.text.startswith("if")] == ["if early:", "if fours:"]
    assert [line.text for line in lines][-2:] == ["    a = a // 4 * 4", "    b = b // 4 * 4"]


def _with_loop(kernel: TileKernel) -> TileKernel:
    """The kernel in which warps load for its loop."""

    def marked(step: Step) -> tuple[Step, ...]:
        one = step.instruction
        if not isinstance(one, TiledLoop):
            return (step,)
        return (replace(step, instruction=replace(one, is_specialized=True)),)

    return replace(kernel, body=rewritten(kernel.body, marked))


def _other_own(**fields: Any) -> Callable[[], TileKernel]:
    """The kernel that makes another descriptor first."""

    def made() -> TileKernel:
        kernel = of(HALVES)
        first = replace(kernel.own[0], **fields)
        return replace(kernel, head=(first, *kernel.own[1:]))

    return made


FAULTS: dict[str, tuple[Callable[[], TileKernel], str]] = {
    "it waits behind other steps": (
        lambda: replace(of(ROWS), head=of(ROWS).head[::-1]),
        "it is not the first thing",
    ),
    "it waits twice": (
        lambda: replace(of(ROWS), head=(WaitForLaunch(), *of(ROWS).head)),
        "it is not the first thing",
    ),
    "it waits in the end, too": (
        lambda: replace(of(ROWS), foot=(WaitForLaunch(),)),
        "has waited before or is never early",
    ),
    "it is never early, and waits in the end": (
        lambda: replace(of(ROWS), head=(), foot=(WaitForLaunch(),)),
        "has waited before or is never early",
    ),
    "it does not wait in the end": (
        lambda: replace(of(PANELS), foot=()),
        "so it must wait in the end",
    ),
    "it waits in the end of the first panel alone": (
        lambda: replace(of(PANELS), foot=(WaitForLaunch(in_first_panel=True),)),
        "in the end a kernel waits in each panel",
    ),
    "the next launch begins in the end": (
        lambda: replace(of(PANELS), foot=(LetNextBegin(),)),
        "in the end a kernel waits in each panel",
    ),
    "the next launch begins first": (
        lambda: replace(of(PANELS, 1), head=of(PANELS, 1).head[1:]),
        "before this one has waited",
    ),
    "the next launch begins after the first panel's wait": (
        lambda: replace(of(PANELS), head=(WaitForLaunch(in_first_panel=True), LetNextBegin())),
        "before this one has waited",
    ),
    "a descriptor of no tensor": (_other_own(tensor="strange"), "'strange' is no tensor"),
    "a descriptor of another tensor": (_other_own(tensor="B"), "another one than the caller's"),
    "a descriptor with other blocks": (_other_own(block=(64, 64)), "another one than"),
    "a descriptor that nobody passes": (_other_own(name="strange"), "is no descriptor"),
    "a descriptor of no size": (_other_own(sizes=("m_size", "strange")), "'strange' is no size"),
    "a descriptor of one axis": (_other_own(sizes=("m_size",)), "has other axes than its tensor"),
    "a loop for warps that load": (
        lambda: _with_loop(replace(of(HALVES), head=())),
        "the kernel makes no descriptors",
    ),
    "rows that no launch looks at": (
        lambda: replace(of(ROWS), fours=(Row("y_size"),)),
        "no launch says that 'A_stride_0' is a multiple",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_told(name: str) -> None:
    make, words = FAULTS[name]
    found = told(make())
    assert any(words in line for line in found), found


@pytest.mark.parametrize("text", [PANELS, HALVES, ROWS])
def test_the_kernels_are_valid_without_mistakes(text: str) -> None:
    assert kernels(text)
    assert not [line for one in kernels(text) for line in told(one)]


def test_a_made_descriptor_says_what_it_is() -> None:
    shown = [*show_kernel(of(HALVES))]
    one = of(HALVES).own[0]
    assert isinstance(one, MakeDescriptor)
    assert f"  make {one.name} here, 128 x 64 of A, if some warps load for the others" in shown
