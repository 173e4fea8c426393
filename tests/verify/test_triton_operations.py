"""The table of Triton's operations agrees with the other tables, and each row is what is called."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from dtpoly.verify.semantics.table_operations import BY_NAME
from dtpoly.verify.triton.methods import METHODS
from dtpoly.verify.triton.signatures import Signature
from dtpoly.verify.triton.triton_operations import OPERATIONS
from dtpoly.verify.triton.unit.words import TL
from tests.verify.texts import changed, text_of, written

ROWS = written(
    "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.block(x:4, y:4);"
    "f.tensorize(x:0, y:0); f.compile();"
)


# Options that are read elsewhere: those of products and reductions, the direction of a scan, and
# what loads and stores of blocks check.
OTHERWISE = ("input_precision", "allow_tf32", "out_dtype", "dtype", "reverse", "keep_dims")
OF_BLOCKS = ("boundary_check", "padding_option")


@pytest.mark.parametrize("word", OPERATIONS)
def test_the_types_of_results_are_rows_of_the_table_of_semantics(word: str) -> None:
    assert set(OPERATIONS[word].types) <= set(BY_NAME)


def test_each_operation_may_stand_in_a_text() -> None:
    """Words that a text may not have at all would be rows that nothing reaches."""
    assert set(OPERATIONS) <= TL


def test_each_method_of_a_tensor_is_an_operation() -> None:
    assert METHODS - {"to"} <= set(OPERATIONS)


@pytest.mark.parametrize("word", OPERATIONS)
def test_what_may_be_given_by_name_has_a_place_or_words(word: str) -> None:
    signature = OPERATIONS[word].signature
    assert isinstance(signature, Signature)
    assert set(signature.options) <= {*signature.placed, *OTHERWISE, *OF_BLOCKS}
    assert set(signature.words).isdisjoint(signature.placed)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("tl.exp(A_tile, A_tile)", "a call of 'tl.exp'"),
        ("tl.exp(A_tile, fast=True)", "'tl.exp(A_tile, fast=True)'"),
        ("tl.maximum(A_tile, A_tile, 1, propagate_nan=1)", "is given twice"),
    ],
)
def test_a_call_that_no_row_allows_is_not_understood(call: str, why: str) -> None:
    text = text_of(ROWS)
    assert "tl.exp(A_tile)" in text
    report = verify(ROWS, changed(text, "tl.exp(A_tile)", call))
    assert report.verdict is LayerVerdict.UNKNOWN
    assert why in report.functions[0].layers[0].why
