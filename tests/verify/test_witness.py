"""Tests that a refutation is shown at the smallest sizes: program, iteration, lane, element."""

import pytest

from dtpoly.verdict_messages import show_witness
from dtpoly.verify.algebra.evaluate import differ
from dtpoly.verify.algebra.term_building import place, rounded
from dtpoly.verify.algebra.whole import name
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.test_mutants import MUTANTS
from tests.verify.texts import changed, program_of, text_of

SHOWN = {
    "a mask of a load is dropped": (
        "bounds",
        "at m = 1, k = 32, n = 1: program (0, 0, 0), k_start = 0, lane (0, 1) loads B[0, 1]",
    ),
    "the grid is too large": (
        "stores",
        "at x = 4, y = 512: stores out[4, 0]",
    ),
    "the grid is too small": ("stores", "at x = 1, y = 1: out[0, 0]"),
    "blocks are counted by another size": (
        "stores",
        "at m = 17, k = 0, l = 0, n = 64: program 0, n_start = 0, lane (8, 0) stores out[8, 0]; "
        "with program 1, n_start = 0, lane (0, 0)",
    ),
    "what masked lanes load is another number": (
        "lanes",
        "at x = 1, k = 1: x_start = 0 stores out[0]; with lane 1",
    ),
    "the last tile is left out": (
        "value",
        "at m = 1, k = 2, n = 1: program (0, 0, 0), lane (0, 0) stores out[0, 0]; with k = 0",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", SHOWN)
def test_a_witness_in_words(name: str) -> None:
    path, old, new, _ = MUTANTS[name]
    layer, words = SHOWN[name]
    program = program_of(path)
    report = verify(program, changed(text_of(program), old, new))
    (found,) = (one for one in report.layers if one.name == layer)
    assert found.verdict is LayerVerdict.REFUTED
    assert found.witness is not None
    assert show_witness(found.witness) == words


def test_one_comparison_is_about_three_layers() -> None:
    path, old, new, _ = MUTANTS["the last tile is left out"]
    program = program_of(path)
    report = verify(program, changed(text_of(program), old, new))
    whys = {one.name: one.why for one in report.layers if one.verdict is LayerVerdict.UNKNOWN}
    assert whys == dict.fromkeys(("loads", "lanes"), "not looked at: see 'value'")


def test_another_index_is_about_loads() -> None:
    path = MUTANTS["a full flag is always set"][0]
    program = program_of(path)
    text = changed(text_of(program), "+ x * A_stride_0", "+ (x_size - 1 - x) * A_stride_0")
    found = {one.name: one for one in verify(program, text).layers}
    assert found["loads"].verdict is LayerVerdict.REFUTED
    assert found["loads"].why == "another index"
    assert found["value"].verdict is LayerVerdict.UNKNOWN


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["tl.uint8", "tl.int8", "tl.float16"])
@pytest.mark.parametrize(("size", "is_other"), [(5, False), (2049, True)])
def test_rounding_shows_only_where_it_changes_a_number(
    kind: str, size: int, *, is_other: bool
) -> None:
    value = place(name("x_size"))
    rounded_value = rounded(kind, value)
    assert differ(rounded_value, value, {"x_size": size}, frozenset()) == is_other
