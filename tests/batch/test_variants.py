"""What the proof of a row's bits says of variants of a kernel is what Triton does with them."""

import pytest

from dtpoly.verify.bits.bit_report import BitsVerdict
from tests.batch.test_row_bits import of_example
from tests.cli.process import told_by


@pytest.mark.long
def test_the_layout_of_a_tile_follows_from_addresses_and_strides() -> None:
    """A proof names both for this reason, and refuses a batch that changes the strides."""
    found = {
        (one["example"], one["batch"], one["variant"]): one["layouts"]
        for one in told_by("tests.batch.variant_layouts")
    }
    assert all(found.values())
    norm = found["layer_norm", 1024, "new tensors"]
    for batch in (1024, 1001, 1):
        assert found["layer_norm", batch, "new tensors"] == norm
        assert found["layer_norm", batch, "wide offsets"] == norm
        assert found["layer_norm", batch, "other addresses"] != norm
    columns = found["column_sum", 1024, "new tensors"]
    assert found["column_sum", 1000, "new tensors"] == columns
    assert found["column_sum", 1001, "new tensors"] != columns
    assert found["column_sum", 1024, "other strides"] != columns


@pytest.mark.parametrize(
    ("example", "label"),
    [
        ("column_sum", "y"),
        ("batch_norm", "c"),
        pytest.param("flash_decoding", "b", marks=pytest.mark.long),
    ],
)
def test_a_batch_that_is_a_stride_of_new_tensors_is_not_proved(example: str, label: str) -> None:
    found = of_example(example, label)
    assert found.verdict is BitsVerdict.UNKNOWN
    assert "other strides" in found.why
    assert found.line


def test_a_product_does_not_depend_on_the_layout_of_its_result() -> None:
    found = of_example("matmul", "n")
    assert (found.verdict, found.in_order) == (BitsVerdict.PROVED, ())
