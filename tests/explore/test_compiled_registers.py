"""The estimate of registers, spills and shared memory beside what the compiler says of kernels."""

from collections.abc import Iterator

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.explore.devices.devices import find_device
from dtpoly.explore.needs.resources import WARP, Resources
from dtpoly.explore.prune.prune import CompiledCall, KeyedSchedule, Needs, pruned
from tests.explore.test_registers_of_products import needed, resources

pytestmark = pytest.mark.long

H200 = find_device("h200")
GATED = (
    "Func out, gate, up; In A, B, C; Var m, n; RVar k;"
    "gate[m, n] = rdot(A[m, k], B[n, k], k); up[m, n] = rdot(A[m, k], C[n, k], k);"
    "out[m, n] = maximum(gate[m, n], 0) * up[m, n];"
    "out.block(m:{}, n:{}); out.tensorize(m:0, n:0, k:{}); out.num_warps(4); out.num_stages(3);"
    "out.precision(tf32); gate.fuse_at(out, n); up.fuse_at(out, n); out.compile();"
)
EXACT = (
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot({}, {}, k);"
    "f.block(m:64, n:64); f.tensorize(m:0, n:0, k:16); f.num_warps(4); f.num_stages(3);"
    "f.compile();"
)
PRODUCT = (
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[n, k], k);"
    "f.block(m:{}, n:128); f.tensorize(m:0, n:0, k:32); f.precision(tf32); f.num_warps(4);"
    "f.num_stages(3); f.compile();"
)
EVEN = {"m": 1024, "n": 512, "k": 1024}
FOURS, ODD = {"m": 1024, "n": 344, "k": 952}, {"m": 1024, "n": 346, "k": 952}
SPILLS = 64  # bytes of a thread: fewer cost nothing


def compiled(text: str, dtype: str, sizes: dict[str, int]) -> Needs:
    """Compile the only kernel of a text for a GPU that need not be there."""
    call = CompiledCall(H200.target, sizes, DType(dtype), spilled=10**6)
    (made,) = pruned([KeyedSchedule("kernels", text)], call)
    (kernel,) = made.kernels
    return kernel


def both(text: str, dtype: str, sizes: dict[str, int]) -> tuple[Needs, Resources]:
    """Return what the compiler says, and the estimate."""
    return compiled(text, dtype, sizes), resources(text, dtype, sizes)


def cases() -> Iterator[tuple[str, str, dict[str, int]]]:
    """Two products in one kernel, by who multiplies, by rows, and exact ones."""
    yield GATED.format(64, 128, 64), "f32", ODD  # it spills 2256 bytes of a thread
    yield GATED.format(64, 128, 64), "bf16", FOURS
    yield GATED.format(32, 128, 128), "bf16", FOURS
    yield GATED.format(64, 64, 32), "f32", EVEN
    yield PRODUCT.format(16), "f32", ODD
    yield PRODUCT.format(128), "f32", ODD
    yield EXACT.format("A[m, k]", "B[k, n]"), "f32", EVEN
    yield EXACT.format("A[m, k]", "exp(B[k, n])"), "f32", EVEN
    yield EXACT.format("exp(A[m, k])", "B[k, n]"), "f32", EVEN


@pytest.mark.parametrize(("text", "dtype", "sizes"), [*cases()])
def test_the_estimate_is_near_what_the_compiler_needs(
    text: str, dtype: str, sizes: dict[str, int]
) -> None:
    kernel, found = both(text, dtype, sizes)
    actual = kernel.registers + kernel.spilled / 4
    assert 0.65 * actual <= needed(found) <= 1.4 * actual
    assert found.shared == pytest.approx(kernel.shared, rel=0.02)
    if kernel.spilled > 4 * SPILLS:
        assert found.spilled > 0
    if not kernel.spilled:
        assert found.spilled <= SPILLS * WARP * found.warps
