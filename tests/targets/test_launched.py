"""Tests that a launch finds in Triton's cache what was compiled beforehand."""

import pytest

from tests.cli.process import told_by
from tests.codegen.listings import FILES

# One of each: masks, products, descriptors whose axes are turned, several kernels with rows of
# their own between them, one that is launched early, partial sums, lines that begin anywhere,
# scalars, some warps that load for others.
SOME = (
    *("softmax", "matmul", "conv2d", "tf32_matmul", "two_mm_inner", "big_sum", "wide_softmax"),
    *("listing_3_13_swish_fused", "halves_by_two_groups", "turned_by_two_groups"),
)


def differences(*words: str) -> list[str]:
    return told_by("tests.targets.launched", *words)


@pytest.mark.long
def test_some_listings() -> None:
    found = differences(*SOME)
    assert not found, found[0]


@pytest.mark.long
def test_all_listings() -> None:
    found = differences(*FILES)
    assert not found, found[0]
