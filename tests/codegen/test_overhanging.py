"""Loops that descriptors let run to the end of a size: which ones, and that they are right."""

import pytest
import torch

from dtpoly.ir.covered import covered_loops
from tests.codegen.running import imported
from tests.codegen.test_descriptors import IN_TURN, PRODUCT, generated


def needed(text: str) -> list[tuple[str, ...]]:
    """Return the descriptors that each such loop needs."""
    kernels = generated(text).stages.kernels
    return [one.covered for kernel in kernels for one in covered_loops(kernel.body)]


def test_a_product_of_what_is_described() -> None:
    assert needed(PRODUCT) == [("A_blocks", "B_blocks")]
    assert needed(IN_TURN) == [("A_blocks", "B_blocks")]
    assert (
        "flatten=even or A_blocks is not None and B_blocks is not None" in generated(IN_TURN).text
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PRODUCT.replace("descriptor(A, B)", "descriptor(A)"), id="one side alone"),
        pytest.param(PRODUCT.replace("A[m, k]", "exp(A[m, k])"), id="a side that is computed"),
        pytest.param(PRODUCT.replace("A[m, k]", "A[m, k + 1]"), id="more than is summed is there"),
        pytest.param(PRODUCT.replace(", k:16", ", k:0"), id="no loop"),
    ],
)
def test_what_has_a_rest_still(text: str) -> None:
    assert needed(text) == []


@pytest.mark.sampled
@pytest.mark.parametrize("k", [0, 1, 15, 16, 17, 40])
@pytest.mark.parametrize("text", [PRODUCT, IN_TURN])
def test_sizes_around_a_tile(text: str, k: int) -> None:
    """Rows of 64 bytes can be described; in the interpreter too."""
    A = torch.randn(35, 64)[:, :k]
    B = torch.randn(k, 64)[:, :36]
    f = imported(generated(text).text).f
    torch.testing.assert_close(f(A, B), A @ B)
    # What is behind a row is no part of the tensor, and no part of the sum.
    wide = torch.full((35, 64), float("nan"))
    wide[:, :k] = A
    torch.testing.assert_close(f(wide[:, :k], B), A @ B)


def test_what_cannot_be_described_has_masks() -> None:
    A, B = torch.randn(35, 41), torch.randn(41, 37)
    torch.testing.assert_close(imported(generated(PRODUCT).text).f(A, B), A @ B)
    torch.testing.assert_close(imported(generated(PRODUCT).text).f(A, B.t().clone().t()), A @ B)
