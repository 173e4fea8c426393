"""The primitive `atomic`."""

import pytest

from dtpoly.diagnostics import apply_edits
from tests.schedule.told import SUM, TWO_PRODUCTS, only, told


def reduced(body: str) -> str:
    return f"""
        Func total; In A; Var x; RVar k;
        total[x] = {body};
        total.compile(); total.block(k:64); total.atomic(k);
    """


@pytest.mark.parametrize("operation", ["rsum", "rmax", "rmin"])
def test_the_last_operation(operation: str) -> None:
    assert told(reduced(f"{operation}(A[x, k], k)")) == []
    assert told(f"{TWO_PRODUCTS} _2mm.block(l:64); _2mm.atomic(l);") == []


def test_not_the_last_operation() -> None:
    found = only(reduced("exp(rsum(A[x, k], k))"))
    assert (found.code, found.hint) == ("DT194", "give the reduction a Func of its own")


def test_no_atomic_form() -> None:
    assert only(reduced("rprod(A[x, k], k)")).title == "'rprod' has no atomic form"


def test_not_blocked() -> None:
    assert only(f"{SUM} total.atomic(k);").title == "'k' is not blocked"
    assert told(f"{SUM} total.block(k:0); total.atomic(k);") == ["DT182 k:0"]


def test_not_reduced() -> None:
    found = only(f"{SUM} total.block(x:4); total.atomic(x);")
    assert (found.code, found.title) == ("DT194", "'total' does not reduce over 'x'")
    assert told(f"{SUM} total.atomic(z);") == ["DT185 z"]


def test_partial_results_have_no_name() -> None:
    text = f"{SUM} total.block(k:kb/64); total.atomic(k);"
    found = only(text)
    assert found.code == "DT194"
    assert told(apply_edits(text, found.edits)) == []
