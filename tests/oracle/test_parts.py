"""Tests how the oracle judges blocks that cut reductions and scans into parts."""

from collections import Counter

import pytest

from dtpoly.algorithm.program import Program
from tests.oracle.cases import understood
from tests.oracle.defining_order import defining
from tests.oracle.kernels import plan
from tests.oracle.run import Illegal, judge_schedule

SUMS = """
Func f, g, r; In A; RVar x, y;
g[x, y] = A[x, y] * 2; f[y] = rsum(A[x, y], x); r[y] = rmax(A[x, y], x);
g.fuse_at(f, x); r.fuse_at(f, y); f.compile(g, r);
"""
SCAN = """
Func c, h; In A, B; Var x, t; RVar s;
h[x, t] = A[x, t]; c[x, t] = scan_sum(h[x, s], s, t{order}) * B[x, t]; c.compile();
"""


def read(text: str) -> Program:
    """Return what a file says, whether its schedule is legal or not."""
    program = understood(text)
    assert program is not None
    return program


def steps(text: str, func: str, size: int) -> Counter[tuple[int, ...]]:
    """Return how often each step of a Func is taken, without the number of its part."""
    program = read(text)
    known = plan(program)
    found = Counter[tuple[int, ...]]()
    for one in defining(program, {label.name: size for label in program.labels}):
        if one.line.func == func and one.line.role in ("update", "scan"):
            dims = zip(one.line.dims, one.indices, strict=True)
            found[tuple(index for dim, index in dims if dim.label not in known.parts)] += 1
    return found


@pytest.mark.parametrize("size", range(8))
@pytest.mark.parametrize("result", ["f", "r"])
def test_each_step_is_in_one_part(result: str, size: int) -> None:
    in_parts = steps(f"{SUMS} f.block(x:p/3);", f"{result}_parts", size)
    assert in_parts == steps(SUMS, result, size)
    assert set(in_parts.values()) <= {1}


def test_the_kernel_of_parts_stores_what_is_in_the_loop_of_its_reduction() -> None:
    known = plan(read(f"{SUMS} f.block(x:p/3);"))
    assert known.stores == {"f_parts": ("g", "r_parts"), "f": ("r",)}
    assert known.along == {"g": "x"}
    assert known.parts == {"p": ("x", 3)}
    # Nothing is stored in the loop over x: partial results are those of one reduction.
    alone = plan(read(f"{SUMS.replace('g.fuse_at(f, x)', 'g.compile()')} f.block(x:3);"))
    assert alone.stores["f_parts"] == ("r_parts",)


@pytest.mark.parametrize("order", ["", ", before", ", reverse", ", before, reverse"])
@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 9])
def test_each_step_of_a_scan_is_taken_once(order: str, size: int) -> None:
    text = SCAN.format(order=order)
    cut = f"{text} c.block(t:p/4);"
    assert steps(cut, "c", size) == steps(text, "c", size)
    first = steps(cut, "c_parts", size)
    assert len(first) == size * size
    assert set(first.values()) <= {1}


# What is fused into a scan in parts, and what is wrong with it at the sizes.
VERDICTS = {
    "at the label of the parts": ("h.fuse_at(c, t); c.tensorize(t:2);", ""),
    "at another label": ("h.fuse_at(c, x);", ""),
    "a block around it": ("h.fuse_at(c, t); c.block(x:2);", ""),
    # Other parts compute the same elements, and that is no loop of a program.
    "at a part that is longer than a tile": ("h.fuse_at(c, x); c.tensorize(t:1);", ""),
}


@pytest.mark.parametrize("what", VERDICTS)
def test_the_verdict_on_a_scan_in_parts(what: str) -> None:
    directives, wanted = VERDICTS[what]
    program = read(f"{SCAN.format(order='')} c.block(t:p/4); {directives}")
    found = judge_schedule(program, {"x": 3, "t": 9, "s": 9})
    assert (found.kind if isinstance(found, Illegal) else "") == wanted


def test_a_part_is_no_loop_over_its_label() -> None:
    """Reads in two loops have no loop around both, as if one program had all."""
    text = """
    Func c, h; In A, B; Var t; RVar s, k;
    h[t] = A[t]; c[t] = rsum(reshape(h[t], t, 1) * B[t, k], k) * scan_sum(h[s], s, t, reverse);
    h.fuse_at(c, t); c.compile(); c.block(t:p/2);
    """
    found = judge_schedule(read(text), {"t": 4, "s": 4, "k": 4})
    assert isinstance(found, Illegal)
    assert found.kind == "runs too late"


def test_what_is_merged_reads_all_parts() -> None:
    """A result that is fused at a loop over x, which the kernel that merges does not have."""
    text = SUMS.replace("r[y] = rmax", "r[y] = rargmax").replace("r.fuse_at(f, y)", "{}")
    late = read(f"{text.format('r.fuse_at(f, x)')} f.block(x:p/2);")
    found = judge_schedule(late, {"x": 5, "y": 2})
    assert isinstance(found, Illegal)
    assert found.kind == "runs too late"
    assert not isinstance(
        judge_schedule(read(f"{text.format('r.fuse_at(f, y)')} f.block(x:p/2);"), {"x": 5, "y": 2}),
        Illegal,
    )
