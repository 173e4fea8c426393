"""Prints the steps that a program does once, before its blocks and after them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import assert_never

from dtpoly.ir.kernel import EARLY, FOURS, PANEL, SPECIALIZED
from dtpoly.ir.launch_steps import (
    LaunchStep,
    LetNextBegin,
    MakeDescriptor,
    TellFours,
    WaitForLaunch,
)

from .line import Head, KernelLine, about
from .python_layout import call, inside
from .python_names import address, stride

COMMENT = "# Divided and multiplied so that Triton sees: rows begin at multiples of four numbers."
# What lines are about that are there under a truth.
PURPOSES = {EARLY: Head.WAITS, SPECIALIZED: Head.LOADS, FOURS: None}


def launch_lines(steps: Sequence[LaunchStep]) -> list[KernelLine]:
    """Print steps; neighbours that are done under the same truth share its condition."""
    found: list[KernelLine] = []
    for truth, group in groupby(steps, _truth):
        texts = [line for one in group for line in _lines(one)]
        comment = [COMMENT] if truth == FOURS else []
        found += about(PURPOSES[truth], (*comment, f"if {truth}:", *inside(texts)))
    return found


def _truth(one: LaunchStep) -> str:
    """The compile-time parameter under which a step is done."""
    match one:
        case WaitForLaunch() | LetNextBegin():
            return EARLY
        case MakeDescriptor():
            return SPECIALIZED
        case TellFours():
            return FOURS
        case _:
            assert_never(one)


def _lines(one: LaunchStep) -> Iterator[str]:
    match one:
        case WaitForLaunch(in_first_panel=in_first_panel):
            wait = ["tl.extra.cuda.gdc_wait()"]
            yield from [f"if {PANEL} == 0:", *inside(wait)] if in_first_panel else wait
        case LetNextBegin():
            yield "tl.extra.cuda.gdc_launch_dependents()"
        case MakeDescriptor(name=name, tensor=tensor, sizes=sizes, block=block):
            *outer, _ = (stride(tensor, axis) for axis in range(len(sizes)))
            lists = (", ".join(sizes), ", ".join((*outer, "1")), ", ".join(map(str, block)))
            arguments = [address(tensor), *(f"[{text}]" for text in lists)]
            yield from call(f"{name} = tl.make_tensor_descriptor", arguments, indent=8)
        case TellFours(rows=rows):
            yield from (f"{name} = {name} // 4 * 4" for name in rows)
        case _:
            assert_never(one)
