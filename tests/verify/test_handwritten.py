"""Kernels that people wrote: what is right is proved, and each mistake in them refuted."""

import pytest

from dtpoly.ring.ring_memory import OutsideError, RaceError
from dtpoly.verify.proof.report import Layer, LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.codegen.running import Wrong
from tests.verify.handwritten import NAMES, algorithm, launch, text
from tests.verify.texts import changed, written

# Sizes that no block divides.
SIZES = {
    "add": {"i": 1030},
    "axpy": {"i": 2500},
    "bias_silu": {"i": 18, "j": 70},
    "column_max": {"i": 35, "j": 70},
    "layer_norm": {"row": 3, "col": 300},
    "matmul": {"m": 70, "n": 130, "k": 40},
    "matmul_descriptors": {"m": 40, "n": 72, "k": 40},
    "matmul_leaky": {"m": 130, "n": 70, "k": 40},
    "outer": {"i": 35, "j": 70},
    "rms_norm": {"row": 3, "col": 20},
    "row_sum": {"i": 18, "j": 130},
    "softmax": {"row": 3, "col": 20},
    "softmax_persistent": {"row": 8, "col": 20},
    "transpose": {"i": 35, "j": 70},
}


def wrong_layers(report: Report) -> list[Layer]:
    return [layer for layer in report.layers if layer.verdict is not LayerVerdict.PROVED]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_proved(name: str) -> None:
    report = verify(algorithm(name), text(name))
    assert wrong_layers(report) == []
    assert report.verdict is LayerVerdict.PROVED


# One of each kind; of the others it is enough that their mistakes are confirmed.
QUICK = ("add", "softmax_persistent", "matmul_leaky")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in NAMES],
)
def test_it_computes_what_is_proved(name: str) -> None:
    launch(algorithm(name), text(name), SIZES[name])


