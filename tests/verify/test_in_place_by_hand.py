"""Kernels that people wrote store results into the memory of their inputs."""

import pytest

from dtpoly.verify.proof.report import FunctionReport
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import written

ADDED = "Func z into x; In x: f32, y: f32; Var i; z[i] = x[i] + y[i]; z.compile();"
SWAPPED = (
    "Func p into x, q into y; In x: f32, y: f32; Var i; p[i] = y[i]; q[i] = x[i] * 2;"
    "p.block(i:64); p.tensorize(i:0); q.fuse_at(p, i); p.compile(q);"
)
CENTRED = (
    "Func z into x, s; In x: f32; Var i; RVar j; s[i] = rsum(x[i, j], j);"
    "z[i, j] = x[i, j] - reshape(s[i], i, 1); z.compile();"
)
KERNEL = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 64),)](x, y, len(i), BLOCK=64)
# assume: len(i) < 2**30


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
"""
ROWS = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](x, len(j), BLOCK=next_power_of_2(len(j)))
# assume: len(j) < 1024, reach(x) < 2**31


@triton.jit
def k(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    x = tl.load(x_ptr + row + at, mask=at < n, other=0.0)
    s = tl.sum(x, 0)
"""
STORE = "    tl.store(x_ptr + at, {0}, mask=at < n)\n"
TRUSTED = "has loaded it in line"


def found(algorithm: str, kernel: str) -> FunctionReport:
    """Return what is proved of the first function."""
    return verify(written(algorithm), kernel).functions[0]


def order(report: FunctionReport) -> LayerVerdict:
    return next(one.verdict for one in report.layers if one.name == "order")


def test_what_a_lane_has_loaded_is_replaced() -> None:
    report = found(ADDED, KERNEL + STORE.format("x + y"))
    assert report.verdict is LayerVerdict.PROVED
    assert any(TRUSTED in one for one in report.assumed)


def test_a_barrier_needs_no_trust() -> None:
    report = found(ADDED, KERNEL + "    tl.debug_barrier()\n" + STORE.format("x + y"))
    assert report.verdict is LayerVerdict.PROVED
    assert not any(TRUSTED in one for one in report.assumed)


def test_a_row_is_replaced_behind_its_sum() -> None:
    stored = "    tl.store(x_ptr + row + at, x - s, mask=at < n)\n"
    assert found(CENTRED, ROWS + stored).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("value", ["x - y", "y", "x + y + 1", "x + x"])
def test_another_value_is_refuted(value: str) -> None:
    assert found(ADDED, KERNEL + STORE.format(value)).verdict is LayerVerdict.REFUTED


def test_two_results_of_one_program() -> None:
    swapped = KERNEL + STORE.format("y") + "    tl.store(y_ptr + at, x * 2, mask=at < n)\n"
    report = verify(written(SWAPPED), swapped)
    assert report.verdict is LayerVerdict.PROVED
    # What is stored is read again: y becomes what x has become.
    late = swapped.replace("tl.store(y_ptr + at, x", "tl.store(y_ptr + at, tl.load(x_ptr + at)")
    assert verify(written(SWAPPED), late).verdict is not LayerVerdict.PROVED


AGAIN = """\


@triton.jit
def again(x_ptr, q_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(q_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)
"""


def test_a_launch_may_mean_what_the_one_before_has_stored() -> None:
    """It loads the input, and finds the result in its place: that is not proved, and no mistake."""
    algorithm = ADDED.replace("Func z", "Func q, z").replace(
        "z.compile()", "q[i] = z[i] + 1; z.compile(q)"
    )
    kernel = KERNEL.replace(
        "# assume", "# verify: again[(cdiv(len(i), 64),)](x, q, len(i), BLOCK=64)\n# assume"
    )
    reports = verify(written(algorithm), kernel + STORE.format("x + y") + AGAIN).functions
    assert {one.verdict for one in reports} == {LayerVerdict.UNKNOWN}


UNCLEAR = {
    "lanes that are numbered anew": STORE.format("tl.reshape(x + y, BLOCK)"),
    "a value along another axis": (
        "    two = tl.arange(0, 2)\n"
        "    tl.store(w_ptr + at[:, None] * 2 + two[None, :], x[:, None] + two[None, :],"
        " mask=at[:, None] < n)\n" + STORE.format("x + y")
    ),
    "another tile": (
        "    there = tl.program_id(0) * BLOCK + BLOCK - 1 - tl.arange(0, BLOCK)\n"
        "    w = tl.load(x_ptr + there, mask=there < n, other=0.0)\n"
        "    v = tl.load(y_ptr + there, mask=there < n, other=0.0)\n"
        "    tl.store(x_ptr + there, w + v, mask=there < n)\n"
    ),
}


