"""Tests what Triton would see of a call: types, constants, alignments."""

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.targets.argument import ParameterType
from dtpoly.targets.parameter_types import contiguous, shape_of, steps_of
from dtpoly.targets.subject import Subject, subjects
from dtpoly.targets.tile_layouts import accesses

PRODUCT = """\
Func mm; In A, B; SIn s; Var m, n; RVar k;
mm[m, n] = s * rdot(A[m, k], B[k, n], k);
mm.block(m:16, n:16); mm.tensorize(m:0, n:0, k:0); mm.compile();
"""
WINDOW = """\
Func f; In X, W; Var f_, x; RVar c, r: 3;
f[f_, x] = rdot(W[c, r, f_], X[c, PLACE], c, r);
f.block(f_:64, x:32); f.tensorize(f_:0, x:0, c:16); f.compile();
"""
PLACED = """\
Func w into C at [rows[t, i], n] distinct; In A, C, rows: i64; Var t, i, n;
w[t, i, n] = A[t, i, n] * 2;
w.block(t:1, i:16, n:64); w.tensorize(t:0, i:0, n:0); w.compile();
"""
PARTS = """\
Func total; In A; Var x; RVar k;
total[x] = rsum(A[x, k], k);
total.block(k:256); total.tensorize(k:0); total.compile();
"""


def made(text: str, dtype: DType = DType.F32, **sizes: int) -> tuple[Subject, ...]:
    verdict = check(Source("a.dt", text)).verdict
    assert verdict is not None
    state = verdict.scheduled
    return subjects(state, code_of(state).stages, sizes, dtype)


def arguments(text: str, dtype: DType = DType.F32, **sizes: int) -> dict[str, ParameterType]:
    (one,) = made(text, dtype, **sizes)
    return dict(one.arguments)


def test_of_a_product() -> None:
    found = arguments(PRODUCT, DType.BF16, m=64, n=112, k=48)
    assert found["A_ptr"] == ParameterType("A_ptr", "*bf16", is_aligned=True)
    assert found["mm_ptr"].type == "*bf16"
    assert found["A_stride_0"] == ParameterType("A_stride_0", "i32", is_aligned=True)
    assert found["A_stride_1"] == ParameterType("A_stride_1", "constexpr", 1)
    assert found["s"] == ParameterType("s", "fp64", is_told=False)
    # Of sizes Triton is told where they are the lengths of lines.
    assert found["m_size"] == ParameterType("m_size", "i32", is_told=False)
    assert found["n_size"] == ParameterType("n_size", "i32", is_aligned=True)
    assert found["k_lanes"] == ParameterType("k_lanes", "constexpr", 64, is_chosen=True)
    assert found["even"].value is False
    assert (found["real"].value, found["offset"].value) == (DType.F32, DType.I32)
    assert found["A_B_dtype"].value is DType.BF16


@pytest.mark.parametrize(
    ("dtype", "real", "operand"),
    [
        (DType.F32, DType.F32, DType.F32),
        (DType.F64, DType.F64, DType.F64),
        (DType.F8E5M2, DType.F32, DType.F16),
    ],
)
def test_dtypes(dtype: DType, real: DType, operand: DType) -> None:
    found = arguments(PRODUCT, dtype)
    assert (found["real"].value, found["A_B_dtype"].value) == (real, operand)


def test_lines_that_begin_anywhere() -> None:
    """One is enough: a variant knows of all tensors that they are aligned, or of none."""
    found = arguments(PRODUCT, DType.BF16, m=64, n=101, k=64)
    assert found["A_ptr"] == ParameterType("A_ptr", "*bf16", is_told=False)
    assert found["A_stride_0"] == ParameterType("A_stride_0", "i32", is_told=False)
    assert found["fours"].value is False
    assert found["B_stride_1"] == ParameterType("B_stride_1", "constexpr", 1)
    # Nor is it told of whole tiles.
    assert arguments(PRODUCT, m=64, n=64, k=64)["even"].value is True
    assert arguments(PRODUCT, m=64, n=72, k=64)["even"].value is False


def test_lines_at_multiples_of_four() -> None:
    """A variant knows of all tensors that they are aligned, and says the rest itself."""
    found = arguments(PRODUCT, DType.BF16, m=64, n=100, k=64)
    assert found["A_ptr"] == ParameterType("A_ptr", "*bf16", is_aligned=True)
    assert found["A_stride_0"] == ParameterType("A_stride_0", "i32", is_told=False)
    assert (found["fours"].value, found["even"].value) == (True, False)
    # Of lines at multiples of 16 numbers, Triton sees more by itself.
    assert arguments(PRODUCT, m=64, n=64, k=64)["fours"].value is False