# What is done to which file: what is replaced by what.
BUGS: dict[str, tuple[str, str, str]] = {
    "a mask of a store is dropped": ("add", "x + y, mask=mask)", "x + y)"),
    "a mask reaches one too far": ("add", "offsets < n_elements", "offsets <= n_elements"),
    "programs begin too near to each other": ("axpy", "* BLOCK * PER_PROGRAM", "* BLOCK"),
    "a block is done too few": ("axpy", "range(PER_PROGRAM)", "range(PER_PROGRAM - 1)"),
    "axes of the grid are exchanged": (
        "bias_silu",
        "i = tl.program_id(1) * BLOCK_I",
        "i = tl.program_id(0) * BLOCK_I",
    ),
    "what masked lanes load is not the identity": (
        "column_max",
        'other=float("-inf")',
        "other=0.0",
    ),
    "a maximum begins with 0": (
        "column_max",
        'tl.full((COLS,), float("-inf"), tl.float32)',
        "tl.zeros((COLS,), tl.float32)",
    ),
    "lanes beyond the end are summed": (
        "layer_norm",
        "x = tl.where(cols < N, x - mean, 0.0)",
        "x = x - mean",
    ),
    "the mean is of a whole number of blocks": (
        "layer_norm",
        "mean = tl.sum(_mean, axis=0) / N",
        "mean = tl.sum(_mean, axis=0) / BLOCK_SIZE",
    ),
    "strides of one tensor are exchanged": (
        "matmul",
        "offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak",
        "offs_m[:, None] * stride_ak + offs_k[None, :] * stride_am",
    ),
    "the last group is taken as full": (
        "matmul",
        "min(num_pid_m - first_pid_m, GROUP_M)",
        "GROUP_M",
    ),
    "the last block is left out": (
        "matmul",
        "range(0, tl.cdiv(K, BLOCK_K))",
        "range(0, K // BLOCK_K)",
    ),
    "an address does not move on": ("matmul", "        b_ptrs += BLOCK_K * stride_bk\n", ""),
    "columns are counted by rows": (
        "outer",
        "across = tl.cdiv(cols, BLOCK)",
        "across = tl.cdiv(rows, BLOCK)",
    ),
    "a square is a product": ("rms_norm", "tl.sum(x * x, axis=0)", "tl.sum(x * w, axis=0)"),
    "only the last block is summed": ("row_sum", "acc += tl.load", "acc = tl.load"),
    "a denominator is a numerator": (
        "softmax",
        "softmax_output = numerator / denominator",
        "softmax_output = denominator / numerator",
    ),
    "what masked lanes load counts": ("softmax", 'other=-float("inf")', "other=0.0"),
    "rows are left out": (
        "softmax_persistent",
        "tl.range(row_start, n_rows",
        "tl.range(row_start, n_rows - 1",
    ),
    "the result is laid out as what is loaded": (
        "transpose",
        "out_ptr + j[:, None] * out_stride + i[None, :]",
        "out_ptr + i[None, :] * out_stride + j[:, None]",
    ),
    "a descriptor has its sizes exchanged": (
        "matmul_descriptors",
        "b_ptr, shape=[K, N]",
        "b_ptr, shape=[N, K]",
    ),
    "a block begins at another": (
        "matmul_descriptors",
        "b_desc.load([k * BLOCK_K, offs_n])",
        "b_desc.load([k, offs_n])",
    ),
    "a remainder is of another size": (
        "matmul_leaky",
        "tl.arange(0, BLOCK_SIZE_N)) % N",
        "tl.arange(0, BLOCK_SIZE_N)) % M",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", BUGS)
def test_a_mistake_is_refuted(name: str) -> None:
    of, old, new = BUGS[name]
    mutant = changed(text(of), old, new)
    report = verify(algorithm(of), mutant, seconds=40.0)  # a busy machine looks at few sizes
    refuted = [one for one in report.layers if one.verdict is LayerVerdict.REFUTED]
    assert refuted, report.layers
    for one in refuted:
        assert one.line > 0
        assert one.why
        assert one.witness is not None
        with pytest.raises((Wrong, OutsideError, RaceError)):
            launch(algorithm(of), mutant, dict(one.witness.sizes))


# What nothing is proved of: what is done to which file.
UNPROVED: dict[str, tuple[str, str, str]] = {
    "no word on how large tensors are": ("add", "# assume: len(i) <= 2**30\n", ""),
    "no word on how far strides reach": ("softmax", "reach(logits) < 2**31, ", ""),
    "no word on infinities": ("column_max", "# assume: finite\n", ""),
    "a promise that nothing keeps": ("add", "len(i) <= 2**30", "len(i) < 0"),
    "the stride of another tensor": ("softmax", "row_idx * output_row", "row_idx * input_row"),
    "another grid": ("add", "cdiv(len(i), 1024)", "cdiv(len(i), 2048)"),
    "a grid that may be negative": ("add", "cdiv(len(i), 1024)", "cdiv(len(i), 1024) - 1"),
    "arguments in another order": ("matmul", "len(m), len(n), len(k)", "len(n), len(m), len(k)"),
    "a tensor for another": ("axpy", "(x, y, result", "(x, x, result"),
    "a tile of another size": ("rms_norm", "next_power_of_2(len(col))", "128"),
    "a value is carried from row to row": (
        "softmax_persistent",
        "row_minus_max = row -",
        "row_step = row_step * 1\n        row_minus_max = row -",
    ),
    "what a row is depends on the program": (
        "softmax_persistent",
        "numerator = tl.exp(row_minus_max)",
        "numerator = tl.exp(row_minus_max + tl.program_id(0))",
    ),
    "a mask depends on the program": (
        "softmax_persistent",
        "mask = col_offsets < n_cols",
        "mask = (col_offsets < n_cols) & (row_start >= 0)",
    ),
    "there is more than rows": (
        "softmax_persistent",
        "    row_step = tl.num_programs(0)\n",
        "    row_step = tl.num_programs(0)\n    tl.store(output_ptr, 0.0)\n",
    ),
    "a remainder decides what is stored": (
        "matmul_leaky",
        "c_mask = (offs_cm[:, None] < M)",
        "c_mask = (offs_am[:, None] < M)",
    ),
    "rows beyond the end count": (
        "row_sum",
        "acc += tl.load(a_ptr + rows[:, None] * stride + cols[None, :], mask=mask, other=0.0)",
        "x = tl.load(a_ptr + rows[:, None] * stride + cols[None, :], mask=mask, "
        'other=float("-inf"))\n        acc += x - tl.max(x, axis=1)[:, None]',
    ),
    "what Triton assumes is not so": (
        "add",
        "    pid =",
        "    tl.assume(n_elements > 5)\n    pid =",
    ),
    "an address is too large before it is less": (
        "row_sum",
        "rows[:, None] * stride + cols",
        "rows[:, None] * stride * 5 - rows[:, None] * stride * 4 + cols",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", UNPROVED)
def test_it_is_not_proved(name: str) -> None:
    of, old, new = UNPROVED[name]
    assert verify(algorithm(of), changed(text(of), old, new)).verdict is not LayerVerdict.PROVED


# What cannot be read: what is done to the file of `add`, and what is said of which line.
UNREAD: dict[str, tuple[str, str, int, str]] = {
    "brackets": ("BLOCK_SIZE=1024)", "BLOCK_SIZE=1024", 4, "this is not an expression"),
    "no launch": (
        "add_kernel[(cdiv(len(i), 1024),)]",
        "add_kernel",
        4,
        "kernel[(grid,)](arguments)",
    ),
    "another kernel": ("verify: add_kernel", "verify: adding", 4, "'adding', which is not here"),
    "no such label": ("total, len(i)", "total, len(j)", 4, "'len(j)'"),
    "no such tensor": ("total, len(i)", "total, t.shape[0]", 4, "'t' is not a tensor"),
    "no such axis": ("total, len(i)", "total, total.shape[1]", 4, "'total' has 1 axes"),
    "too few arguments": (", len(i), BLOCK", ", BLOCK", 4, "is not given 'n_elements'"),
    "too many arguments": ("BLOCK_SIZE=1024)", "BLOCK_SIZE=1024, more=1)", 4, "no 'more'"),
    "a call of something": ("total, len(i)", "total, sum(i)", 4, "'sum(i)'"),
    "a promise of something": ("len(i) <= 2**30", "i", 5, "an assumption 'i'"),
    "a product without use": ("len(i) <= 2**30", "len(i) * len(i) > 5", 5, "a product of sizes"),
    "nothing to compute": (
        "right, total, len",
        "right, right, len",
        4,
        "no kernel is given a Func",
    ),
    "only a promise": ("# verify: ", "# ", 5, "no kernel is given a Func"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_read_is_told(name: str) -> None:
    old, new, line, what = UNREAD[name]
    report = verify(algorithm("add"), changed(text("add"), old, new))
    assert report.verdict is LayerVerdict.UNKNOWN
    assert {layer.line for layer in report.layers} == {line}
    assert what in report.layers[0].why


def test_what_is_assumed_is_told() -> None:
    (function,) = verify(algorithm("softmax"), text("softmax")).functions
    assert function.assumed == (
        "f32: logits",
        "reach(logits) < 2**31, reach(softmax) < 2**31, finite",
    )
    (function,) = verify(algorithm("matmul_descriptors"), text("matmul_descriptors")).functions
    assert "addresses and strides of descriptors are multiples of 16 bytes" in function.assumed
    loop = "range(tl.cdiv(K, BLOCK_K))"
    special = changed(text("matmul_descriptors"), loop, f"tl.{loop[:-1]}, warp_specialize=True)")
    (function,) = verify(algorithm("matmul_descriptors"), special).functions
    assert function.verdict is LayerVerdict.PROVED
    assert any("warp_specialize" in one for one in function.assumed)


def test_each_result_of_a_kernel_is_looked_at() -> None:
    more = changed(text("rms_norm"), "rms_norm, X, W", "rms_norm, scale, X, W")
    more = changed(more, "(Y_ptr, X_ptr", "(Y_ptr, scale_ptr, X_ptr")
    both = changed(more, "    tl.store(", "    tl.store(scale_ptr + row, rstd)\n    tl.store(")
    report = verify(algorithm("rms_norm"), both)
    assert [function.name for function in report.functions] == ["scale", "rms_norm"]
    assert report.verdict is LayerVerdict.PROVED
    first, second = verify(algorithm("rms_norm"), more).functions
    assert (first.verdict, second.verdict) == (LayerVerdict.REFUTED, LayerVerdict.PROVED)


# What programs put together in memory.
PEAK = """
import triton
import triton.language as tl

# verify: begin[(1,)](peak)
# verify: f_kernel[(cdiv(len(i), 64),)](peak, A, len(i))
# assume: len(i) <= 2**30


@triton.jit
def begin(out_ptr):
    tl.store(out_ptr, float("-inf"))


@triton.jit
def largest(a, b):
    return tl.maximum(a, b, tl.PropagateNan.ALL)


@triton.jit
def f_kernel(out_ptr, a_ptr, n):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    a = tl.load(a_ptr + i, mask=i < n, other=float("-inf"))
    tl.atomic_max(out_ptr, tl.reduce(a, 0, largest))
"""


def test_an_atomic_maximum_of_floats_needs_finite_values() -> None:
    program = written("Func peak; In A; RVar i; peak[] = rmax(A[i], i);")
    report = verify(program, PEAK)
    (value,) = [layer for layer in report.layers if layer.name == "value"]
    assert report.verdict is LayerVerdict.UNKNOWN
    assert value.why == "an atomic maximum of floats may lose a nan"
    finite = changed(PEAK, "2**30", "2**30, finite")
    assert verify(program, finite).verdict is LayerVerdict.PROVED
    whole = written("Func peak; In A: i32; RVar i; peak[] = rmax(A[i], i);")
    assert (
        verify(whole, PEAK.replace('float("-inf")', "-2147483648")).verdict is LayerVerdict.PROVED
    )


# Of what a tile of rows has beyond the last row, the largest is infinite: `-inf - -inf` is a nan.
TILE = """
import triton
import triton.language as tl

# verify: f_kernel[(1,)](f, A, len(j))
# assume: finite


@triton.jit
def f_kernel(f_ptr, a_ptr, columns):
    i = tl.arange(0, 4)
    j = tl.arange(0, 16)
    mask = (i < ROWS)[:, None] & (j < columns)[None, :]
    x = tl.load(a_ptr + i[:, None] * columns + j[None, :], mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    tl.store(f_ptr, tl.sum(tl.sum(e, axis=1), axis=0))
"""


@pytest.mark.parametrize("rows", [4, 3])
def test_a_row_of_nothing_has_no_largest_value(rows: int) -> None:
    program = written(
        "Func m, f; In A; Var i; RVar j, k; m[k] = rmax(A[k, j], j);"
        "f[] = rsum(exp(A[k, j] - reshape(m[k], k, 1)), j, k);"
    )
    # Here there are columns, and at least so many rows.
    text = TILE.replace("ROWS", str(rows)).replace(
        "finite", f"finite, reach(A) < 2**31, 1 <= len(j) <= 16, len(k) == {rows}"
    )
    proved = verify(program, text).verdict is LayerVerdict.PROVED
    assert proved == (rows == 4)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [("1024, 4)", LayerVerdict.PROVED), ("BLOCK_SIZE=1024, num_stages=4)", LayerVerdict.UNKNOWN)],
)
def test_a_parameter_that_an_option_is_called(given: str, verdict: LayerVerdict) -> None:
    """By its place it is the kernel's; by its name it could be either."""
    block = "BLOCK_SIZE: tl.constexpr"
    made = changed(text("add"), block, f"{block}, num_stages: tl.constexpr")
    report = verify(algorithm("add"), changed(made, "BLOCK_SIZE=1024)", given))
    assert report.verdict is verdict, report
