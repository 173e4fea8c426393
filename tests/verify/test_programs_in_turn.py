"""Loops that share out iterations among the programs of a grid, written by hand.

Programs along one axis of a grid can share out one loop. A loop inside of it that begins at the
same program id, and goes on by the same number, leaves elements out: it was proved.
"""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.handwritten import launch
from tests.verify.texts import written

COPY = "Func f; In A; Var i, j; f[i, j] = A[i, j];"
BATCH = "Func f; In A; Var u, i, j; f[u, i, j] = A[u, i, j];"
SUM = "Func f; In A; RVar i, j; f[] = rsum(rsum(A[i, j], j), i);"
HEAD = """\
import triton
import triton.language as tl

# assume: len(i) <= 2**30, len(j) <= 2**30, reach(A) < 2**31, reach(f) < 2**31
"""
KERNEL = """
@triton.jit
def copy(a, o, n, m, sa, so, P: tl.constexpr):
    p = tl.program_id(0)
    for i in {first}:
        for j in {second}:
            tl.store(o + i * so + j, tl.load(a + i * sa + j), mask={mask})
"""
LAUNCH = "# verify: copy[{grid}](A, f, len(i), len(j), A.stride(0), f.stride(0), P={programs})\n"


def copying(grid: str, first: str, second: str, programs: str = "4", mask: str = "i >= 0") -> str:
    """Return the text of a kernel that copies a matrix in two loops."""
    body = KERNEL.format(first=first, second=second, mask=mask)
    return HEAD + LAUNCH.format(grid=grid, programs=programs) + body


OVER_0 = "range(tl.program_id(0), n, tl.num_programs(0))"
INSIDE_0 = "range(tl.program_id(0), m, tl.num_programs(0))"
INSIDE_1 = "range(tl.program_id(1), m, tl.num_programs(1))"
RIGHT = {
    "one loop": copying("(any,)", OVER_0, "range(0, m)"),
    "a loop for each axis": copying("(any, any)", OVER_0, INSIDE_1),
    "axes with as many programs": copying("(4, 4)", "range(p, n, P)", INSIDE_1),
    "axes of which one is a number": copying("(any, 4)", OVER_0, "range(tl.program_id(1), m, P)"),
}
BATCHES = """
# verify: copy[(len(u), any)](
#     A, f, len(i), len(j), A.stride(0), A.stride(1), f.stride(0), f.stride(1)
# )


@triton.jit
def copy(a, o, n, m, s0, s1, t0, t1):
    u = tl.program_id(0)
    for i in range(tl.program_id(1), n, tl.num_programs(1)):
        for j in range(tl.program_id(1), m, tl.num_programs(1)):
            tl.store(o + u * t0 + i * t1 + j, tl.load(a + u * s0 + i * s1 + j))
"""
ADDED = """
# verify: clear[(1,)](f)
# verify: add[(any,)](A, f, len(i), len(j), A.stride(0))


@triton.jit
def clear(o):
    tl.store(o, 0.0)


@triton.jit
def add(a, o, n, m, sa):
    for i in range(tl.program_id(0), n, tl.num_programs(0)):
        for j in range(tl.program_id(0), m, tl.num_programs(0)):
            tl.atomic_add(o, tl.load(a + i * sa + j))
"""
WRONG = {
    "both loops over one axis": (COPY, copying("(any,)", OVER_0, INSIDE_0)),
    "by a name": (COPY, copying("(any,)", "range(p, n, tl.num_programs(0))", INSIDE_0)),
    "a number of programs": (COPY, copying("(4,)", "range(p, n, P)", "range(p, m, P)")),
    "with Triton's range": (COPY, copying("(4,)", "tl.range(p, n, P)", "tl.range(p, m, 4)")),
    "the second axis": (BATCH, HEAD + BATCHES),
    "an atomic sum": (SUM, HEAD + ADDED),
    "the program of an inner loop in a mask": (
        COPY,
        copying("(any, any)", OVER_0, INSIDE_1, mask="tl.program_id(1) < 1"),
    ),
    "the program of an outer loop in a mask": (
        COPY,
        copying("(any, any)", OVER_0, INSIDE_1, mask="tl.program_id(0) < 1"),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_each_loop_has_programs_of_its_own(name: str) -> None:
    assert verify(written(COPY), RIGHT[name]).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_programs_that_are_shared_out_twice_are_not_proved(name: str) -> None:
    program, text = WRONG[name]
    assert verify(written(program), text).verdict is not LayerVerdict.PROVED


def test_what_is_proved_copies_all() -> None:
    launch(written(COPY), RIGHT["a loop for each axis"], {"i": 5, "j": 7})


def test_what_is_shared_out_twice_leaves_elements_out() -> None:
    with pytest.raises(Exception, match="should be"):
        launch(written(COPY), WRONG["both loops over one axis"][1], {"i": 5, "j": 7})