@pytest.mark.parametrize("place", ["2 * x + r", "x + r", "x + 3 * r", "2 * x + 2 * r"])
def test_rows_of_windows_decide_nothing(place: str) -> None:
    """Tiles of windows begin anywhere in rows, which are odd where a stride is 2."""
    text, sizes = WINDOW.replace("PLACE", place), {"x": 64, "f_": 128, "c": 16}
    (one,) = made(text, DType.F32, **sizes)
    assert not {row.variable for row in one.kernel.fours} & {"X_stride_0", "X_stride_1"}
    found = dict(one.arguments)
    assert found["W_stride_0"].is_told
    assert found["W_ptr"].is_told
    assert found["X_stride_0"].is_told is False
    # The rows of the result, which are as long as x, do decide.
    assert arguments(text, DType.F32, **sizes | {"x": 63})["W_stride_0"].is_told is False


def test_pairs_may_be_loaded_together() -> None:
    """Of a tile that has both elements of each pair, rows that begin aligned are loaded wide."""
    text = (
        "Func f; In X; Var y, x; RVar r: 2; f[y, x] = rsum(X[y, 2 * x + r], r);"
        "f.block(y:1, x:64); f.tensorize(y:0, x:0, r:2); f.compile();"
    )
    assert arguments(text, y=64, x=64)["X_stride_0"].is_told


def test_a_declared_dtype_counts() -> None:
    found = arguments(PRODUCT.replace("In A, B;", "In A: f16, B;"), DType.BF16)
    assert (found["A_ptr"].type, found["B_ptr"].type) == ("*fp16", "*bf16")
    assert found["mm_ptr"].type == "*fp32"


def test_a_stride_of_one_is_a_constant_and_a_size_is_none() -> None:
    found = arguments(PRODUCT, m=1, n=1, k=1)
    assert {found[name].type for name in ("A_stride_1", "B_stride_1")} == {"constexpr"}
    assert {found[name].type for name in ("m_size", "n_size", "A_stride_0")} == {"i32"}


def test_rows_between_kernels_are_aligned_where_they_are_loaded_in_blocks() -> None:
    text = (
        "Func f, g; In A, B; Var m, n, k; RVar l; g[m, k] = A[m, k] * 2;"
        "f[m, n] = rdot(reshape(g[m, l], m, l), B[l, n], l); f.block(m:64, n:64);"
        "f.tensorize(m:0, n:0, l:64); f.descriptor(g, B); g.tensorize(m:4, k:64); f.compile();"
    )
    for size, row in ((1000, 1024), (100, 104)):
        *_, last = made(text, DType.F16, m=64, n=64, k=size, l=size)
        (tensor,) = (one for one in last.kernel.tensors if one.name == "g")
        assert steps_of(last.call, last.kernel, tensor) == (row, 1)


def test_far_offsets_are_wide() -> None:
    assert arguments(PRODUCT, m=2**16, n=2**16, k=16)["offset"].value is DType.I64
    assert arguments(PRODUCT, m=2**15, n=2**15, k=16)["offset"].value is DType.I32


def test_a_result_at_places_has_the_strides_of_the_tensor_that_it_goes_into() -> None:
    """It has three labels, but its memory is a tensor with two axes."""
    (one,) = made(PLACED, t=3, i=16, n=64)
    (pointer,) = (tensor for tensor in one.kernel.tensors if tensor.is_written)
    assert shape_of(one.call, one.kernel, pointer.name)[1:] == (64,)
    assert steps_of(one.call, one.kernel, pointer) == (64, 1)
    assert one.arguments["w_stride_1"] == ParameterType("w_stride_1", "constexpr", 1)
    (store,) = (a for a in accesses(one.call, one.kernel, one.arguments) if a.is_store)
    assert store.tensor == "w"


def test_partial_results() -> None:
    """A tensor between two kernels has as many parts as there are blocks, in the type of sums."""
    first, second = made(PARTS, DType.F16, x=7, k=1000)
    (parts,) = (one for one in first.kernel.tensors if one.is_written)
    (same,) = (one for one in second.kernel.tensors if one.name == parts.name)
    for subject, pointer in ((first, parts), (second, same)):
        assert subject.arguments[f"{pointer.variable}_ptr"].type == "*fp32"
        assert shape_of(subject.call, subject.kernel, pointer.name) == (4, 7)
    assert second.arguments["total_ptr"].type == "*fp16"


def test_sizes_that_are_not_given() -> None:
    (one,) = made(PRODUCT)
    assert one.call.sizes == {"m": 1024, "n": 1024, "k": 128}
    (one,) = made(PRODUCT, k=64)
    assert one.call.sizes["k"] == 64


def test_strides() -> None:
    assert contiguous((2, 3, 4)) == (12, 4, 1)
    assert contiguous((2, 0, 4)) == (1, 4, 1)
    assert contiguous(()) == ()
