"""Races in a kernel are found, and only races; where a barrier is missing, there is one."""

import importlib
import re
from typing import Any

import pytest
import torch

from dtpoly.ring.ring_memory import RingMemory
from tests.codegen.interpreter import interpreted
from tests.codegen.running import imported
from tests.codegen.scratch import BARRIER, VARIANTS, Variant, race

# Triton has no types to check against.
errors: Any = importlib.import_module("triton.runtime.errors")
HEAD = """import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, count: tl.constexpr):
    program = tl.program_id(0)
    lane = tl.arange(0, count)
"""
# What a kernel does, its programs, and what is said of it; nothing is said of what is right.
KERNELS: dict[str, tuple[str, int, str]] = {
    "a lane loads what another one stored": (
        "tl.store(a_ptr + lane, lane); x = tl.load(a_ptr + (count - 1 - lane))",
        1,
        r"a\[7\] is loaded by lane \[0\] of 8 .*, and stored by lane \[7\] of 8 lanes",
    ),
    "after a barrier": (
        "tl.store(a_ptr + lane, lane); tl.debug_barrier(); x = tl.load(a_ptr + (7 - lane))",
        1,
        "",
    ),
    "a lane loads what it stored": (
        "tl.store(a_ptr + lane, lane); x = tl.load(a_ptr + lane)",
        1,
        r"a\[0\] is loaded by lane \[0\] of 8 .*, and stored by lane \[0\] of 8 lanes",
    ),
    "a lane stores what another one loads": (
        "x = tl.load(a_ptr + lane); tl.store(a_ptr + (count - 1 - lane), x)",
        1,
        r"a\[7\] is stored by lane \[0\] of 8 .*, and loaded by lane \[7\] of 8 lanes",
    ),
    "what is stored is loaded later": (
        "x = tl.load(a_ptr + lane); tl.debug_barrier(); tl.store(a_ptr + (7 - lane), x)",
        1,
        "",
    ),
    "two stores": (
        "tl.store(a_ptr + lane, lane); tl.store(a_ptr + 3, 5)",
        1,
        r"a\[3\] is stored by .*, and stored by lane \[3\]",
    ),
    "two lanes of one store": ("tl.store(a_ptr + lane // 2, lane)", 1, r"a\[0\] is stored by"),
    "two lanes store the same": ("tl.store(a_ptr + lane // 2, lane // 2)", 1, ""),
    "lanes that are masked": (
        "tl.store(a_ptr + lane, lane, mask=lane < 4);"
        " x = tl.load(a_ptr + lane, mask=lane >= 4, other=0)",
        1,
        "",
    ),
    "round a loop": (
        """for i in range(2):
        x = tl.load(a_ptr + (lane + i) % 8)
        tl.debug_barrier()
        tl.store(a_ptr + lane, x)""",
        1,
        r"a\[1\] is loaded by lane \[0\] of 8 .*, and stored by lane \[1\]",
    ),
    "round a loop with a barrier at its end": (
        """for i in range(2):
        x = tl.load(a_ptr + (lane + i) % 8)
        tl.debug_barrier()
        tl.store(a_ptr + lane, x)
        tl.debug_barrier()""",
        1,
        "",
    ),
    "another program stored it": (
        "x = tl.load(a_ptr + lane, mask=lane < 8 * program, other=0); tl.debug_barrier();"
        " tl.store(a_ptr + lane, lane, mask=lane >= 8 * program)",
        2,
        r"a\[0\] is loaded by .* program \[1, 0, 0\] .*, and stored by .* program \[0, 0, 0\]",
    ),
    "another program loaded it before": (
        "x = tl.load(a_ptr + lane, mask=lane < 8, other=0); tl.debug_barrier();"
        " tl.store(a_ptr + lane, lane, mask=lane < 8 * program)",
        2,
        r"a\[0\] is stored by .* program \[1, 0, 0\] .*, and loaded by .* program \[0, 0, 0\]",
    ),
    "two programs store": ("tl.store(a_ptr + lane, lane)", 2, r"a\[0\] is stored by .*\[1, 0, 0\]"),
    "two programs store in turn": ("tl.store(a_ptr + lane * 2 + program, lane)", 2, ""),
    "two programs add": ("tl.atomic_add(a_ptr + lane, lane)", 2, ""),
    "a program adds, another one loads": (
        "tl.atomic_add(a_ptr + lane, lane, mask=lane >= 8 * program);"
        " x = tl.load(a_ptr + lane, mask=lane < 8 * program, other=0)",
        2,
        r"a\[0\] is loaded by .*, and changed atomically by lane \[0\] of 8 .*program \[0, 0, 0\]",
    ),
    "all load": ("tl.store(a_ptr + lane + 8 * program, tl.load(b_ptr + lane))", 2, ""),
}


def launch(text: str, programs: int, memory: RingMemory, *tensors: torch.Tensor) -> None:
    with interpreted(memory):
        imported(text).kernel[(programs,)](*tensors, 8)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel(name: str) -> None:
    body, programs, told = KERNELS[name]
    a, b = torch.zeros(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    memory = RingMemory()
    memory.add(a, is_output=True)
    memory.add(b, is_output=False)
    text = f"{HEAD}    {body}\n"
    if not told:
        launch(text, programs, memory, a, b)
        return
    with pytest.raises(errors.InterpreterError) as found:
        launch(text, programs, memory, a, b)
    assert re.search(told, str(found.value.__cause__)), found.value


def test_one_launch_waits_for_the_other() -> None:
    a, b = torch.zeros(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    memory = RingMemory()
    memory.add(a, is_output=True)
    memory.add(b, is_output=True)
    text = f"{HEAD}    tl.store(b_ptr + lane, tl.load(a_ptr + 7 - lane))\n"
    launch(text, 1, memory, a, b)
    launch(text, 1, memory, b, a)
    with pytest.raises(errors.InterpreterError, match="nothing orders the two"):
        launch(text, 1, memory, a, a)


def without(text: str, numbers: tuple[int, ...]) -> str:
    """Return the text without some of its barriers."""
    first, *rest = text.split(BARRIER)
    kept = ("pass" if at in numbers else BARRIER for at in range(len(rest)))
    return first + "".join(f"{one}{part}" for one, part in zip(kept, rest, strict=True))


@pytest.mark.sampled
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_barriers_are_needed_and_enough(variant: Variant) -> None:
    text = variant.code.text
    assert text.count(BARRIER) >= 2
    assert race(variant, text) is None
    told = race(variant, variant.without_barriers)
    assert told is not None
    assert "loaded by lane" in told
    assert "stored by lane" in told


def test_of_two_kinds_of_barriers_each_is_needed() -> None:
    variant = VARIANTS[0]
    text = variant.code.text
    count = text.count(BARRIER)
    assert count == 4
    before_stores, before_loads = (0, 1), (2, 3)
    for numbers in (before_stores, before_loads):
        assert race(variant, without(text, numbers)) is not None