@pytest.mark.parametrize("form", UNCLEAR)
def test_other_threads_may_still_load(form: str) -> None:
    kernel, algorithm = KERNEL + UNCLEAR[form], ADDED
    if "w_ptr" in kernel:
        kernel = kernel.replace("(x, y, ", "(x, y, w, ").replace("y_ptr, n,", "y_ptr, w_ptr, n,")
        algorithm = ADDED.replace("Func z", "Func w: f32, z").replace(
            "z.compile", "w[i, j] = x[i] + j; z.compile"
        )
        algorithm = algorithm.replace("Var i;", "Var i, j: 2;")
    reports = verify(written(algorithm), kernel).functions
    assert {order(one) for one in reports} == {LayerVerdict.UNKNOWN}


ZEROED = "Func z into x, w: {0}; In x: f32; Var i; z[i] = 0; w[i] = cast(x[i], {0}); z.compile(w);"
ZEROS = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 1024),)](x, w, len(i), BLOCK=1024)
# assume: len(i) < 2**30


@triton.jit
def k(x_ptr, w_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(x_ptr + at, tl.full((BLOCK,), 0.0, tl.float32), mask=at < n)
    tl.store(w_ptr + at, x.to({0}), mask=at < n)
"""


@pytest.mark.parametrize(
    ("dtype", "verdict"), [("f32", LayerVerdict.PROVED), ("f16", LayerVerdict.UNKNOWN)]
)
def test_smaller_elements_beside_give_a_load_more_lanes(dtype: str, verdict: LayerVerdict) -> None:
    """Beside f16, Triton 3.9 loads 8 lanes by a thread, and stores only 4 of f32: no one waits."""
    kernel = ZEROS.format("tl.float16" if dtype == "f16" else "tl.float32")
    reports = verify(written(ZEROED.format(dtype)), kernel).functions
    assert {order(one) for one in reports} == {verdict}


def test_a_lane_that_is_brought_to_another_thread_is_waited_for() -> None:
    mixed = ADDED.replace("In x: f32, y: f32", "In x: f32, y: f16")
    assert found(mixed, KERNEL + STORE.format("x + y")).verdict is LayerVerdict.PROVED


SUMMED = (
    "Func z into x, w: f32; In x: f32; Var i, j: 64; RVar k: 64; z[i, j] = x[i, j] {0};"
    "w[i, j] = rsum(x[i, k], k) + 0 * j; z.compile(w);"
)
SUMS = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](x, w)
# assume: reach(x) < 2**31, reach(w) < 2**31


@triton.jit
def k(x_ptr, w_ptr):
    at = tl.program_id(0).to(tl.int64) * 64 + tl.arange(0, 64)
    x = tl.load(x_ptr + at)
"""
BESIDE = "    tl.store(w_ptr + at, s + tl.zeros((64,), tl.float32))\n"
TOTAL = "    s = tl.sum(x, 0)\n"
TWICE = "    tl.store(x_ptr + at, x * 2)\n"
# Of 128 threads, two load each of 64 lanes, and Triton 3.9 takes a sum from either of the two.
BEHIND = {
    "a sum before": ("* 2", TOTAL + BESIDE + TWICE, LayerVerdict.PROVED),
    "a sum behind": ("* 2", TWICE + TOTAL + BESIDE, LayerVerdict.UNKNOWN),
    "a sum that is waited for": (
        "- reshape(w[i, j], i, j)",
        f"{TOTAL}    tl.store(x_ptr + at, x - s)\n{BESIDE}",
        LayerVerdict.PROVED,
    ),
    "another reduction than the one that is waited for": (
        "- rmax(x[i, k], k)",
        f"    tl.store(x_ptr + at, x - tl.max(x, 0))\n{TOTAL}{BESIDE}",
        LayerVerdict.UNKNOWN,
    ),
}


@pytest.mark.parametrize("form", BEHIND)
def test_a_sum_may_be_taken_from_a_thread_that_loads_late(form: str) -> None:
    algorithm, kernel, verdict = BEHIND[form]
    reports = verify(written(SUMMED.format(algorithm)), SUMS + kernel).functions
    assert {order(one) for one in reports} == {verdict}


def test_another_program_is_refuted() -> None:
    shifted = KERNEL.replace(
        "tl.load(x_ptr + at, mask=at < n", "tl.load(x_ptr + at + 1, mask=at < n - 1"
    )
    algorithm = ADDED.replace("x[i] +", "pad(x, 0)[i + 1] +")
    report = found(algorithm, shifted + STORE.format("x + y"))
    assert order(report) is LayerVerdict.REFUTED


def test_atomic_operations_are_not_read() -> None:
    report = found(ADDED, KERNEL + STORE.format("y").replace("tl.store", "tl.atomic_add"))
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "atomic operation on 'x'" in report.layers[0].why


def test_a_scalar_needs_a_barrier() -> None:
    """Each thread loads the number, and one of them stores it: the others may be late."""
    algorithm = "Func z into x; In x: f32; Var i; z[i] = x[i] + 1; z.compile();"
    kernel = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](x)
# assume: len(i) < 2**30


@triton.jit
def k(x_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    tl.store(x_ptr + tl.program_id(0), x + 1)
"""
    assert order(found(algorithm, kernel)) is LayerVerdict.UNKNOWN
    barrier = kernel.replace("    tl.store", "    tl.debug_barrier()\n    tl.store")
    assert found(algorithm, barrier).verdict is LayerVerdict.PROVED
