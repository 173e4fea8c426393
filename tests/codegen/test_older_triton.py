"""Tests that older versions of Triton, too, compute what the language says."""

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("u8", "tl.full((), 3, tl.uint8)"),
        ("i8", "tl.full((), 3, tl.int8)"),
        ("i16", "tl.full((), 3, tl.int16)"),
        ("i32", "3"),
        ("i64", "3"),
    ],
)
@pytest.mark.parametrize("operation", ["maximum", "minimum"])
def test_a_literal_does_not_widen_small_numbers(dtype: str, number: str, operation: str) -> None:
    source = f"Func f; In A: {dtype}; Var x; f[x] = {operation}(A[x], 3) * 100;"
    text = code_of(judge(load(Source("test.dt", source)), DIRECTIVES).scheduled).text
    # There the result would be an i32, and a product of two would not wrap.
    assert f"tl.{operation}(" in text
    assert f", {number}) * 100" in text
