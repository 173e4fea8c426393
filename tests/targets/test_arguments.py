"""What Triton would see of a call: types, constants, what is aligned."""

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.compile import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.targets.arguments import Argument, contiguous, shape_of
from dtpoly.targets.subject import Subject, subjects

PRODUCT = """\
Func mm; In A, B; SIn s; Var m, n; RVar k;
mm[m, n] = s * rdot(A[m, k], B[k, n], k);
mm.block(m:16, n:16); mm.tensorize(m:0, n:0, k:0); mm.compile();
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


def arguments(text: str, dtype: DType = DType.F32, **sizes: int) -> dict[str, Argument]:
    (one,) = made(text, dtype, **sizes)
    return dict(one.arguments)


def test_of_a_product() -> None:
    found = arguments(PRODUCT, DType.BF16, m=64, n=100, k=48)
    assert found["A_ptr"] == Argument("A_ptr", "*bf16", is_aligned=True)
    assert found["mm_ptr"].type == "*bf16"
    assert found["A_stride_0"] == Argument("A_stride_0", "i32", is_aligned=True)
    assert found["A_stride_1"] == Argument("A_stride_1", "constexpr", 1)
    assert found["B_stride_0"] == Argument("B_stride_0", "i32")
    assert found["s"].type == "fp64"
    assert (found["m_size"].is_aligned, found["n_size"].is_aligned) == (True, False)
    assert found["k_lanes"] == Argument("k_lanes", "constexpr", 64)
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


def test_a_declared_dtype_counts() -> None:
    found = arguments(PRODUCT.replace("In A, B;", "In A: f16, B;"), DType.BF16)
    assert (found["A_ptr"].type, found["B_ptr"].type) == ("*fp16", "*bf16")
    assert found["mm_ptr"].type == "*fp32"


def test_a_size_of_one_is_a_constant() -> None:
    found = arguments(PRODUCT, m=1, n=1, k=1)
    assert {found[name].type for name in ("m_size", "n_size", "A_stride_0")} == {"constexpr"}


def test_far_offsets_are_wide() -> None:
    assert arguments(PRODUCT, m=2**16, n=2**16, k=16)["offset"].value is DType.I64
    assert arguments(PRODUCT, m=2**15, n=2**15, k=16)["offset"].value is DType.I32


def test_partial_results() -> None:
    """A tensor between two kernels has as many parts as there are blocks, in the type of sums."""
    first, second = made(PARTS, DType.F16, x=7, k=1000)
    (parts,) = (one for one in first.kernel.tensors if one.is_written)
    (same,) = (one for one in second.kernel.tensors if one.name == parts.name)
    for subject, pointer in ((first, parts), (second, same)):
        assert subject.arguments[f"{pointer.variable}_ptr"].type == "*fp32"
        assert shape_of(subject.call, subject.kernel, pointer.name) == (7, 4)
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
